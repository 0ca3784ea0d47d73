"""What the fields of a schedule's form read and show."""

import pytest
from django import forms

from benchweb.web.schedules.fields.blackouts import BlackoutsField
from benchweb.web.schedules.fields.durations import DurationField, read_duration, spelled


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30 min", 1800),
        ("6h", 21_600),
        ("1 day", 86_400),
        ("2 days", 172_800),
        ("1 h 30 min", 5400),
        ("45 s", 45),
        ("90 seconds", 90),
        ("2 w", 1_209_600),
        ("PT6H", 21_600),
        ("P1D", 86_400),
    ],
)
def test_a_length_of_time_is_read_as_people_write_it(text: str, seconds: int) -> None:
    assert read_duration(text) == seconds
    assert read_duration(spelled(seconds)) == seconds


@pytest.mark.parametrize("text", ["5", "min", "6 fortnights", "-1 h", "1.5 h", "1 h and", "P1M", "9" * 70 + " s"])
def test_a_length_that_is_none_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(forms.ValidationError):
        read_duration(text)


def test_a_stored_length_is_shown_so_that_it_reads_back() -> None:
    field = DurationField("Every")
    assert field.prepare_value("PT90M") == "1 h 30 min"
    assert field.prepare_value(600) == "10 min"
    assert field.prepare_value("half an hour") == "half an hour"
    assert (field.clean(""), field.clean("10 min")) == (None, 600)


@pytest.mark.parametrize(
    ("line", "begin", "until"),
    [
        ("12:00 to 13:00", "12:00", "13:00"),
        ("12:00-13:00", "12:00", "13:00"),
        ("22:00 – 01:00", "22:00", "01:00"),
        ("2026-12-24 to 2026-12-27", "2026-12-24", "2026-12-27"),
        ("2026-12-24 18:00 until 2026-12-27 06:00", "2026-12-24T18:00", "2026-12-27T06:00"),
        ("2026-12-24 - 2026-12-27", "2026-12-24", "2026-12-27"),
    ],
)
def test_blackouts_are_a_line_each(line: str, begin: str, until: str) -> None:
    field = BlackoutsField()
    found = field.clean(f"\n{line}\n\n")
    assert found == [{"from": begin, "until": until}]
    assert field.clean(field.prepare_value(found)) == found


@pytest.mark.parametrize("line", ["12:00", "to 13:00", "12:00 to 13:00 to 14:00"])
def test_a_line_that_is_no_blackout_is_named(line: str) -> None:
    with pytest.raises(forms.ValidationError, match="use the form 12:00 to 13:00"):
        BlackoutsField().clean(line)
