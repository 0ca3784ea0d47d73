"""What a reader asks of the history, read from a query string; whatever can't be read is as if it wasn't there."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal, TypeVar, get_args

from django.utils.dateparse import parse_datetime

from benchweb.common.rows import row_id

View = Literal["time", "heat", "sizes"]
Split = Literal["", "pair", "host", "environment"]
Overlay = Literal["environment", "pair", "date", "run"]
_VIEWS, _SPLITS, _OVERLAYS = get_args(View), get_args(Split), get_args(Overlay)
FIRST_YEAR, LAST_YEAR = 1990, 2200
_PARAMETER = "p."
_LONGEST_TEXT = 200
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
Word = TypeVar("Word", bound=str)


@dataclass(frozen=True)
class Period:
    """A look back; None is all there is."""

    key: str
    length: timedelta | None


PERIODS = (
    Period("7d", timedelta(days=7)),
    Period("30d", timedelta(days=30)),
    Period("90d", timedelta(days=90)),
    Period("1y", timedelta(days=365)),
    Period("all", None),
)
DEFAULT_PERIOD = PERIODS[2]
# Nothing was measured before: "all" needs some beginning.
# Beside what was measured on an axis: a share of its time, and no less than this.
_ROOM = 0.02
_LEAST_ROOM = timedelta(minutes=5)
_THE_BEGINNING = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class HistoryQuery:
    """A look at the history: which series, over which time, in which arrangement."""

    view: View = "time"
    kind: str = ""
    metric: str = ""
    # Series by id, whose kind and metric go before those above; none for all that match the rest.
    series: tuple[int, ...] = ()
    host: int | None = None
    pair: int | None = None
    environment: int | None = None
    plan: int | None = None
    # Words that a series' hosts, endpoints, environment or parameters must have, each of them.
    text: str = ""
    # Identity parameters, as they are written in the address.
    parameters: Mapping[str, str] = field(default_factory=dict)
    split: Split = ""
    overlay: Overlay = "environment"
    # Runs to overlay; none for the latest.
    runs: tuple[int, ...] = ()
    period: Period = DEFAULT_PERIOD
    # Without a period in the address the axis begins where the points do.
    is_fitted: bool = True
    # The whole period, and the part of it that is looked at.
    whole: tuple[datetime, datetime] = (_THE_BEGINNING, _THE_BEGINNING)
    span: tuple[datetime, datetime] = (_THE_BEGINNING, _THE_BEGINNING)
    zone: tzinfo = UTC
    # Whether levels of segments and alerts are drawn.
    has_changes: bool = True

    @property
    def is_zoomed(self) -> bool:
        return self.span != self.whole

    def axis(self, first: datetime, last: datetime) -> tuple[datetime, datetime]:
        """Return the time on the axes of what was measured from `first` to `last`: as asked, else with some room."""
        if self.is_zoomed or not self.is_fitted:
            return self.span
        room = max(_LEAST_ROOM, (last - first) * _ROOM)
        return first - room, last + room


def history_query(values: Mapping[str, str], *, now: datetime, zone: tzinfo = UTC) -> HistoryQuery:
    """Read a query string's values."""
    named = next((each for each in PERIODS if each.key == values.get("over")), None)
    period = named or DEFAULT_PERIOD
    # Full minutes: a page loaded twice in a minute asks for the same.
    end = now.replace(second=0, microsecond=0) + timedelta(minutes=1)
    whole = (end - period.length if period.length else _THE_BEGINNING, end)
    return HistoryQuery(
        view=_one_of(values.get("view"), _VIEWS),
        kind=values.get("kind", ""),
        metric=values.get("metric", ""),
        series=_ids(values.get("series")),
        host=_id(values.get("host")),
        pair=_id(values.get("pair")),
        environment=_id(values.get("environment")),
        plan=_id(values.get("plan")),
        text=values.get("q", "").strip()[:_LONGEST_TEXT],
        parameters={
            name.removeprefix(_PARAMETER): value
            for name, value in values.items()
            if name.startswith(_PARAMETER) and value
        },
        split=_one_of(values.get("split"), _SPLITS),
        overlay=_one_of(values.get("overlay"), _OVERLAYS),
        runs=_ids(values.get("runs")),
        period=period,
        is_fitted=named is None or named.length is None,
        whole=whole,
        span=_span(values, whole, zone),
        zone=zone,
        has_changes=values.get("changes") != "hidden",
    )


def moment(text: str | None) -> datetime | None:
    """Read a time; without a zone it is UTC. None for anything else."""
    try:
        parsed = parse_datetime(text or "")
    except ValueError:
        return None
    # Times that no test was run in overflow when a zone is added to them.
    if parsed is None or not FIRST_YEAR <= parsed.year <= LAST_YEAR:
        return None
    # In UTC: PostgreSQL knows no offset of 16 hours or more.
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)


def _span(values: Mapping[str, str], whole: tuple[datetime, datetime], zone: tzinfo) -> tuple[datetime, datetime]:
    """Read from when to when: times, or whole days in the reader's zone, the last one included."""
    begin, end = _day(values.get("from"), zone), _day(values.get("to"), zone)
    first = begin or moment(values.get("from")) or whole[0]
    last = end + timedelta(days=1) if end else moment(values.get("to")) or whole[1]
    return (first, last) if first < last else whole


def _day(text: str | None, zone: tzinfo) -> datetime | None:
    """Read the begin of a day such as 2026-11-20 in a zone; None for anything else."""
    day = moment(text) if text and _DAY.fullmatch(text) else None
    return day and day.replace(tzinfo=zone).astimezone(UTC)


def _one_of(text: str | None, words: tuple[Word, ...]) -> Word:
    return next((word for word in words if word == text), words[0])


def _ids(text: str | None) -> tuple[int, ...]:
    return tuple(found for part in (text or "").split(",") if (found := _id(part.strip())))


def _id(text: str | None) -> int | None:
    return row_id(text or "")
