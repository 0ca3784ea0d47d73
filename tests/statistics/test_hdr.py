"""Our reader of HDR histograms against the library of the histogram's authors."""

import base64
import json
import random
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from benchweb.statistics.hdr import Bins, HistogramError, binned

EXAMPLES = Path(__file__).resolve().parents[2] / "engine" / "schema" / "examples"
SHARES = (0.01, 0.5, 0.9, 0.99, 0.999)


def encoded(histogram: HdrHistogram) -> bytes:
    return base64.b64decode(histogram.encode())


@pytest.mark.parametrize("kind", ["tcp_rr", "tcp_crr", "udp_rr", "http_load", "ping"])
def test_what_an_engine_wrote_has_all_its_counts_and_quantiles(kind: str) -> None:
    text = json.loads((EXAMPLES / f"{kind}.json").read_text())["histogram"]["data"]
    theirs, ours = HdrHistogram.decode(text), binned(base64.b64decode(text))
    assert ours.total == theirs.get_total_count() > 0
    for share in SHARES:
        assert ours.quantile(share) == pytest.approx(theirs.get_value_at_percentile(share * 100), rel=0.095)


@pytest.mark.parametrize("seed", range(20))
def test_random_histograms_have_the_same_counts_bin_by_bin(seed: int) -> None:
    choose = random.Random(seed)
    histogram = HdrHistogram(1, 60_000_000_000, 3)
    values = [int(choose.lognormvariate(11, 1.5)) + 1 for _ in range(3_000)] + [1, 59_000_000_000]
    for value in values:
        histogram.record_value(value)
    ours = binned(encoded(histogram))
    assert ours.total == len(values)
    for value in choose.sample(values[:3_000], 50):
        share = sum(each <= value for each in values) / len(values)
        assert ours.quantile(share) == pytest.approx(sorted(values)[max(0, round(share * len(values)) - 1)], rel=0.095)


def test_a_count_of_many_millions_is_read_whole() -> None:
    histogram = HdrHistogram(1, 60_000_000_000, 3)
    histogram.record_value(1_000_000, 2**40)
    assert list(binned(encoded(histogram)).counts.values()) == [2**40]


def test_an_empty_histogram_has_no_quantile() -> None:
    assert binned(encoded(HdrHistogram(1, 60_000_000_000, 3))) == Bins({})
    assert Bins({}).quantile(0.5) is None


def test_histograms_add_up() -> None:
    assert Bins({1: 2, 3: 4}).joined(Bins({3: 1, 5: 6})) == Bins({1: 2, 3: 5, 5: 6})


@pytest.mark.parametrize("text", [b"", b"nonsense", b"\x1c\x84\x93\x14\x00\x00\x00\x04junk", bytes(100)])
def test_bytes_that_are_no_histogram_are_refused(text: bytes) -> None:
    with pytest.raises(HistogramError):
        binned(text)


def test_a_histogram_that_was_cut_is_refused() -> None:
    whole = base64.b64decode(json.loads((EXAMPLES / "tcp_rr.json").read_text())["histogram"]["data"])
    with pytest.raises(HistogramError):
        binned(whole[: len(whole) // 2])
