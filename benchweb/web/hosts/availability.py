"""A host's availability and load, prepared for its page: indicators, strips, breaks, charts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from math import floor
from typing import NamedTuple

from django.utils import timezone
from django.utils.translation import get_language, gettext_noop, pgettext
from django.utils.translation import gettext as _

from benchweb.catalog.translation import reason_text
from benchweb.charts.host_charts import host_charts
from benchweb.charts.spec import ChartSpec
from benchweb.common.formatting import Quantity, duration, quantity
from benchweb.hosts.checks.availability import (
    ANSWERED,
    ENGINE_DOWN,
    STATES,
    UNKNOWN,
    UNREACHABLE,
    Availability,
    Stretch,
    best_of,
    endpoints_availability,
)
from benchweb.hosts.checks.indicators import Hour, Measured, indicators, probe_loads
from benchweb.hosts.checks.probes import PROBE_GAP
from benchweb.hosts.models import Endpoint

# Before an endpoint was added: no state of it, and no gap in what is known.
NOT_ADDED = "not_added"
WORDS = {
    ANSWERED: "answered",
    ENGINE_DOWN: gettext_noop("engine down"),
    UNREACHABLE: "unreachable",
    UNKNOWN: gettext_noop("not known"),
    NOT_ADDED: gettext_noop("not yet added"),
}
_UNKNOWN_REASON = gettext_noop("no probe was recorded: no worker or beat ran")
_SYNTHETIC_REASON = gettext_noop("no probe was recorded: a synthetic host is never probed")
_FIRST_PROBE = gettext_noop("not probed yet: the first probe comes within two minutes")
_BEFORE_FIRST = gettext_noop("before the first probe")
_BREAKS_DISPLAYED = 10
_HOUR = timedelta(hours=1)
_NINES_FROM_PERCENT = 99
_LITTLE_KNOWN = 0.5
_OLD_ENGINE = gettext_noop("not reported: the engine's version is too old to report its host's load")
_NO_LINK = gettext_noop("the kernel reports no link speed, or no interface has the address of the test traffic")


@dataclass(frozen=True)
class Period:
    """A look back; a cell of its strip and a point of its charts are `hours` long."""

    key: str
    english: str
    length: timedelta
    hours: int
    cells_per_step: int = 1

    @property
    def label(self) -> str:
        return _(self.english)


PERIODS = (
    Period("24h", gettext_noop("24 hours"), timedelta(hours=24), 1, cells_per_step=4),
    Period("7d", gettext_noop("7 days"), timedelta(days=7), 2),
    Period("30d", gettext_noop("30 days"), timedelta(days=30), 6),
)


@dataclass(frozen=True)
class Cell:
    """An indicator in one period: a figure, what it rests on, and why it is missing."""

    figure: Quantity | None
    basis: str = ""
    reason: str = ""
    # Of most of the period nothing is known.
    is_little_known: bool = False


class StripPart(NamedTuple):
    """A state's share of a strip's cell, 0 to 1."""

    state: str
    share: float


class StripCell(NamedTuple):
    """A step of a strip: its first minute in UTC, the states in words, and parts in the order of the states."""

    begin: str
    text: str
    parts: tuple[StripPart, ...]


@dataclass(frozen=True)
class Break:
    """A time in which it did not answer, or nothing is known; `lasts` while it has no end."""

    stretch: Stretch
    word: str
    reason: str
    lasts: bool


@dataclass(frozen=True)
class EndpointAvailability:
    """An endpoint as the section shows it."""

    name: str
    # Each cell with the words that head its column.
    rows: list[tuple[str, list[tuple[str, Cell]]]]
    cells: list[StripCell]
    sums: list[tuple[str, str, str]]
    in_words: str
    breaks: list[Break]
    breaks_hidden: int


@dataclass(frozen=True)
class Section:
    """The whole section of a host's page; `whole` is the host's availability where it has several endpoints."""

    period: Period
    periods: Sequence[Period]
    starts: list[datetime]
    until: datetime
    endpoints: list[EndpointAvailability]
    whole: list[tuple[Period, Cell]]
    charts: list[ChartSpec]


def period_of(over: str) -> Period:
    """Return the period that an address asks for; an unknown one is the first."""
    return next((period for period in PERIODS if period.key == over), PERIODS[0])


def availability_section(*, endpoints: Sequence[Endpoint], period: Period) -> Section:
    """Prepare the section for the endpoints of one host; two queries."""
    now = timezone.now()
    ids = [endpoint.pk for endpoint in endpoints]
    # Full hours, so that the availability and the hours' sums are of the same time.
    begins = {period.key: _begin(period, now) for period in PERIODS}
    availability = endpoints_availability(endpoint_ids=ids, from_time=min(begins.values()), to_time=now)
    loads = probe_loads(endpoint_ids=ids, hours_from=begins[period.key], sums_from=list(begins.values()))
    starts = _steps(begins[period.key], now, period.hours * _HOUR)
    added = {endpoint.pk: _added_at(endpoint, availability[endpoint.pk]) for endpoint in endpoints}
    charted = [
        _endpoint_availability(
            _Watched(endpoint, availability[endpoint.pk], added[endpoint.pk], now),
            loads[endpoint.pk].sums,
            begins=begins,
            period=period,
        )
        for endpoint in endpoints
    ]
    names = {endpoint.pk: endpoint.name or endpoint.network_mode for endpoint in endpoints}
    whole = _whole(list(availability.values()), min(added.values()), begins, now) if len(ids) > 1 else []
    return Section(
        period=period,
        periods=PERIODS,
        starts=starts,
        until=now,
        endpoints=charted,
        whole=whole,
        charts=host_charts(
            names=names,
            hours={pk: load.hours for pk, load in loads.items()},
            starts=starts,
            added=added,
            entered_bps={endpoint.pk: endpoint.link_bps for endpoint in endpoints},
        ),
    )


def availability_figure(ratio: float) -> Quantity:
    """Return a ratio in per cent, cut and not rounded: 100 % is said of no time with a break.

    Three significant digits, but from 99 % on three decimals: there the nines are what one reads.
    """
    # A sum of many spans lacks some of its last digits: that is no break.
    percent = round(ratio * 100, 7)
    decimals = 3 if percent >= _NINES_FROM_PERCENT or percent < 1 else 2 if percent < 10 else 1
    cut = floor(round(percent * 10**decimals, 4)) / 10**decimals
    return Quantity(f"{cut:.{decimals}f}".rstrip("0").rstrip("."), "%", f"{ratio:.9g}")


def _begin(period: Period, now: datetime) -> datetime:
    hour = now.replace(minute=0, second=0, microsecond=0)
    step = period.hours * _HOUR
    # Steps of several hours begin at midnight UTC, so that one keeps its place as time goes on.
    midnight = hour.replace(hour=0)
    return midnight + (hour - period.length - midnight) // step * step


def _steps(begin: datetime, now: datetime, step: timedelta) -> list[datetime]:
    count = -((begin - now) // step)
    return [begin + number * step for number in range(count + 1)]


def _added_at(endpoint: Endpoint, availability: Availability) -> datetime:
    """Return since when there is something to know: a synthetic history is older than its rows."""
    known = (stretch.since for stretch in availability.stretches if stretch.state != UNKNOWN)
    return min(endpoint.created_at, next(known, endpoint.created_at))


@dataclass(frozen=True)
class _Watched:
    """An endpoint with what its probes said of all periods; before it was added there was nothing to say."""

    endpoint: Endpoint
    availability: Availability
    added_at: datetime
    now: datetime

    def since(self, begin: datetime) -> Availability:
        """Cut out the time from `begin` on in which it was there."""
        return self.availability.within(max(begin, self.added_at), self.now)

    @property
    def is_new(self) -> bool:
        """Tell whether it waits for its first probe."""
        return self.now - self.added_at < PROBE_GAP and self.availability.known_seconds == 0

    def unknown_reason(self, stretch: Stretch | None = None) -> str:
        """Say why nothing is known of a stretch, or of all the time till now."""
        if self.endpoint.host.is_synthetic:
            return _SYNTHETIC_REASON
        if stretch and stretch.until < self.now:
            is_first = stretch.since <= self.added_at and stretch.until - stretch.since < PROBE_GAP
            return _BEFORE_FIRST if is_first else _UNKNOWN_REASON
        return _FIRST_PROBE if self.is_new else _UNKNOWN_REASON


def _endpoint_availability(
    watched: _Watched, added_up: Mapping[datetime, Hour], *, begins: dict[str, datetime], period: Period
) -> EndpointAvailability:
    texts, endpoint, now = _texts(get_language()), watched.endpoint, watched.now
    columns = [_column(watched, begins[period.key], added_up.get(begins[period.key]), texts) for period in PERIODS]
    current = watched.since(begins[period.key])
    # What waits for its first probe has given no wrong answer yet.
    stretches = [] if watched.is_new else current.stretches
    broken = [stretch for stretch in reversed(stretches) if stretch.state != ANSWERED]
    seconds = {state: current.seconds(state) for state in STATES}
    seconds[NOT_ADDED] = max(0.0, (watched.added_at - begins[period.key]).total_seconds())
    sums = [(state, WORDS[state], duration(seconds[state])) for state in WORDS if seconds[state]]
    return EndpointAvailability(
        name=endpoint.name or endpoint.network_mode,
        rows=[
            (label, [(head, column[index]) for head, column in zip(texts.heads, columns, strict=True)])
            for index, label in enumerate(_LABELS)
        ],
        cells=_cells(
            current, _steps(begins[period.key], now, period.hours * _HOUR / period.cells_per_step), texts.words
        ),
        sums=sums,
        in_words=", ".join([f"{texts.words[state]} {text}" for state, _word, text in sums]),
        breaks=[_break(stretch, watched) for stretch in broken[:_BREAKS_DISPLAYED]],
        breaks_hidden=max(0, len(broken) - _BREAKS_DISPLAYED),
    )


class _Texts(NamedTuple):
    """What the section says of each endpoint, in one language."""

    heads: list[str]
    # By their states.
    words: dict[str, str]
    invalid: str
    unanswered: str
    known: str
    known_since: str
    little_known: str
    mean: str
    least: str
    most: str
    as_entered: str


@cache
def _texts(_language: str | None) -> _Texts:
    """Keep the texts of a language: each endpoint's table would look up dozens."""
    return _Texts(
        heads=[_("Last %(period)s") % {"period": period.label} for period in PERIODS],
        words={state: _(word) for state, word in WORDS.items()},
        invalid=_("no probe got a valid answer"),
        unanswered=_("no probe was answered"),
        known=_("{count}known {figure}"),
        known_since=_("{count}known {figure} since it was added"),
        little_known=_("{count}only {figure} known"),
        mean=_("mean"),
        least=_("minimum"),
        most=_("maximum"),
        as_entered=_("by the link's speed as entered"),
    )


def _break(stretch: Stretch, watched: _Watched) -> Break:
    reason = watched.unknown_reason(stretch) if stretch.state == UNKNOWN else stretch.reason
    return Break(stretch, WORDS[stretch.state], reason, lasts=stretch.until >= watched.now)


_LABELS = (
    gettext_noop("Availability"),
    gettext_noop("Response time"),
    gettext_noop("CPU utilisation"),
    gettext_noop("Bandwidth used, received"),
    gettext_noop("Bandwidth used, sent"),
    gettext_noop("Bandwidth left to receive"),
    gettext_noop("Bandwidth left to send"),
)


def _column(watched: _Watched, begin: datetime, load: Hour | None, texts: _Texts) -> list[Cell]:
    figures = indicators([load] if load else [], watched.endpoint.link_bps)
    availability = watched.since(begin)
    of_entered = texts.as_entered if figures.is_link_entered else ""
    silent, last_word = ("", "") if figures.response_seconds else _silence(watched, availability, figures.probes, texts)
    # The engine says nothing of its host's load, its host has no interface with the address, the kernel no speed.
    no_load = silent or _OLD_ENGINE
    no_traffic = no_load if figures.cpu_ratio is None else _NO_INTERFACE
    no_link = no_load if figures.received_bps is None else _NO_LINK
    return [
        _availability_cell(availability, texts, probes=figures.probes, begin=begin, reason=watched.unknown_reason()),
        _measured(figures.response_seconds, "s", silent + last_word, texts),
        _measured(figures.cpu_ratio, "ratio", no_load, texts),
        _measured(figures.received_bps, "bit/s", no_traffic, texts),
        _measured(figures.sent_bps, "bit/s", no_traffic, texts),
        _noted(_measured(figures.left_to_receive_bps, "bit/s", no_link, texts), of_entered),
        _noted(_measured(figures.left_to_send_bps, "bit/s", no_link, texts), of_entered),
    ]


def _silence(watched: _Watched, availability: Availability, probes: int, texts: _Texts) -> tuple[str, str]:
    """Say why no probe of a time brought an engine's answer, and what the last of them met."""
    if not probes:
        return watched.unknown_reason(), ""
    last = next((stretch for stretch in reversed(availability.stretches) if stretch.state != UNKNOWN), None)
    sentence = texts.invalid if last and last.state == ENGINE_DOWN else texts.unanswered
    return sentence, pgettext("before a figure", ": ") + reason_text(last.reason) if last and last.reason else ""


_NO_INTERFACE = gettext_noop("no interface of the host has the address of the test traffic")


def _availability_cell(availability: Availability, texts: _Texts, *, probes: int, begin: datetime, reason: str) -> Cell:
    ratio, known = availability.ratio, availability.known_ratio
    if ratio is None or known is None:
        return Cell(None, reason=reason)
    count = f"n={probes:,} · " if probes else ""
    # A per cent of a month is seven hours: less is told as a time.
    is_little_known = known < _LITTLE_KNOWN
    figure = duration(availability.known_seconds) if is_little_known else availability_figure(known)
    is_whole = availability.stretches[0].since <= begin
    known_text = texts.known if is_whole else texts.known_since
    basis = (texts.little_known if is_little_known else known_text).format(count=count, figure=figure)
    return Cell(availability_figure(ratio), basis, is_little_known=is_little_known)


def _measured(measured: Measured | None, unit: str, reason: str, texts: _Texts) -> Cell:
    if measured is None:
        return Cell(None, reason=reason)
    extremes = [f"{texts.least} {quantity(measured.least, unit)}"] if measured.least is not None else []
    extremes += [f"{texts.most} {quantity(measured.most, unit)}"] if measured.most is not None else []
    return Cell(quantity(measured.mean, unit), " · ".join([texts.mean, *extremes, f"n={measured.n:,}"]))


def _noted(cell: Cell, note: str) -> Cell:
    """Say more of what a figure rests on, where there is one."""
    return replace(cell, basis=f"{cell.basis} · {note}") if note and cell.figure is not None else cell


def _whole(
    availabilities: list[Availability], added_at: datetime, begins: dict[str, datetime], now: datetime
) -> list[tuple[Period, Cell]]:
    best, texts = best_of(availabilities), _texts(get_language())
    cells = []
    for period in PERIODS:
        begin = begins[period.key]
        own = best.within(max(begin, added_at), now)
        cells.append((period, _availability_cell(own, texts, probes=0, begin=begin, reason=_UNKNOWN_REASON)))
    return cells


def _cells(availability: Availability, starts: list[datetime], words: dict[str, str]) -> list[StripCell]:
    # Most steps were spent in one state from end to end: what is said of one is said of all of them.
    texts: dict[tuple[tuple[str, float], ...], tuple[str, tuple[StripPart, ...]]] = {}
    cells = []
    for start, shares in zip(starts, availability.shares(starts), strict=False):
        key = tuple(shares.items())
        if key not in texts:
            texts[key] = _states_text(shares, words) or words[NOT_ADDED], _parts(shares)
        text, parts = texts[key]
        cells.append(StripCell(start.isoformat(" ", "minutes")[:16], text, parts))
    return cells


def _parts(shares: dict[str, float]) -> tuple[StripPart, ...]:
    whole = sum(shares.values())
    return tuple(StripPart(state, round(shares[state] / whole, 4)) for state in STATES if state in shares)


def _states_text(shares: dict[str, float], words: dict[str, str]) -> str:
    return ", ".join([f"{words[state]} {duration(shares[state])}" for state in STATES if state in shares])
