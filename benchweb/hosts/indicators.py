"""What the hours of an endpoint's probes add up to: response time, utilisation, bandwidth used and left."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from benchweb.hosts.models import ProbeHour


class Hour(NamedTuple):
    """The figures of a ProbeHour, in the order of its columns."""

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


@dataclass(frozen=True)
class Measured:
    """The mean of `n` probes and the extremes that are kept."""

    mean: float
    n: int
    most: float | None = None
    least: float | None = None


@dataclass(frozen=True)
class Indicators:
    """The figures of a time; None is what no probe told, and never zero."""

    probes: int
    response_seconds: Measured | None
    cpu_ratio: Measured | None
    received_bps: Measured | None
    sent_bps: Measured | None
    link_bps: float | None

    @property
    def left_to_receive_bps(self) -> Measured | None:
        """Give the link's speed less what was received."""
        return _left(self.link_bps, self.received_bps)

    @property
    def left_to_send_bps(self) -> Measured | None:
        """Give the link's speed less what was sent."""
        return _left(self.link_bps, self.sent_bps)


def probe_hours(
    *, endpoint_ids: Sequence[int], from_time: datetime, to_time: datetime | None = None
) -> dict[int, list[Hour]]:
    """Give each endpoint's hours that begin within a time, in order; one query."""
    rows = ProbeHour.objects.filter(endpoint__in=endpoint_ids, hour__gte=from_time)
    if to_time is not None:
        rows = rows.filter(hour__lt=to_time)
    hours: dict[int, list[Hour]] = {endpoint_id: [] for endpoint_id in endpoint_ids}
    for endpoint_id, *values in rows.order_by("hour").values_list("endpoint_id", *Hour._fields):
        hours[endpoint_id].append(Hour(*values))
    return hours


def indicators(hours: Iterable[Hour]) -> Indicators:
    """Add hours up, given in order; the link's speed is the latest."""
    rows = list(hours)
    return Indicators(
        probes=sum(row.probes for row in rows),
        response_seconds=_response(rows),
        cpu_ratio=_measured(rows, "utilised", "cpu_ratio_sum", "cpu_ratio_most"),
        received_bps=_measured(rows, "metered", "received_bps_sum", "received_bps_most"),
        sent_bps=_measured(rows, "metered", "sent_bps_sum", "sent_bps_most"),
        link_bps=next((row.link_bps for row in reversed(rows) if row.link_bps is not None), None),
    )


def _response(rows: Sequence[Hour]) -> Measured | None:
    answered = sum(row.answered for row in rows)
    if not answered:
        return None
    return Measured(
        mean=sum(row.round_trip_sum_seconds for row in rows) / answered,
        n=answered,
        most=_extreme(max, (row.round_trip_most_seconds for row in rows)),
        least=_extreme(min, (row.round_trip_least_seconds for row in rows)),
    )


def _measured(rows: Sequence[Hour], count: str, total: str, most: str) -> Measured | None:
    n = sum(getattr(row, count) for row in rows)
    if not n:
        return None
    return Measured(
        mean=sum(getattr(row, total) for row in rows) / n, n=n, most=_extreme(max, (getattr(row, most) for row in rows))
    )


def _left(link_bps: float | None, used: Measured | None) -> Measured | None:
    """Give what of a link is left; its least is where the most was used. Below zero is a speed that was told wrong."""
    if link_bps is None or used is None:
        return None
    least = link_bps - used.most if used.most is not None else None
    return Measured(mean=link_bps - used.mean, n=used.n, least=least)


def _extreme(choose: Callable[[Iterable[float]], float], values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return choose(known) if known else None
