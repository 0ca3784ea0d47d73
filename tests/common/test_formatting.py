"""The server's formatter: the same figures as the browser's (frontend/tests/text/format.test.ts)."""

import pytest

from benchweb.common.formatting import duration, quantity, repetitions, setting, signed_percent, significant, spread


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (16_312_345_678, "bit/s", "16.3 Gbit/s"),
        (728_100, "pkt/s", "728 k pkt/s"),
        (3.0, "segments", "3 segments"),
        (1.5, "segments", "1.50 segments"),
        (1.0, "segments", "1 segment"),
        (1.0, "replies", "1 reply"),
        (999, "errors", "999 errors"),
        (1_234, "errors", "1.23 k errors"),
        (3.0, "transactions/s", "3.00 transactions/s"),
        (0.0000341, "s", "34.1 µs"),
        (3600, "s", "3600 s"),
        (999_600, "bit/s", "1.00 Mbit/s"),
        (0, "bit/s", "0 bit/s"),
        (0.0123, "ratio", "1.23 %"),
        (0.5, "transactions/s", "0.500 transactions/s"),
        (1_500_000, "B", "1.43 MiB"),
        (1448, "B", "1,448 B"),
        (8192, "B", "8.00 KiB"),
        (9000.5, "B", "8.79 KiB"),
        (1234.5, "s/GB", "1230 s/GB"),
        (-2_000_000, "bit/s", "−2.00 Mbit/s"),
        (-0.00115, "s", "−1.15 ms"),
        (-3.0, "segments", "−3 segments"),
        (None, "bit/s", "—"),
    ],
)
def test_a_number_gets_three_significant_digits_and_a_prefix(value: float | None, unit: str, text: str) -> None:
    assert str(quantity(value, unit)) == text


def test_the_whole_value_stays_in_the_title() -> None:
    assert quantity(16_312_345_678, "bit/s").full == "16,312,345,678 bit/s"
    assert quantity(23_456.789012345, "transactions/s").full == "23,456.789012345 transactions/s"
    assert quantity(0.012345678901, "ratio").full == "0.012345678901"
    assert quantity(5.0, "s").full == "5 s"
    assert quantity(-5.5, "s").full == "−5.5 s"


@pytest.mark.parametrize(("value", "text"), [(1234, "1230"), (99.95, "100"), (0.000012345, "0.0000123"), (0, "0")])
def test_significant_digits_need_no_exponent(value: float, text: str) -> None:
    assert significant(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (16384, "B", "16 KiB"),
        (1024, "B", "1 KiB"),
        (1400, "B", "1,400 B"),
        (1000, "B", "1,000 B"),
        (1.5, "s", "1.5 s"),
        (7411, "", "7411"),
        (1_000_000, "", "1,000,000"),
    ],
)
def test_a_setting_is_shown_exactly(value: float, unit: str, text: str) -> None:
    assert setting(value, unit) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.34, "340 ms"),
        (12.6, "12.6 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min"),
        (62.9, "1 min 3 s"),
        (200, "3 min 20 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h"),
        (7500, "2 h 5 min"),
        (3600, "1 h"),
        (172_799, "2 d"),
        (1_876_020, "21 d 17 h"),
    ],
)
def test_a_duration_is_said_in_two_units_at_most(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("median", "low", "high", "unit", "text"),
    [
        # The farthest repetition: 517 lies 5.1 % below 545, though half the range is 3.0 %.
        (545e6, 517e6, 550e6, "bit/s", "±5.1 %"),
        (545e6, 540e6, 573e6, "bit/s", "±5.1 %"),
        (7.0, 7.0, 7.0, "s", "±0 %"),
        # Read as going both ways alike, +50 % would tell of 15 ms.
        (0.010, 0.009, 0.015, "s", "9.00–15.0 ms"),
        (0.001, 0.0005, 0.002, "s", "500 µs–2.00 ms"),
        (0.0, 0.0, 5.0, "bit/s", "0–5.00 bit/s"),
        (0.123, 0.118, 0.129, "ratio", "11.8–12.9 %"),
        (1.0, 0.0, 1.0, "segments", "0–1 segment"),
        (100.0, 98.0, 101.0, "segments", "98–101 segments"),
        # Of what is told as a range, or of nothing, no per cent of it.
        (0.0, 0.0, 0.0, "segments", "±0"),
        (-100.0, -110.0, -95.0, "s", "±10 %"),
    ],
)
def test_no_repetition_lies_outside_of_the_spread(median: float, low: float, high: float, unit: str, text: str) -> None:
    assert spread(median, low, high, unit) == text


def test_one_repetition_has_no_spread() -> None:
    assert repetitions(5.0, (5.0, 5.0), "s", 1) == "n=1"
    assert repetitions(5.0, (4.9, 5.0), "s", 2) == "±2.0 % · n=2"
    assert repetitions(0.0, (0.0, 0.0), "segments", 3) == "±0 · n=3"
    assert repetitions(5.0, None, "s", 3) == "n=3"


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.0, "0 %"),
        (0.041, "+4.1 %"),
        (-0.2124, "−21.2 %"),
        (-0.2196, "−22.0 %"),
        (9.134, "+913 %"),
        (-0.0042, "−0.42 %"),
        (0.9996, "+100 %"),
        (12.345, "+1,234 %"),
    ],
)
def test_a_change_is_one_text_wherever_it_is_told(ratio: float, text: str) -> None:
    assert signed_percent(ratio) == text
