"""What probes of synthetic endpoints would have found: spans of availability, and hours of the last month."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random

from benchweb.hosts.models import AvailabilitySpan, ProbeHour
from benchweb.ops.synthetic.shapes import LINK_BPS
from benchweb.ops.synthetic.stories import HostStory

_DAYS_WITH_HOURS = 30
_PROBES_AN_HOUR = 60
_ROWS_AT_ONCE = 5_000


def write_probes(stories: Mapping[int, HostStory], nights: Sequence[datetime], until: datetime) -> None:
    """Write each endpoint's spans and hours; `stories` are those of the endpoints' hosts, by endpoint id."""
    spans = (span for endpoint, story in stories.items() for span in _spans(endpoint, story, nights, until))
    AvailabilitySpan.objects.bulk_create(spans, batch_size=_ROWS_AT_ONCE)
    hours = (hour for endpoint, story in stories.items() for hour in _hours(endpoint, story, nights, until))
    ProbeHour.objects.bulk_create(hours, batch_size=_ROWS_AT_ONCE)


def _spans(endpoint: int, story: HostStory, nights: Sequence[datetime], until: datetime) -> Iterator[AvailabilitySpan]:
    """Return a span per change; a host that is away in a night is away until the next one."""
    since, away = nights[0], story.is_away(0)
    for night, at in enumerate([*nights[1:], until], start=1):
        if night < len(nights) and story.is_away(night) == away:
            continue
        state = AvailabilitySpan.State.ENGINE_DOWN if away else AvailabilitySpan.State.ANSWERED
        reason = "Nothing listens at the engine's port." if away else ""
        yield AvailabilitySpan(endpoint_id=endpoint, state=state, reason=reason, since=since, until=at)
        since, away = at, not away


def _hours(endpoint: int, story: HostStory, nights: Sequence[datetime], until: datetime) -> Iterator[ProbeHour]:
    source = Random(endpoint)  # noqa: S311  (not a secret)
    first = max(0, len(nights) - _DAYS_WITH_HOURS)
    for night, begin in enumerate(nights[first:], start=first):
        for number in range(24):
            hour = begin.replace(minute=0) + timedelta(hours=number)
            if hour + timedelta(hours=1) <= until:
                yield _hour(endpoint, hour, story.is_away(night), source)


def _hour(endpoint: int, hour: datetime, is_away: bool, source: Random) -> ProbeHour:
    """Return an hour of sixty probes: of an engine that is down they tell nothing but that."""
    if is_away:
        return ProbeHour(endpoint_id=endpoint, hour=hour, probes=_PROBES_AN_HOUR)
    # Tests run from two to six; by day something else does.
    busy = 0.45 if 2 <= hour.hour < 6 else 0.12 if 8 <= hour.hour < 19 else 0.03
    cpu, used_bps = busy * source.uniform(0.7, 1.2), busy * LINK_BPS * source.uniform(0.5, 1.1)
    round_trip = source.uniform(0.0007, 0.0011)
    return ProbeHour(
        endpoint_id=endpoint,
        hour=hour,
        probes=_PROBES_AN_HOUR,
        answered=_PROBES_AN_HOUR,
        round_trip_least_seconds=round_trip * 0.8,
        round_trip_most_seconds=round_trip * source.uniform(1.5, 6),
        round_trip_sum_seconds=round_trip * _PROBES_AN_HOUR,
        utilised=_PROBES_AN_HOUR,
        cpu_ratio_sum=cpu * _PROBES_AN_HOUR,
        cpu_ratio_most=min(1.0, cpu * 1.8),
        metered=_PROBES_AN_HOUR,
        received_bps_sum=used_bps * _PROBES_AN_HOUR,
        received_bps_most=min(LINK_BPS, used_bps * 1.7),
        sent_bps_sum=used_bps * 0.9 * _PROBES_AN_HOUR,
        sent_bps_most=min(LINK_BPS, used_bps * 1.6),
        link_bps=LINK_BPS,
    )
