"""ISO 8601 durations as whole seconds: of fixed length only."""

import re

from django.utils.translation import gettext as _

from benchweb.schedules.errors import TimingError

LONGEST_SECONDS = 10 * 366 * 86_400
_UNIT_SECONDS = {"weeks": 604_800, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
_DURATION = re.compile(
    r"P(?:(?P<years>\d{1,9})Y)?(?:(?P<months>\d{1,9})M)?(?:(?P<weeks>\d{1,9})W)?(?:(?P<days>\d{1,9})D)?"
    r"(?:T(?=\d)(?:(?P<hours>\d{1,9})H)?(?:(?P<minutes>\d{1,9})M)?(?:(?P<seconds>\d{1,9})S)?)?",
    re.ASCII,
)


def duration_seconds(text: str) -> int:
    """Return the seconds of a duration such as PT6H, P1D or P1W; raise TimingError for `every`."""
    match = _DURATION.fullmatch(text.strip().upper())
    given = {unit: int(count) for unit, count in match.groupdict().items() if count is not None} if match else {}
    if not given:
        raise TimingError(
            "every",
            _("{text} is no ISO 8601 duration in whole units, such as PT30M, PT6H or P1D.").format(
                text=f"{text[:60]!r}"
            ),
        )
    if "years" in given or "months" in given:
        raise TimingError(
            "every", _("Months and years differ in length: say it in weeks, days and hours, or use cron ('0 2 1 * *').")
        )
    total = sum(count * _UNIT_SECONDS[unit] for unit, count in given.items())
    if not 1 <= total <= LONGEST_SECONDS:
        raise TimingError("every", _("An interval is from 1 second to 10 years; {text} is not.").format(text=text[:60]))
    return total
