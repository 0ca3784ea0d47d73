"""Parameter values as people type them."""

import pytest

from benchweb.catalog import ParameterError, catalog
from benchweb.web.plans.sweep_text import MAXIMUM_TEXT, parsed_values, spelled

STREAM = catalog().kinds["tcp_stream"].parameters


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("message_size_bytes", "64", 64),
        ("message_size_bytes", "1, 64, 1k, 64Ki", [1, 64, 1000, 65536]),
        ("message_size_bytes", " 1;64 ,, 1Ki\n", [1, 64, 1024]),
        ("message_size_bytes", "1.5Ki", 1536),
        ("message_size_bytes", "64KiB", 65536),
        ("message_size_bytes", "2Mi 1M", [2097152, 1000000]),
        ("rate_bps", "10G", 10_000_000_000),
        ("rate_bps", "2.5Gbit/s", 2_500_000_000),
        ("duration_seconds", "0.5", 0.5),
        ("duration_seconds", "0.5s, 2", [0.5, 2]),
        ("direction", "forward, reverse", ["forward", "reverse"]),
        ("nodelay", "false, true", [False, True]),
        ("source_cpus", "0,2-3", "0,2-3"),
        ("source_cpus", "0,2-3; 1", ["0,2-3", "1"]),
        ("congestion_control", "cubic, bbr", ["cubic", "bbr"]),
        ("message_size_bytes", "-5", -5),
    ],
)
def test_it_reads_values_and_sweeps(name: str, text: str, value: object) -> None:
    assert parsed_values(STREAM[name], text) == value


@pytest.mark.parametrize("text", ["abc", "1, x", "1..5", "0x10", "1e3", "nan", "٣", "1kk", "9" * 31])
def test_it_names_the_part_that_is_no_number(text: str) -> None:
    with pytest.raises(ParameterError) as caught:
        parsed_values(STREAM["message_size_bytes"], text)
    assert caught.value.field == "message_size_bytes"
    assert "is not a number: write 64, 1.5k (k is 1,000) or 64Ki (Ki is 1,024)." in caught.value.message


def test_it_reads_no_text_without_end() -> None:
    with pytest.raises(ParameterError, match="shorten the sweep"):
        parsed_values(STREAM["message_size_bytes"], "1," * MAXIMUM_TEXT)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("message_size_bytes", [64, 1000, 1024, 1536, 65536], "64, 1000, 1Ki, 1536, 64Ki"),
        ("rate_bps", 2_500_000_000, "2500M"),
        ("rate_bps", 0, "0"),
        ("duration_seconds", 1000, "1000"),
        ("duration_seconds", 0.5, "0.5"),
        ("nodelay", [False, True], "false, true"),
        ("source_cpus", ["0,2-3", "1"], "0,2-3; 1"),
        ("congestion_control", "", ""),
    ],
)
def test_it_writes_values_so_that_they_read_back(name: str, value: object, text: str) -> None:
    assert spelled(STREAM[name], value) == text
    if value != "":
        assert parsed_values(STREAM[name], text) == value


@pytest.mark.parametrize(
    "text", ['{"a":' * 2_000, '{"kind": "a\\u0000"}', '{"kind": "\\ud800"}', '{"kind": NaN}', '{"rate": 1e999}']
)
def test_a_test_that_can_not_be_stored_is_refused_in_words(text: str) -> None:
    with pytest.raises(ParameterError, match="is not JSON"):
        parsed_values(catalog().kinds["ping"].parameters["load"], text)
