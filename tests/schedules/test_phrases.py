"""Times in words, as people type them."""

import pytest

from benchweb.schedules.errors import TimingError
from benchweb.schedules.timing.cron_text import cron_normalised

WORDS = [
    ("every night at 02:00", "0 2 * * *"),
    ("Every day at 2am", "0 2 * * *"),
    ("daily at 2", "0 2 * * *"),
    ("nightly, at 2:30", "30 2 * * *"),
    ("at 02:00 every day", "0 2 * * *"),
    ("02:00 daily", "0 2 * * *"),
    ("every day 02:00", "0 2 * * *"),
    ("every day at midnight", "0 0 * * *"),
    ("every day at 12 am", "0 0 * * *"),
    ("every day at 12:30 p.m.", "30 12 * * *"),
    ("weekdays at 06:30 pm", "30 18 * * MON-FRI"),
    ("every weekend at noon", "0 12 * * SAT,SUN"),
    ("Mondays and Thursdays at 6:30 pm", "30 18 * * MON,THU"),
    ("on Sat, Sun and Tues at 7:05", "5 7 * * SAT,SUN,TUE"),
    ("mon-fri at 7", "0 7 * * MON-FRI"),
    ("Monday to Friday at 7", "0 7 * * MON-FRI"),
    ("Friday to Monday at 7", "0 7 * * FRI,SAT,SUN,MON"),
    ("every 15 minutes", "*/15 * * * *"),
    ("every minute", "* * * * *"),
    ("every hour", "0 * * * *"),
    ("every 2 hours", "0 */2 * * *"),
    ("monthly on the 1st at 02:00", "0 2 1 * *"),
    ("on the 1st and 15th of the month at 02:00", "0 2 1,15 * *"),
    ("on the last day of the month at 23:00", "0 23 L * *"),
    ("the first Monday of every month at 4:00", "0 4 * * MON#1"),
    ("on the last Friday of each month at 4 pm", "0 16 * * 5L"),
    ("每天 02:00", "0 2 * * *"),
    ("每晚2点30分", "30 2 * * *"),
    ("每周一 下午3:00", "0 15 * * MON"),
    ("每个工作日 09：00", "0 9 * * MON-FRI"),
    ("每周末 02:00", "0 2 * * SAT,SUN"),
    ("每月15日 02:00", "0 2 15 * *"),
]
NOT_UNDERSTOOD = [
    "every blue moon",
    "every day at 25:00",
    "every day at 13 pm",
    "every day at 2:75",
    "every 7 minutes",
    "every 5 hours",
    "on the 32nd of the month at 02:00",
    "on Blursday at 02:00",
    "every day",
    "每天 25:00",
]


@pytest.mark.parametrize(("words", "cron"), WORDS)
def test_words_are_the_expression_that_they_mean(words: str, cron: str) -> None:
    assert cron_normalised(cron_normalised(words, "UTC"), "UTC") == cron_normalised(cron, "UTC")


@pytest.mark.parametrize("words", NOT_UNDERSTOOD)
def test_other_words_are_refused_with_words_that_work(words: str) -> None:
    with pytest.raises(TimingError) as refused:
        cron_normalised(words, "UTC")
    assert refused.value.field == "cron"
    assert "is not understood: write it such as 'every night at 02:00'" in refused.value.message
