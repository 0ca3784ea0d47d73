"""A host's availability and load, prepared for its page: indicators, strips, breaks, charts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.translation import get_language

from benchweb.charts.canary_charts import canary_charts
from benchweb.charts.host_charts import host_charts
from benchweb.common.formatting import duration
from benchweb.documents.charts import ChartSpec
from benchweb.hosts.models import Endpoint
from benchweb.hosts.probing.availability import (
    ANSWERED,
    STATES,
    UNKNOWN,
    Availability,
    Stretch,
    best_of,
    endpoints_availability,
)
from benchweb.hosts.probing.indicators import Hour, probe_loads
from benchweb.web.hosts.availability.cells import LABELS, IndicatorCell, availability_cell, column_of
from benchweb.web.hosts.availability.periods import PERIODS, LookBack
from benchweb.web.hosts.availability.strip import StripCell, strip_cells
from benchweb.web.hosts.availability.watched import UNKNOWN_REASON, Watched
from benchweb.web.hosts.availability.words import NOT_ADDED, WORDS, texts_in

_BREAKS_DISPLAYED = 10
# Whatever the period: a host is measured alone once a night.
_CANARY_NIGHTS = timedelta(days=90)


@dataclass(frozen=True)
class Interruption:
    """A time in which it did not answer, or nothing is known; `lasts` while it has no end."""

    stretch: Stretch
    word: str
    reason: str
    lasts: bool


@dataclass(frozen=True)
class EndpointPart:
    """An endpoint as the section shows it."""

    name: str
    # Each cell with the words that head its column.
    rows: list[tuple[str, list[tuple[str, IndicatorCell]]]]
    cells: list[StripCell]
    sums: list[tuple[str, str, str]]
    in_words: str
    breaks: list[Interruption]
    breaks_hidden: int


@dataclass(frozen=True)
class AvailabilitySection:
    """The whole section of a host's page; `whole` is the host's availability where it has several endpoints."""

    period: LookBack
    periods: Sequence[LookBack]
    starts: list[datetime]
    until: datetime
    endpoints: list[EndpointPart]
    whole: list[tuple[LookBack, IndicatorCell]]
    charts: list[ChartSpec]
    # What the host measured alone, once a night.
    canaries: list[ChartSpec]

    @property
    def all_charts(self) -> list[ChartSpec]:
        return [*self.charts, *self.canaries]


def availability_section(*, endpoints: Sequence[Endpoint], period: LookBack) -> AvailabilitySection:
    """Prepare the section for the endpoints of one host; three queries."""
    now = timezone.now()
    ids = [endpoint.pk for endpoint in endpoints]
    # Full hours, so that the availability and the hours' sums are of the same time.
    begins = {period.key: period.begin(now) for period in PERIODS}
    availability = endpoints_availability(endpoint_ids=ids, from_time=min(begins.values()), to_time=now)
    loads = probe_loads(endpoint_ids=ids, hours_from=begins[period.key], sums_from=list(begins.values()))
    starts = period.steps(now)
    added = {endpoint.pk: _added_at(endpoint, availability[endpoint.pk]) for endpoint in endpoints}
    charted = [
        _endpoint_availability(
            Watched(endpoint, availability[endpoint.pk], added[endpoint.pk], now),
            loads[endpoint.pk].sums,
            begins=begins,
            period=period,
        )
        for endpoint in endpoints
    ]
    names = {endpoint.pk: endpoint.name or endpoint.network_mode for endpoint in endpoints}
    whole = _host_cells(list(availability.values()), min(added.values()), begins, now) if len(ids) > 1 else []
    return AvailabilitySection(
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
        canaries=canary_charts(names=names, from_time=now - _CANARY_NIGHTS, to_time=now),
    )


def _added_at(endpoint: Endpoint, availability: Availability) -> datetime:
    """Return since when there is something to know: a synthetic history is older than its rows."""
    known = (stretch.since for stretch in availability.stretches if stretch.state != UNKNOWN)
    return min(endpoint.created_at, next(known, endpoint.created_at))


def _endpoint_availability(
    watched: Watched, added_up: Mapping[datetime, Hour], *, begins: dict[str, datetime], period: LookBack
) -> EndpointPart:
    texts, endpoint = texts_in(get_language()), watched.endpoint
    columns = [column_of(watched, begins[period.key], added_up.get(begins[period.key]), texts) for period in PERIODS]
    current = watched.since(begins[period.key])
    # What waits for its first probe has given no wrong answer yet.
    stretches = [] if watched.is_new else current.stretches
    broken = [stretch for stretch in reversed(stretches) if stretch.state != ANSWERED]
    seconds = {state: current.seconds(state) for state in STATES}
    seconds[NOT_ADDED] = max(0.0, (watched.added_at - begins[period.key]).total_seconds())
    sums = [(state, WORDS[state], duration(seconds[state])) for state in WORDS if seconds[state]]
    return EndpointPart(
        name=endpoint.name or endpoint.network_mode,
        rows=[
            (label, [(head, column[index]) for head, column in zip(texts.heads, columns, strict=True)])
            for index, label in enumerate(LABELS)
        ],
        cells=strip_cells(current, period.cells(watched.now), texts.words),
        sums=sums,
        in_words=", ".join([f"{texts.words[state]} {text}" for state, _word, text in sums]),
        breaks=[_break(stretch, watched) for stretch in broken[:_BREAKS_DISPLAYED]],
        breaks_hidden=max(0, len(broken) - _BREAKS_DISPLAYED),
    )


def _break(stretch: Stretch, watched: Watched) -> Interruption:
    reason = watched.unknown_reason(stretch) if stretch.state == UNKNOWN else stretch.reason
    return Interruption(stretch, WORDS[stretch.state], reason, lasts=stretch.until >= watched.now)


def _host_cells(
    availabilities: list[Availability], added_at: datetime, begins: dict[str, datetime], now: datetime
) -> list[tuple[LookBack, IndicatorCell]]:
    best, texts = best_of(availabilities), texts_in(get_language())
    cells = []
    for period in PERIODS:
        begin = begins[period.key]
        own = best.within(max(begin, added_at), now)
        cells.append((period, availability_cell(own, texts, probes=0, begin=begin, reason=UNKNOWN_REASON)))
    return cells
