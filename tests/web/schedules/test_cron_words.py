"""Cron expressions in words, in both languages."""

from datetime import UTC, datetime

import pytest
from django.utils import translation

from benchweb.schedules.timing.cron_text import cron_normalised
from benchweb.web.schedules.words import cron_hint, when_words

WORDS = [
    ("0 2 * * *", "At 02:00 every day", "每天 02:00"),
    ("30 0 2 * * *", "At 02:00:30 every day", "每天 02:00:30"),
    ("0 2,14 * * *", "At 02:00 and 14:00 every day", "每天 02:00 和 14:00"),
    ("* * * * *", "Every minute", "每分钟"),
    ("* * * * * *", "Every second", "每秒"),
    ("*/10 * * * * *", "Every 10 seconds", "每 10 秒"),
    ("*/15 * * * *", "Every 15 minutes", "每 15 分钟"),
    ("*/45 * * * *", "At minutes 0 and 45 of every hour", "每小时的第 0 和 45 分"),
    ("7 * * * *", "At minute 7 of every hour", "每小时的第 7 分"),
    ("0 * * * *", "At the start of every hour", "每小时整点"),
    ("5 */2 * * *", "Every 2 hours from 00:05", "从 00:05 起每 2 小时"),
    ("0 22-4 * * *", "Every hour from 22:00 to 04:00", "22:00 至 04:00 每小时"),
    ("*/15 9-17 * * *", "Every 15 minutes from 09:00 to 17:45", "09:00 至 17:45 每 15 分钟"),
    ("*/10 * 9-17 * * *", "Every minute from 09:00 to 17:59, at seconds 0, 10, 20, 30, 40 and 50", None),
    ("0 2 31 * *", "At 02:00 on the 31st of every month", "每月 31 日 02:00"),
    (
        "0 2 1,2,3,13,22 * *",
        "At 02:00 on the 1st to 3rd, 13th and 22nd of every month",
        "每月 1 至 3、13 和 22 日 02:00",
    ),
    ("0 2 11 * *", "At 02:00 on the 11th of every month", "每月 11 日 02:00"),
    ("0 2 L * *", "At 02:00 on the last day of every month", "每月最后一天 02:00"),
    ("0 2 LW * *", "At 02:00 on the last weekday of every month", "每月最后一个工作日 02:00"),
    ("0 2 13 * FRI", "At 02:00 on the 13th of every month or on Friday", "每月 13 日或每星期五 02:00"),
    (
        "0 2 */10 * FRI",
        "At 02:00 on the 1st, 11th, 21st and 31st of every month, and only on Friday",
        "每月 1、11、21 和 31 日且仅每星期五 02:00",
    ),
    ("0 2 * * MON-FRI", "At 02:00 on Monday to Friday", "每星期一至星期五 02:00"),
    ("0 2 * * SAT-SUN", "At 02:00 on Saturday and Sunday", "每星期六和星期日 02:00"),
    ("0 2 * * FRI-MON", "At 02:00 on Friday to Monday", "每星期五至星期一 02:00"),
    ("0 2 * * FRI#2", "At 02:00 on the 2nd Friday of the month", "每月第 2 个星期五 02:00"),
    ("0 2 * * FRIL", "At 02:00 on the last Friday of the month", "每月最后一个星期五 02:00"),
    ("0 2 * JAN,FEB *", "At 02:00 every day in January and February", "一月和二月每天 02:00"),
    ("0 2 31 JAN,MAR *", "At 02:00 on the 31st of January and March", "一月和三月的 31 日 02:00"),
    ("@yearly", "At 00:00 on the 1st of January", "一月的 1 日 00:00"),
]


@pytest.mark.parametrize(("typed", "english", "chinese"), WORDS)
def test_an_expression_is_said_in_the_reader_s_language(typed: str, english: str, chinese: str | None) -> None:
    cron = cron_normalised(typed, "UTC")
    with translation.override("en"):
        assert when_words(cron, "") == english
    with translation.override("zh-hans"):
        said = when_words(cron, "")
    assert chinese is None or said == chinese
    assert not any(letter.isascii() and letter.isalpha() for letter in said)


def test_what_an_older_version_saved_is_said_or_shown_as_it_is() -> None:
    assert when_words("*/70 * * * *", "") == "At the start of every hour"
    assert when_words("nonsense", "") == "nonsense"


@pytest.fixture
def friday(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it be Friday, 27 November 2026."""
    monkeypatch.setattr("benchweb.web.schedules.words.now", lambda: datetime(2026, 11, 27, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("cron", "timezone", "hint"),
    [
        (
            "0 2 13 * FRI",
            "UTC",
            "Either day is enough: next by day of the month Sun 13 Dec, Wed 13 Jan; "
            "next by day of the week Fri 4 Dec, Fri 11 Dec.",
        ),
        # Where it is Saturday already.
        (
            "0 9 L * SAT",
            "Pacific/Auckland",
            "Either day is enough: next by day of the month Mon 30 Nov, Thu 31 Dec; "
            "next by day of the week Sat 28 Nov, Sat 5 Dec.",
        ),
        (
            "0 2 */2 * FRI",
            "UTC",
            "Both must match, the day of the month and the day of the week: next Fri 11 Dec, Fri 25 Dec, Fri 1 Jan.",
        ),
    ],
)
def test_a_day_of_the_month_beside_a_weekday_is_told_with_dates(
    friday: None, cron: str, timezone: str, hint: str
) -> None:
    assert cron_hint(cron, timezone) == hint


def test_days_that_some_months_lack_hint_at_the_last_day() -> None:
    assert "use L for the last day" in cron_hint("0 2 31 * *")
    assert cron_hint("0 2 L * *") == cron_hint("") == ""
