"""The launch form: a plan, and the pairs to run it on."""

from dataclasses import dataclass

from django.http import QueryDict

from benchweb.web.row_ids import row_id


@dataclass(frozen=True)
class LaunchForm:
    """What was chosen: ids that may not exist, and the filter over the pairs."""

    plan_id: int | None
    pair_ids: list[int]
    text: str


def launch_form(data: QueryDict) -> LaunchForm:
    """Read what was chosen; what isn't an id is left out."""
    plan_ids = _ids([data.get("plan", "")])
    return LaunchForm(plan_ids[0] if plan_ids else None, _ids(data.getlist("pairs")), data.get("q", "").strip())


def _ids(texts: list[str]) -> list[int]:
    return [found for text in dict.fromkeys(texts) if (found := row_id(text)) is not None]
