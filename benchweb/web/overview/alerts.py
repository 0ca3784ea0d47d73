"""The alerts for the overview: those of the last day, and those before that go on; worst first, each with its chart."""

from dataclasses import dataclass
from datetime import date, datetime

from benchweb.catalog import catalog
from benchweb.charts.alerts.small import alert_picture
from benchweb.documents.charts import ChartSpec
from benchweb.regressions.alert_texts import alert_title, levels_text
from benchweb.regressions.models import Alert
from benchweb.regressions.overview import AlertFigures, AlertsNow, UnreachableTogether, alerts_now

_MOST_NEW = 3
_MOST_ONGOING = 3


@dataclass(frozen=True)
class OverviewAlert:
    """An alert; its chart and levels are of the series that it is named by, none without one."""

    alert: Alert
    title: str
    is_new: bool
    chart: ChartSpec | None
    # From which level to which, or the latest figure and the limit.
    levels: str


@dataclass(frozen=True)
class LiveAlerts:
    """The worst new alerts, then the worst ongoing ones, and how many others there are."""

    now: AlertsNow
    rows: list[OverviewAlert]
    # So many are drawn: beside many environments there is less room.
    most_charts: int = _MOST_NEW + _MOST_ONGOING

    @property
    def drawn(self) -> list[OverviewAlert]:
        """Return those that tell of a series."""
        return [row for row in self.rows if row.chart is not None][: self.most_charts]

    @property
    def others(self) -> list[OverviewAlert]:
        """Return those that tell of what is missing."""
        return [row for row in self.rows if row.chart is None]

    @property
    def together(self) -> list[UnreachableTogether]:
        """Return the hosts that are told as one line: those that fell silent lately, and those before."""
        return [each for each in (self.now.new_unreachable, self.now.ongoing_unreachable) if each is not None]

    @property
    def hidden(self) -> int:
        """Return how many are neither listed nor told together."""
        told = len(self.drawn) + len(self.others) + sum(each.alerts for each in self.together)
        return max(0, self.now.new_count + self.now.ongoing_count - told)

    @property
    def charts(self) -> list[ChartSpec]:
        return [row.chart for row in self.drawn if row.chart is not None]


def live_alerts(since: datetime, changes_since: date) -> LiveAlerts:
    """Return what the overview tells of alerts; those opened since then are new. Two queries."""
    now = alerts_now(since, most_new=_MOST_NEW, most_ongoing=_MOST_ONGOING, changes_since=changes_since)
    told = [*((alert, True) for alert in now.new), *((alert, False) for alert in now.ongoing)]
    return LiveAlerts(now, [_row(alert, now.figures.get(alert.pk), is_new=is_new) for alert, is_new in told])


def _row(alert: Alert, figures: AlertFigures | None, *, is_new: bool) -> OverviewAlert:
    title = alert_title(alert)
    chart = alert_picture(f"alert-{alert.pk}", title, figures) if figures else None
    return OverviewAlert(alert, title, is_new, chart, _levels(figures) if figures else "")


def _levels(figures: AlertFigures) -> str:
    metric = catalog().metrics.get(figures.metric)
    # The title says the limit, and the figure beyond it.
    return levels_text(figures.before, figures.after, metric.unit) if metric and not figures.is_limit else ""
