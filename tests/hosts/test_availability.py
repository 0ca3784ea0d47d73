"""Availability from spans: what is known, what isn't, and the best of several endpoints."""

from datetime import UTC, datetime, timedelta

import pytest

from benchweb.hosts.models import AvailabilitySpan
from benchweb.hosts.probing.availability import Availability, Stretch, availability_of, best_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def span(state: str, since: float, until: float, reason: str = "") -> AvailabilitySpan:
    return AvailabilitySpan(state=state, since=NOON + since * MINUTE, until=NOON + until * MINUTE, reason=reason)


def of(*spans: AvailabilitySpan, minutes: float = 60, now: float = 60) -> Availability:
    times = {"from_time": NOON, "to_time": NOON + minutes * MINUTE, "now": NOON + now * MINUTE}
    return availability_of(spans, **times)


def told(availability: Availability) -> list[tuple[str, float, float]]:
    return [(part.state, (part.since - NOON) / MINUTE, (part.until - NOON) / MINUTE) for part in availability.stretches]


def test_without_a_probe_nothing_is_known_and_no_ratio_is_made_up() -> None:
    assert told(of()) == [("unknown", 0, 60)]
    assert (of().ratio, of().known_ratio) == (None, 0)


def test_what_a_probe_found_holds_until_the_next_one() -> None:
    found = of(span("answered", 0, 29.5), span("engine_down", 30, 35, "refused"), span("answered", 36, 60))
    assert told(found) == [("answered", 0, 30), ("engine_down", 30, 36), ("answered", 36, 60)]
    assert found.ratio == pytest.approx(54 / 60)
    assert found.known_ratio == 1
    assert found.stretches[1].reason == "refused"


def test_a_gap_of_over_three_minutes_is_not_known_and_counts_for_no_side() -> None:
    found = of(span("answered", 0, 20), span("answered", 40, 60))
    assert told(found) == [("answered", 0, 20), ("unknown", 20, 40), ("answered", 40, 60)]
    assert found.ratio == 1
    assert found.known_ratio == pytest.approx(40 / 60)


def test_the_last_finding_holds_until_now_while_it_is_fresh() -> None:
    assert told(of(span("answered", 0, 58))) == [("answered", 0, 60)]
    assert told(of(span("answered", 0, 56.9))) == [("answered", 0, 56.9), ("unknown", 56.9, 60)]


def test_a_time_in_the_past_is_cut_out_with_what_reaches_into_it() -> None:
    found = of(span("answered", -600, 10), span("unreachable", 11, 400), minutes=20, now=500)
    assert told(found) == [("answered", 0, 11), ("unreachable", 11, 20)]
    assert (found.seconds("answered"), found.seconds("unreachable"), found.seconds("unknown")) == (660, 540, 0)


def test_shares_of_steps_add_up_to_the_steps() -> None:
    found = of(span("answered", 0, 25), span("unreachable", 25, 60))
    shares = found.shares([NOON + step * MINUTE for step in (0, 20, 40, 60)])
    assert shares == [{"answered": 1200}, {"answered": 300, "unreachable": 900}, {"unreachable": 1200}]


def test_a_host_is_as_available_as_the_best_of_its_endpoints() -> None:
    first = of(span("answered", 0, 20), span("unreachable", 20, 60))
    second = of(span("engine_down", 0, 30), span("answered", 30, 40), span("engine_down", 40, 60))
    best = best_of([first, second])
    assert told(best) == [("answered", 0, 20), ("engine_down", 20, 30), ("answered", 30, 40), ("engine_down", 40, 60)]
    assert best.ratio == pytest.approx(0.5)
    assert told(best_of([first])) == told(first)
    assert best_of([]) == Availability([])
    assert best_of([]).ratio is None


def test_a_part_of_a_time_is_cut_out_of_it() -> None:
    whole = of(span("answered", 0, 20), span("unreachable", 20, 60))
    assert whole.within(NOON + 10 * MINUTE, NOON + 30 * MINUTE).stretches == [
        Stretch("answered", NOON + 10 * MINUTE, NOON + 20 * MINUTE),
        Stretch("unreachable", NOON + 20 * MINUTE, NOON + 30 * MINUTE),
    ]
