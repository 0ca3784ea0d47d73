"""The open alerts for the overview, the worst first, and the morning's summary."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from benchweb.catalog import catalog
from benchweb.charts.sparkline import with_gaps
from benchweb.regressions.models import Alert
from benchweb.regressions.overview import AlertLine, AlertsNow, alerts_now
from benchweb.regressions.words import alert_title, signed_percent

_MOST_SHOWN = 10


@dataclass(frozen=True)
class AlertRow:
    """An open alert; `values` are the recent medians of the series that it is named by, none without one."""

    alert: Alert
    title: str
    change: str
    values: Sequence[float | None]
    unit: str
    before: float | None


@dataclass(frozen=True)
class OpenAlerts:
    """The worst open alerts, how many others there are, and what the latest night gave."""

    now: AlertsNow
    rows: list[AlertRow]

    @property
    def hidden(self) -> int:
        return max(0, self.now.open - len(self.rows))


def open_alerts() -> OpenAlerts:
    """Return what the overview tells of alerts; two queries."""
    now = alerts_now(_MOST_SHOWN)
    return OpenAlerts(now, [_row(alert, now.lines.get(alert.pk)) for alert in now.worst])


def _row(alert: Alert, line: AlertLine | None) -> AlertRow:
    ratio = alert.params.get("ratio")
    metric = catalog().metrics.get(line.metric) if line else None
    return AlertRow(
        alert=alert,
        title=alert_title(alert),
        change="" if ratio is None else f"{'▼' if ratio < 0 else '▲'} {signed_percent(ratio)}",
        values=with_gaps(line.ats, line.medians, timezone.now()) if line else (),
        unit=metric.unit if metric else "",
        before=line.before if line else None,
    )
