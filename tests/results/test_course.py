"""Intervals that are joined where there are too many: totals, means and extremes stay."""

import math
import random
from typing import Any

import pytest

from benchweb.results.course import MOST_INTERVALS, thinned
from benchweb.results.ingest import parsed_result

DAY = 86_400


def interval(second: int, *, bps: float, replies: int = 0, latency: float | None = None, **more: Any) -> dict[str, Any]:
    """Return an interval of a second."""
    metrics = {"throughput_bps": bps, "lost_packets": float(second % 3)}
    if latency is not None:
        metrics["latency_mean_seconds"] = latency
    return {
        "start_seconds": float(second),
        "end_seconds": float(second + 1),
        "metrics": metrics,
        "counts": {"units": replies},
        "interfaces": {"sink": {"name": "eth0", "rx_bytes": second, "rx_packets": 1, "tx_bytes": 2, "tx_packets": 3}},
        **more,
    }


def day() -> list[dict[str, Any]]:
    chance = random.Random(7)
    return [
        interval(second, bps=chance.uniform(1e6, 1e9), replies=second % 5, latency=1e-3 if second % 5 else None)
        for second in range(DAY)
    ]


def over_time(intervals: list[dict[str, Any]], key: str) -> float:
    return math.fsum(each["metrics"][key] * (each["end_seconds"] - each["start_seconds"]) for each in intervals)


def test_a_day_of_seconds_keeps_its_totals_and_peaks() -> None:
    whole = day()
    kept = thinned(whole)
    assert len(kept) == DAY / 32 <= MOST_INTERVALS
    assert sum(each["parts"] for each in kept) == DAY
    assert over_time(kept, "throughput_bps") == pytest.approx(over_time(whole, "throughput_bps"), rel=1e-12)
    assert sum(each["metrics"]["lost_packets"] for each in kept) == sum(second % 3 for second in range(DAY))
    assert sum(each["interfaces"]["sink"]["rx_bytes"] for each in kept) == sum(range(DAY))
    peak = max(each["metrics"]["throughput_bps"] for each in whole)
    assert max(each["extremes"]["throughput_bps"][1] for each in kept) == peak
    assert all(each["metrics"]["latency_mean_seconds"] == pytest.approx(1e-3) for each in kept)


def test_what_was_joined_before_is_joined_as_if_all_were_there() -> None:
    whole = day()[:20_000]
    twice, once = thinned(thinned(whole), 400), thinned(whole, 400)
    assert [each["parts"] for each in twice] == [each["parts"] for each in once]
    for one, other in zip(twice, once, strict=True):
        assert one["metrics"] == pytest.approx(other["metrics"])
        assert one["extremes"] == other["extremes"]


def test_few_intervals_stay_as_they_are() -> None:
    whole = day()[:MOST_INTERVALS]
    assert thinned(whole) == whole


def test_no_interval_reaches_over_the_end_of_the_warmup_or_the_begin_of_the_drain() -> None:
    sides = [{"warmup": True}] * 7 + [{}] * 90 + [{"drain": True}] * 5
    kept = thinned([interval(second, bps=1.0, **side) for second, side in enumerate(sides)], 20)
    assert len(kept) <= 20
    assert sum(each.get("parts", 1) for each in kept if each.get("warmup")) == 7
    assert next(each for each in kept if each.get("drain"))["start_seconds"] == 97.0


def test_a_latency_is_the_mean_of_all_replies_and_not_of_the_intervals() -> None:
    parts = [interval(0, bps=1, replies=1, latency=4.0), interval(1, bps=1, replies=3, latency=2.0)]
    kept = thinned([*parts, *[interval(second, bps=1) for second in (2, 3, 4, 5)]], 3)
    assert kept[0]["metrics"]["latency_mean_seconds"] == 2.5
    assert kept[0]["extremes"]["latency_mean_seconds"] == [2.0, 4.0]
    assert "latency_mean_seconds" not in kept[1]["metrics"]


def test_sides_that_alternate_are_bounded_too() -> None:
    odd = [interval(second, bps=1.0, warmup=second % 2 == 0) for second in range(500)]
    assert len(thinned(odd, 10)) <= 10


def test_an_older_engines_result_of_a_day_is_taken_in_with_its_intervals_joined() -> None:
    old = [
        {"start_seconds": second, "end_seconds": second + 1, "metrics": {"throughput_bps": 1e9}, "warmup": False}
        for second in range(DAY)
    ]
    result = parsed_result("tcp_stream", {"kind": "tcp_stream", "metrics": {"throughput_bps": 1e9}, "intervals": old})
    kept = result.intervals
    assert len(kept) == 2_700
    assert len(result.document["intervals"]) == 675
    assert kept[0] == {
        "start_seconds": 0, "end_seconds": 32, "metrics": {"throughput_bps": 1e9}, "warmup": False, "parts": 32,
        "extremes": {"throughput_bps": [1e9, 1e9]},
    }  # fmt: skip
