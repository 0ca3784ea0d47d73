"""What alerts tell of series, for charts over time: the levels on both sides of each change, and flags."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from benchweb.common.addresses import site_path
from benchweb.documents.charts import ChartLevel, ChartMark, Measured
from benchweb.documents.moments import rfc3339
from benchweb.documents.references import joined_label
from benchweb.regressions.alert_texts import alert_title
from benchweb.regressions.models import LIVE_STATES, Alert, AlertSeries

# The level before a change is that of at most so many runs, as it was judged.
_RUNS_BEFORE = 30
# More flags than this are no flags.
_MOST_PARTS = 300

# What a line's levels need of a part, its runs and its alert.
_PART_FIELDS = (
    "series_id",
    "before",
    "after",
    "interval_low_ratio",
    "interval_high_ratio",
    "first_bad_run__started_at",
    "first_bad_run__created_at",
    "recovered_run__started_at",
    "alert__state",
    "alert__begun_at",
)


@dataclass(frozen=True)
class NamedAlert:
    """An alert with its title."""

    alert: Alert
    title: str


@dataclass(frozen=True)
class Changes:
    """The parts of series in alerts, by series, in order of time."""

    parts: dict[int, list[AlertSeries]]
    # Of a change that nobody was told of.
    alerts: list[NamedAlert]

    def levels(self, series_id: int, rows: Sequence[Measured]) -> list[ChartLevel]:
        """Return the levels of a line with these points."""
        parts = [part for part in self.parts.get(series_id, ()) if part.alert.state != Alert.State.INVALID]
        return levels_of(parts, rows) if parts else []

    def marks(self, series_ids: Collection[int]) -> list[ChartMark]:
        """Return the flags of the alerts of these series."""
        wanted = {part.alert_id for pk in series_ids for part in self.parts.get(pk, ())}
        return [_mark(named) for named in self.alerts if named.alert.pk in wanted]


def changes_of_series(series_ids: Collection[int], period: tuple[datetime, datetime]) -> Changes:
    """Return what alerts tell of series in a time; one query, and one for titles where there are any.

    What was gone when measured again is no change.
    """
    if not series_ids:
        return Changes({}, [])
    announced = Q(alert__opened_at__isnull=False) | Q(alert__state__in=LIVE_STATES)
    lasting = Q(recovered_run=None) | Q(recovered_run__started_at__gte=period[0])
    rows = (
        # Whatever keeps or breaks a limit is at its usual level.
        AlertSeries.objects.filter(
            announced, lasting, threshold=None, series__in=series_ids, first_bad_run__started_at__lte=period[1]
        )
        .select_related("first_bad_run", "recovered_run", "alert")
        .only(*_PART_FIELDS)
        .order_by("-first_bad_run__started_at", "-pk")[:_MOST_PARTS]
    )
    parts: dict[int, list[AlertSeries]] = defaultdict(list)
    marked: list[int] = []
    for part in reversed(rows):
        parts[part.series_id].append(part)
        if part.alert_id not in marked and period[0] <= part.alert.begun_at <= period[1]:
            marked.append(part.alert_id)
    return Changes(dict(parts), _named(marked))


def _named(ids: Sequence[int]) -> list[NamedAlert]:
    """Return alerts with their titles, in the order of `ids`."""
    if not ids:
        return []
    names = ("pair__source__host", "pair__sink__host", "host", "environment", "endpoint__host", "schedule")
    alerts = Alert.objects.select_related(*names).in_bulk(ids)
    return [NamedAlert(alerts[pk], alert_title(alerts[pk])) for pk in ids if pk in alerts]


def levels_of(parts: Sequence[AlertSeries], rows: Sequence[Measured]) -> list[ChartLevel]:
    """Return the levels of a line before and after each of its changes; `parts` and `rows` are in order of time.

    Where a line was already at the level that a change began at, that is drawn once.
    """
    levels: list[ChartLevel] = []
    times = {row.run: row.at for row in rows}
    begins = [times.get(part.first_bad_run_id) or _began(part) for part in parts]
    for index, part in enumerate(parts):
        since, next_since = begins[index], begins[index + 1] if index + 1 < len(parts) else None
        recovered = times.get(part.recovered_run_id) or (part.recovered_run and part.recovered_run.started_at)
        ends = min((at for at in (recovered, next_since) if at), default=None)
        before_since = _previous_end(parts, begins, index, times)
        line = f"series-{part.series_id}"
        before = [row.at for row in rows if row.at < since and (before_since is None or row.at >= before_since)]
        after = [row.at for row in rows if row.at >= since and (ends is None or row.at < ends)]
        if before:
            first = before[-_RUNS_BEFORE:][0]
            levels.append(ChartLevel(line, rfc3339(first), rfc3339(before[-1]), part.before))
        if after:
            low, high = interval_of(part)
            levels.append(ChartLevel(line, rfc3339(after[0]), rfc3339(after[-1]), part.after, low, high))
    return levels


def interval_of(part: AlertSeries) -> tuple[float | None, float | None]:
    """Return where the level after the change lies, in the metric's unit; nothing where no test could tell."""
    if part.interval_low_ratio is None or part.interval_high_ratio is None:
        return None, None
    ends = [part.before + abs(part.before) * ratio for ratio in (part.interval_low_ratio, part.interval_high_ratio)]
    return min(ends), max(ends)


def _previous_end(
    parts: Sequence[AlertSeries], begins: Sequence[datetime], index: int, times: dict[int | None, datetime]
) -> datetime | None:
    """Return from when on the level before a change holds: since the line came back, never where it did not."""
    if not index:
        return None
    previous = parts[index - 1]
    recovered = times.get(previous.recovered_run_id) or (previous.recovered_run and previous.recovered_run.started_at)
    return recovered or begins[index]


def _began(part: AlertSeries) -> datetime:
    return part.first_bad_run.started_at or part.first_bad_run.created_at


def _mark(named: NamedAlert) -> ChartMark:
    alert = named.alert
    return ChartMark(
        at=rfc3339(alert.begun_at),
        label=joined_label([named.title, alert.get_state_display()]),
        kind="alert",
        href=site_path(f"/alerts/{alert.pk}"),
    )
