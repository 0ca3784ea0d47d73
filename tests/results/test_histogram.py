"""The latency histogram that travels with a result reads the same in Python as the engine wrote it."""

import json
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

EXAMPLES = Path(__file__).resolve().parents[2] / "engine" / "schema" / "examples"


@pytest.mark.parametrize("kind", ["tcp_rr", "tcp_crr", "udp_rr"])
def test_percentiles_of_the_decoded_histogram_are_the_metrics(kind):
    document = json.loads((EXAMPLES / f"{kind}.json").read_text())
    histogram = HdrHistogram.decode(document["histogram"]["data"])
    elapsed = document["window"]["elapsed_seconds"]
    rate = document["metrics"]["transactions_per_second"]
    assert histogram.get_total_count() == pytest.approx(rate * elapsed, abs=1)
    for name, percentile in (("p50", 50), ("p90", 90), ("p99", 99), ("p999", 99.9)):
        decoded_seconds = histogram.get_value_at_percentile(percentile) / 1e9
        # Three significant digits, and two libraries that may round a bucket's edge differently.
        assert document["metrics"][f"latency_{name}_seconds"] == pytest.approx(decoded_seconds, rel=2e-3)
