"""The latency histogram that travels with a result reads the same in Python as the engine wrote it."""

import json
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

EXAMPLES = Path(__file__).resolve().parents[2] / "engine" / "schema" / "examples"


@pytest.mark.parametrize(
    ("kind", "rate_key"),
    [
        ("tcp_rr", "transactions_per_second"),
        ("tcp_crr", "transactions_per_second"),
        ("udp_rr", "transactions_per_second"),
        ("http_load", "requests_per_second"),
    ],
)
def test_percentiles_of_the_decoded_histogram_are_the_metrics(kind: str, rate_key: str) -> None:
    document = json.loads((EXAMPLES / f"{kind}.json").read_text())
    histogram = HdrHistogram.decode(document["histogram"]["data"])
    elapsed = document["window"]["elapsed_seconds"]
    rate = document["metrics"][rate_key]
    assert histogram.get_total_count() == pytest.approx(rate * elapsed, abs=1)
    # The two libraries round a percentile's rank apart by up to one count, and a bucket's edge by one in a thousand.
    rank = 100 / histogram.get_total_count()
    for name, percentile in (("p50", 50), ("p90", 90), ("p99", 99), ("p999", 99.9)):
        low_seconds = histogram.get_value_at_percentile(percentile - rank) / 1e9
        high_seconds = histogram.get_value_at_percentile(percentile + rank) / 1e9
        assert low_seconds * 0.998 <= document["metrics"][f"latency_{name}_seconds"] <= high_seconds * 1.002
