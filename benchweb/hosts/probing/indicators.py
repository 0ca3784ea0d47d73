"""What the hours of an endpoint's probes add up to: response time, utilisation, bandwidth used and left."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple, Self

from benchweb.common.rows import fetch
from benchweb.hosts.models import ProbeHour


class Hour(NamedTuple):
    """The figures of a ProbeHour."""

    hour: datetime
    probes: int
    answered: int
    round_trip_least_seconds: float | None
    round_trip_most_seconds: float | None
    round_trip_sum_seconds: float
    utilised: int
    cpu_ratio_sum: float
    cpu_ratio_most: float | None
    metered: int
    received_bps_sum: float
    received_bps_most: float | None
    sent_bps_sum: float
    sent_bps_most: float | None
    link_bps: float | None


# Frozen dataclasses would take three times as long to make, and a host's charts have hundreds.
class ProbedMean(NamedTuple):
    """The mean of `n` probes and the extremes that are kept."""

    mean: float
    n: int
    most: float | None = None
    least: float | None = None


class Indicators(NamedTuple):
    """The figures of a time; None is what no probe told, and never zero."""

    probes: int
    response_seconds: ProbedMean | None
    cpu_ratio: ProbedMean | None
    received_bps: ProbedMean | None
    sent_bps: ProbedMean | None
    link_bps: float | None
    # The kernel told no speed: it is the one that was entered with the endpoint.
    is_link_entered: bool = False

    @property
    def left_to_receive_bps(self) -> ProbedMean | None:
        """Return the link's speed less what was received."""
        return _left(self.link_bps, self.received_bps)

    @property
    def left_to_send_bps(self) -> ProbedMean | None:
        """Return the link's speed less what was sent."""
        return _left(self.link_bps, self.sent_bps)


def probe_hours(
    *, endpoint_ids: Sequence[int], from_time: datetime, to_time: datetime | None = None
) -> dict[int, list[Hour]]:
    """Return each endpoint's hours that begin within a time, in order; one query."""
    rows = ProbeHour.objects.filter(endpoint__in=endpoint_ids, hour__gte=from_time)
    if to_time is not None:
        rows = rows.filter(hour__lt=to_time)
    hours: dict[int, list[Hour]] = {endpoint_id: [] for endpoint_id in endpoint_ids}
    for columns in rows.order_by("hour").values("endpoint_id", *Hour._fields):
        hours[columns.pop("endpoint_id")].append(Hour(**columns))
    return hours


# A sum has the columns of an hour: of its first moment, and as wide as from there to now. Each is asked for on its own:
# joined at once, all hours would be kept and sorted together, once a sum.
_LOADS_SQL = """
SELECT false AS is_sum, endpoint_id, hour, probes, answered, round_trip_least_seconds, round_trip_most_seconds,
  round_trip_sum_seconds, utilised, cpu_ratio_sum, cpu_ratio_most, metered, received_bps_sum, received_bps_most,
  sent_bps_sum, sent_bps_most, link_bps
FROM hosts_probehour WHERE endpoint_id = ANY(%(endpoints)s) AND hour >= %(hours_from)s
UNION ALL
SELECT true, endpoint.id, begun, added_up.*
FROM unnest(%(endpoints)s::bigint[]) AS endpoint (id)
CROSS JOIN unnest(%(sums_from)s::timestamptz[]) AS begins (begun)
CROSS JOIN LATERAL (
  SELECT sum(probes), sum(answered), min(round_trip_least_seconds), max(round_trip_most_seconds),
    sum(round_trip_sum_seconds), sum(utilised), sum(cpu_ratio_sum), max(cpu_ratio_most), sum(metered),
    sum(received_bps_sum), max(received_bps_most), sum(sent_bps_sum), max(sent_bps_most),
    (array_agg(link_bps ORDER BY hour DESC) FILTER (WHERE link_bps IS NOT NULL))[1]
  FROM hosts_probehour WHERE endpoint_id = endpoint.id AND hour >= begun
  HAVING count(*) > 0
) AS added_up
ORDER BY is_sum, endpoint_id, hour
"""


class _LoadRow(NamedTuple):
    """An hour of an endpoint, or the sum of several."""

    is_sum: bool
    endpoint_id: int
    hour: Hour

    @classmethod
    def of_columns(cls, *, is_sum: bool, endpoint_id: int, **columns: Any) -> Self:
        return cls(is_sum, endpoint_id, Hour(**columns))


@dataclass(frozen=True)
class SummedHours:
    """An endpoint's hours, and those from several times on, each added up to one; a time without any is left out."""

    hours: list[Hour]
    sums: dict[datetime, Hour]


def probe_loads(
    *, endpoint_ids: Sequence[int], hours_from: datetime, sums_from: Sequence[datetime]
) -> dict[int, SummedHours]:
    """Return each endpoint's hours from a time on, and the sums from others; one query, for 30 days have 720 hours."""
    values = {"endpoints": list(endpoint_ids), "hours_from": hours_from, "sums_from": list(sums_from)}
    loads = {endpoint_id: SummedHours([], {}) for endpoint_id in endpoint_ids}
    for row in fetch(_LoadRow.of_columns, _LOADS_SQL, values):
        if row.is_sum:
            loads[row.endpoint_id].sums[row.hour.hour] = row.hour
        else:
            loads[row.endpoint_id].hours.append(row.hour)
    return loads


def indicators(hours: Iterable[Hour], entered_bps: float | None = None) -> Indicators:
    """Add hours up, given in order; the link's speed is the latest that the kernel told, else the one entered."""
    rows = list(hours)
    total = rows[0] if len(rows) == 1 else _added_up(rows)
    return Indicators(
        probes=total.probes,
        response_seconds=_measured(
            total.answered,
            total.round_trip_sum_seconds,
            total.round_trip_most_seconds,
            least=total.round_trip_least_seconds,
        ),
        cpu_ratio=_measured(total.utilised, total.cpu_ratio_sum, total.cpu_ratio_most),
        received_bps=_measured(total.metered, total.received_bps_sum, total.received_bps_most),
        sent_bps=_measured(total.metered, total.sent_bps_sum, total.sent_bps_most),
        link_bps=entered_bps if total.link_bps is None else total.link_bps,
        is_link_entered=total.link_bps is None and entered_bps is not None,
    )


_NOTHING = Hour(datetime.min, 0, 0, None, None, 0.0, 0, 0.0, None, 0, 0.0, None, 0.0, None, None)


def _added_up(rows: Sequence[Hour]) -> Hour:
    """Return the sums, extremes and latest link of hours as one, of the first one's time."""
    if not rows:
        return _NOTHING
    # Column by column: a report has thousands of hours.
    columns = zip(Hour._fields, zip(*rows, strict=True), strict=True)
    return Hour(**{name: _COMBINED.get(name, sum)(values) for name, values in columns})


def _first(values: Iterable[Any]) -> Any:
    """Return the first that is known, of what is given; None when none is."""
    return next((value for value in values if value is not None), None)


def _extreme(choose: Callable[[Iterable[float]], float], values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return choose(known) if known else None


# How a column is combined where it is no sum.
_COMBINED: dict[str, Callable[[Sequence[Any]], Any]] = {
    "hour": _first,
    "link_bps": lambda values: _first(reversed(values)),
    "round_trip_least_seconds": partial(_extreme, min),
    **{
        name: partial(_extreme, max)
        for name in ("round_trip_most_seconds", "cpu_ratio_most", "received_bps_most", "sent_bps_most")
    },
}


def _measured(n: int, total: float, most: float | None, *, least: float | None = None) -> ProbedMean | None:
    return ProbedMean(mean=total / n, n=n, most=most, least=least) if n else None


def _left(link_bps: float | None, used: ProbedMean | None) -> ProbedMean | None:
    """Return what of a link is left; its least is where the most was used. Below zero the speed is wrong."""
    if link_bps is None or used is None:
        return None
    least = link_bps - used.most if used.most is not None else None
    return ProbedMean(mean=link_bps - used.mean, n=used.n, least=least)
