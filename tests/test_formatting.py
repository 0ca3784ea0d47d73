"""The server's formatter: the same figures as the browser's (frontend/tests/format.test.ts)."""

import pytest

from benchweb.formatting import duration, quantity, setting, significant


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (16_312_345_678, "bit/s", "16.3 Gbit/s"),
        (728_100, "pkt/s", "728 k pkt/s"),
        (3.0, "segments", "3 segments"),
        (1.5, "segments", "1.50 segments"),
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
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
        (3600, "1 h"),
        (1_876_020, "21 d 17 h"),
    ],
)
def test_a_duration_is_said_in_two_units_at_most(seconds: float, text: str) -> None:
    assert duration(seconds) == text
