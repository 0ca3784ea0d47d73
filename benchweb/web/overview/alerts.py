"""The alerts for the overview: those of the last day, and those before that go on; worst first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from benchweb.catalog import catalog
from benchweb.charts.sparkline import with_gaps
from benchweb.regressions.alert_texts import alert_title
from benchweb.regressions.models import Alert
from benchweb.regressions.overview import AlertMedians, AlertsNow, UnreachableTogether, alerts_now

_MOST_NEW = 3
_MOST_ONGOING = 3


@dataclass(frozen=True)
class OverviewAlert:
    """An alert; `values` are the recent medians of the series that it is named by, none without one."""

    alert: Alert
    title: str
    values: Sequence[float | None]
    unit: str
    before: float | None


@dataclass(frozen=True)
class LiveAlerts:
    """The worst new alerts and the worst ongoing ones, and how many others there are."""

    now: AlertsNow
    new: list[OverviewAlert]
    ongoing: list[OverviewAlert]

    @property
    def new_hidden(self) -> int:
        return _hidden(self.now.new_count, self.new, self.now.new_unreachable)

    @property
    def ongoing_hidden(self) -> int:
        return _hidden(self.now.ongoing_count, self.ongoing, self.now.ongoing_unreachable)


def live_alerts(since: datetime) -> LiveAlerts:
    """Return what the overview tells of alerts; those opened since then are new. Two queries."""
    now = alerts_now(since, most_new=_MOST_NEW, most_ongoing=_MOST_ONGOING)
    new, ongoing = ([_row(alert, now.lines.get(alert.pk)) for alert in each] for each in (now.new, now.ongoing))
    return LiveAlerts(now, new, ongoing)


def _hidden(count: int, listed: Sequence[OverviewAlert], together: UnreachableTogether | None) -> int:
    return max(0, count - len(listed) - (together.alerts if together else 0))


def _row(alert: Alert, line: AlertMedians | None) -> OverviewAlert:
    metric = catalog().metrics.get(line.metric) if line else None
    return OverviewAlert(
        alert=alert,
        title=alert_title(alert),
        values=with_gaps(line.ats, line.medians, timezone.now()) if line else (),
        unit=metric.unit if metric else "",
        before=line.before if line else None,
    )
