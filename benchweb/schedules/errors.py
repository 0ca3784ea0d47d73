"""The refusals of a schedule."""


class ScheduleError(ValueError):
    """A refused schedule: `field` names the field at fault, as the API spells it, or is empty."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


class TimingError(ScheduleError):
    """Times that can't be, or that never come."""
