"""Tables of network modes in reports: a result for each cell, with units from cells or captions, by zone and modes."""

import pytest

from benchweb.toolformats.document import read_text
from benchweb.toolformats.readings import Reading

REPORT = """# Container network
## Same zone

Throughput (Gbits/sec):

| from ↓ to → | host | terway | terway-eni |
|---|---:|---:|---:|
| host | 30.10 | 28.2 (28.0–28.4, n = 3) | — |
| terway | **29.0** | 27 |  |

### PPS

| from\\to | host | terway |
|---|---|---|
| host | 728 Kpps | 1.2Mpps |

## 跨可用区
### 延时（ms）
| 源 ↓ 目的 → | host |
|--|--|
| terway | 0.034 |
"""


def told(reading: Reading) -> tuple[str, str, str, str, float, str]:
    """Return zone, modes and the only figure of a cell."""
    [figure] = reading.figures
    named = (str(reading.parameters[name]) for name in ("zone", "source_mode", "sink_mode"))
    return (*named, figure.metric, figure.value, figure.unit)  # type: ignore[return-value]


def test_each_cell_with_a_number_is_a_result_of_its_zone_and_modes() -> None:
    document = read_text(REPORT)
    assert [told(reading) for reading in document] == [
        ("Same zone", "host", "host", "throughput_bps", 30.1e9, "bit/s"),
        ("Same zone", "host", "terway", "throughput_bps", 28.2e9, "bit/s"),
        ("Same zone", "terway", "host", "throughput_bps", 29e9, "bit/s"),
        ("Same zone", "terway", "terway", "throughput_bps", 27e9, "bit/s"),
        ("Same zone", "host", "host", "packets_per_second", 728_000.0, "pkt/s"),
        ("Same zone", "host", "terway", "packets_per_second", 1.2e6, "pkt/s"),
        ("跨可用区", "terway", "host", "latency_mean_seconds", pytest.approx(34e-6), "s"),
    ]
    first, spread = list(document)[:2]
    # Which test it was isn't told.
    assert (first.tool, first.kind, first.test, first.lines.first) == ("report", None, "Throughput", 8)
    # Digits as printed, and nothing of the cell is lost.
    assert (first.figures[0].digits, spread.figures[0].text) == (4, "28.2 (28.0–28.4, n = 3) Gbits/sec")


def test_the_captions_of_benchwebs_own_report_are_read() -> None:
    text = """### Throughput (Gbits/sec) · two zones · TCP stream, message size 16 KiB

| from ↓ to → | host |
| --- | ---: |
| host | 9.40 (9.30–9.50, n = 3) |
"""
    [reading] = read_text(text)
    assert told(reading) == ("two zones", "host", "host", "throughput_bps", 9.4e9, "bit/s")
    assert reading.parameters["setting"] == "TCP stream, message size 16 KiB"


@pytest.mark.parametrize(
    "text",
    [
        # No unit anywhere.
        "Throughput\n\n| from ↓ to → | host |\n|---|---|\n| host | 30.10 |\n",
        # A list of pairs, not of modes.
        "Rate (Gbits/sec)\n\n| from | to | rate |\n|---|---|---|\n| a | b | 12 |\n",
        "Memory (GB)\n\n| from ↓ to → | host |\n|---|---|\n| host | 30.10 |\n",
        # Of bytes a mega may be 10^6 or 2^20, and a time that is no mean latency isn't told as one.
        "Throughput\n\n| from ↓ to → | host |\n|---|---|\n| host | 12 MB/s |\n| pod | 1.5 GBps |\n",
        "P99 latency (ms)\n\n| from ↓ to → | host |\n|---|---|\n| host | 30.10 |\n",
        "Jitter (ms)\n\n| from ↓ to → | host |\n|---|---|\n| host | 30.10 |\n",
        "CPU time (s)\n\n| from ↓ to → | host |\n|---|---|\n| host | 30.10 |\n",
        "Loss (%)\n\n| from ↓ to → | host |\n|---|---|\n| host | — |\n",
    ],
)
def test_nothing_is_made_up_where_a_table_doesnt_tell_what_it_shows(text: str) -> None:
    assert not list(read_text(text))


def test_cells_that_aren_t_read_are_told() -> None:
    rows = "| host | 30 | 8,123.5 |\n| pod | 123 / 125 | — |\n"
    text = f"Latency (us)\n\n| from ↓ to → | host | pod |\n|---|---|---|\n{rows}"
    [reading] = read_text(text)
    assert reading.remarks[1:] == ["2 cells of the table aren't read, such as “8,123.5”."]


def test_many_heads_are_read_once_each() -> None:
    text = "| from to | a |\n" * 20_000
    assert not list(read_text(text))
    first = "Latency (us)\n\n| from to | a |\n| a | 3 |\n| from to | b |\n| b | 4 |\n"
    assert [reading.parameters["sink_mode"] for reading in read_text(first)] == ["a"]
