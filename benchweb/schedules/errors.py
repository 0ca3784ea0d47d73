"""The refusals of a schedule."""

from benchweb.common.refusals import RefusedWrite


class ScheduleError(RefusedWrite):
    """A refused schedule: `field` names the field at fault, as the API spells it, or is empty."""


class TimingError(ScheduleError):
    """Times that can't be, or that never come."""
