"""How available endpoints were: what the spans of their probes say of any time. The computing is pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from django.utils import timezone

from benchweb.hosts.models import AvailabilitySpan
from benchweb.hosts.probing.probes import PROBE_GAP

ANSWERED, ENGINE_DOWN, UNREACHABLE = (state.value for state in AvailabilitySpan.State)
# No probe tells: no worker or no beat ran, or the endpoint wasn't there yet.
UNKNOWN = "unknown"
# The better first: a host is as available as the best of its endpoints.
STATES = (ANSWERED, ENGINE_DOWN, UNREACHABLE, UNKNOWN)


@dataclass(frozen=True)
class Stretch:
    """A time in one state."""

    state: str
    since: datetime
    until: datetime
    reason: str = ""

    @property
    def seconds(self) -> float:
        return (self.until - self.since).total_seconds()


@dataclass(frozen=True)
class Availability:
    """A time, cut without a gap into stretches, in order."""

    stretches: list[Stretch]

    def seconds(self, state: str) -> float:
        """Return how long it was in a state."""
        return sum(stretch.seconds for stretch in self.stretches if stretch.state == state)

    @property
    def total_seconds(self) -> float:
        return sum(stretch.seconds for stretch in self.stretches)

    @property
    def known_seconds(self) -> float:
        return self.total_seconds - self.seconds(UNKNOWN)

    @property
    def ratio(self) -> float | None:
        """Return the part of the known time in which it answered; None when nothing is known."""
        known = self.known_seconds
        return self.seconds(ANSWERED) / known if known > 0 else None

    @property
    def known_ratio(self) -> float | None:
        """Return the part of the time of which something is known."""
        total = self.total_seconds
        return self.known_seconds / total if total > 0 else None

    def within(self, from_time: datetime, to_time: datetime) -> "Availability":
        """Cut out a part of the time."""
        return Availability(list(_cut(self.stretches, from_time, to_time)))

    def shares(self, starts: Sequence[datetime]) -> list[dict[str, float]]:
        """Return for each time between two starts how many seconds it was in which state."""
        steps: list[tuple[datetime, datetime, dict[str, float]]] = [(*step, {}) for step in pairwise(starts)]
        first = 0
        for state, since, until in [(stretch.state, stretch.since, stretch.until) for stretch in self.stretches]:
            while first < len(steps) and steps[first][1] <= since:
                first += 1
            for begin, end, share in steps[first:]:
                if begin >= until:
                    break
                inside = (end if end < until else until) - (begin if begin > since else since)
                share[state] = share.get(state, 0.0) + inside.total_seconds()
        return [share for _begin, _end, share in steps]


def endpoints_availability(
    *, endpoint_ids: Sequence[int], from_time: datetime, to_time: datetime
) -> dict[int, Availability]:
    """Return each endpoint's availability from one time to another, at most until now; one query."""
    now = timezone.now()
    spans = AvailabilitySpan.objects.filter(
        endpoint__in=endpoint_ids, until__gte=from_time - PROBE_GAP, since__lte=to_time + PROBE_GAP
    )
    by_endpoint: dict[int, list[AvailabilitySpan]] = {endpoint_id: [] for endpoint_id in endpoint_ids}
    for span in spans.order_by("since"):
        by_endpoint[span.endpoint_id].append(span)
    return {
        endpoint_id: availability_of(own, from_time=from_time, to_time=min(to_time, now), now=now)
        for endpoint_id, own in by_endpoint.items()
    }


def changes_count(*, endpoint_ids: Sequence[int], from_time: datetime, to_time: datetime, most: int) -> int:
    """Count the stretches that are known of endpoints in a time, up to one more than `most`; one query."""
    spans = AvailabilitySpan.objects.filter(endpoint__in=endpoint_ids, until__gte=from_time, since__lte=to_time)
    return spans.order_by()[: most + 1].count()


def availability_of(
    spans: Sequence[AvailabilitySpan], *, from_time: datetime, to_time: datetime, now: datetime
) -> Availability:
    """Return one endpoint's availability from its spans in order.

    What a probe found holds until the next probe, if that came within PROBE_GAP; between probes further apart
    nothing is known.
    """
    return Availability(list(_cut(_filled(_held(spans, now), from_time, to_time), from_time, to_time)))


def best_of(availabilities: Sequence[Availability]) -> Availability:
    """Return a host's availability from its endpoints' of the same time: at each moment the best state of any."""
    bounds = sorted(
        {
            edge
            for availability in availabilities
            for part in availability.stretches
            for edge in (part.since, part.until)
        }
    )
    positions = [0] * len(availabilities)
    best: list[Stretch] = []
    for since, until in pairwise(bounds):
        stretches = []
        for number, candidate in enumerate(availabilities):
            while (
                positions[number] < len(candidate.stretches) and candidate.stretches[positions[number]].until <= since
            ):
                positions[number] += 1
            stretches += candidate.stretches[positions[number] : positions[number] + 1]
        chosen = min(stretches, key=lambda stretch: STATES.index(stretch.state))
        goes_on = best and (best[-1].state, best[-1].reason) == (chosen.state, chosen.reason)
        begun = best.pop().since if goes_on else since
        best.append(Stretch(chosen.state, begun, until, chosen.reason))
    return Availability(best)


def _held(spans: Sequence[AvailabilitySpan], now: datetime) -> Iterator[Stretch]:
    ends = [*(span.since for span in spans[1:]), now]
    for span, following in zip(spans, ends, strict=False):
        until = following if following - span.until <= PROBE_GAP else span.until
        yield Stretch(span.state, span.since, until, span.why)


def _filled(stretches: Iterable[Stretch], from_time: datetime, to_time: datetime) -> Iterator[Stretch]:
    reached = from_time
    for stretch in stretches:
        if stretch.since > reached:
            yield Stretch(UNKNOWN, reached, stretch.since)
        yield stretch
        reached = max(reached, stretch.until)
    if reached < to_time:
        yield Stretch(UNKNOWN, reached, to_time)


def _cut(stretches: Iterable[Stretch], from_time: datetime, to_time: datetime) -> Iterator[Stretch]:
    for stretch in stretches:
        since, until = max(stretch.since, from_time), min(stretch.until, to_time)
        if since < until:
            yield Stretch(stretch.state, since, until, stretch.reason)
