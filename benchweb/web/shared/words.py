"""The words for clocks that are wrong, and for how the runs of a campaign follow each other."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchweb.common import formatting
from benchweb.runs.models import Campaign

# A smaller difference is told as a number with its sign: it is no fault.
WORDS_FROM_SECONDS = 1
# No host that sets its clock by NTP is so far off.
FAR_OFF_SECONDS = 10
_HOURS_UNTIL = 48
_DAY_SECONDS = 86_400
_YEAR_SECONDS = 31_556_952
_YEARS_FROM = 2


def is_far_off(offset_seconds: float | None) -> bool:
    """Tell whether somebody should set this clock."""
    return offset_seconds is not None and abs(offset_seconds) >= FAR_OFF_SECONDS


def clock_words(offset_seconds: float) -> str:
    """Say how far a clock is off: 56 years behind, 3 h 5 min ahead, and −12.0 ms where it is right."""
    if abs(offset_seconds) < WORDS_FROM_SECONDS:
        return str(formatting.quantity(offset_seconds, "s"))
    text = _("{time} behind") if offset_seconds < 0 else _("{time} ahead")
    return text.format(time=_length(abs(offset_seconds)))


def arrangement_choices() -> list[tuple[str, str]]:
    """Return how runs that want the same hosts may follow each other, with the words for it."""
    return [
        (Campaign.Arrangement.RUNS, _("each pair's run whole, then the next")),
        (Campaign.Arrangement.ROUNDS, _("in rounds: each pair once, then all again")),
        (Campaign.Arrangement.TOGETHER, _("together: several sources to one sink at once")),
    ]


def arrangement_words(arrangement: str) -> str:
    return dict(arrangement_choices())[arrangement]


def _length(seconds: float) -> str:
    if seconds >= _YEARS_FROM * _YEAR_SECONDS:
        years = round(seconds / _YEAR_SECONDS)
        return ngettext("{number} year", "{number} years", years).format(number=years)
    if seconds >= _HOURS_UNTIL * 3600:
        days = round(seconds / _DAY_SECONDS)
        return ngettext("{number} day", "{number} days", days).format(number=days)
    return formatting.duration(seconds)
