"""The numbers of a schedule, their bounds and defaults: for its form, the API and the services alike."""

from dataclasses import dataclass

# PostgreSQL's integer.
_LARGEST = 2**31 - 1


@dataclass(frozen=True)
class NumberLimit:
    """A whole number from `least` to `most`."""

    least: int
    most: int


MAX_RUNS = NumberLimit(1, _LARGEST)
DEADLINE_SECONDS = NumberLimit(1, _LARGEST)
MAXIMUM_SLIP_SECONDS = 86_400
RETRIES = NumberLimit(0, 100)
RETRY_PAUSE = NumberLimit(1, 86_400)
CONFIRM_RUNS = NumberLimit(1, _LARGEST)
MAXIMUM_BLACKOUTS = 100
DEFAULT_RETRIES = 2
DEFAULT_RETRY_PAUSE_SECONDS = 60
# Of the time that a schedule's own runs took so much may go to measuring suspects again; 0 is none.
RERUN_PERCENT = NumberLimit(0, 100)
DEFAULT_RERUN_PERCENT = 5
# By the names of the schedule's fields.
LIMITS = {
    "max_runs": MAX_RUNS,
    "deadline_seconds": DEADLINE_SECONDS,
    "retries": RETRIES,
    "retry_pause_seconds": RETRY_PAUSE,
    "rerun_percent": RERUN_PERCENT,
    "confirm_runs": CONFIRM_RUNS,
}
