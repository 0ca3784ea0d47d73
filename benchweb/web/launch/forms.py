"""The launch form: a plan, and the pairs to run it on."""

from dataclasses import dataclass

from django.http import QueryDict

from benchweb.common.rows import row_id, row_ids
from benchweb.runs.models import Campaign
from benchweb.web.shared.words import arrangement_choices


@dataclass(frozen=True)
class LaunchForm:
    """The choice as sent: ids that may not exist, and the filter over the pairs."""

    plan_id: int | None
    pair_ids: list[int]
    text: str
    environment_id: int | None = None
    # The environment that the pairs were chosen in: another one brings its own.
    chosen_in_id: int | None = None
    # The number of runs that was agreed to.
    confirm_runs: int | None = None
    arrangement: str = Campaign.Arrangement.RUNS

    @property
    def arrangements(self) -> list[tuple[str, str]]:
        return arrangement_choices()


def launch_form(data: QueryDict) -> LaunchForm:
    """Read what was chosen; what isn't an id is left out."""
    plan_ids = _ids([data.get("plan", "")])
    return LaunchForm(
        plan_id=plan_ids[0] if plan_ids else None,
        pair_ids=_ids(data.getlist("pairs")),
        text=data.get("q", "").strip(),
        environment_id=row_id(data.get("environment", "")),
        chosen_in_id=row_id(data.get("chosen_in", "")),
        confirm_runs=row_id(data.get("confirm_runs", "")),
        arrangement=data.get("arrangement") or Campaign.Arrangement.RUNS,
    )


def _ids(texts: list[str]) -> list[int]:
    return row_ids(dict.fromkeys(texts))
