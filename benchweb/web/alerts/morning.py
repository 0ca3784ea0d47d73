"""What the page of a night shows: what changed, what is missing, what recovered, and what that rests on."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.utils.translation import gettext as _

from benchweb.regressions.models import Alert
from benchweb.regressions.overview import DONE_STATES
from benchweb.regressions.selectors import FIRST_NIGHT, Night, night_of_date
from benchweb.regressions.words import alert_title, unconfirmed_reason

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class AlertLine:
    """An alert with its title."""

    alert: Alert
    title: str
    unconfirmed: str


@dataclass(frozen=True)
class MorningPage:
    """A night; `sections` are title, what is said where there is nothing, and the alerts."""

    night: date
    summary: Night
    sections: list[tuple[str, str, list[AlertLine]]]
    before: date
    after: date | None

    @property
    def has_nothing(self) -> bool:
        return not self.summary.runs and not self.summary.slots

    @property
    def is_quiet(self) -> bool:
        """Tell whether all that ran is complete and nothing is left to look at."""
        is_complete = (
            self.summary.complete_slots == self.summary.slots and self.summary.finished_runs == self.summary.runs
        )
        return is_complete and not self.has_nothing and not any(rows for _title, _empty, rows in self.sections[:2])

    @property
    def detectable(self) -> str:
        """Say the smallest detectable change, the median over the series; nothing where it isn't known."""
        ratio = self.summary.smallest_detectable_change_ratio
        return "" if ratio is None else f"{ratio * 100:.1f} %"


def morning_page(night: date | None) -> MorningPage:
    """Return what a night's page shows, by default the latest: nights go from noon to noon, UTC, named by their end."""
    today = datetime.now(UTC).date()
    night = max(FIRST_NIGHT, min(night or today, today + _DAY))
    summary = night_of_date(night)
    done = (*DONE_STATES, Alert.State.RECOVERED)
    left = [alert for alert in summary.begun if alert.state not in done and not alert.is_snoozed]
    changed = [alert for alert in left if alert.kind != Alert.Kind.ABSENCE]
    missing = [alert for alert in left if alert.kind == Alert.Kind.ABSENCE]
    sections = [
        (_("What changed"), _("Nothing changed."), changed),
        (_("What is missing"), _("Nothing is missing."), missing),
        (_("What recovered"), _("Nothing recovered."), summary.recovered),
    ]
    if summary.unconfirmed:
        sections.append((_("What was not measured again"), "", summary.unconfirmed))
    return MorningPage(
        night=night,
        summary=summary,
        sections=[(title, empty, _lines(rows)) for title, empty, rows in sections],
        before=night - _DAY,
        after=night + _DAY if night < today else None,
    )


def _lines(alerts: list[Alert]) -> list[AlertLine]:
    return [AlertLine(alert, alert_title(alert), unconfirmed_reason(alert)) for alert in alerts]
