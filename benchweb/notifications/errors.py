"""The refusals of channels, rules and maintenance windows."""


class NotificationError(ValueError):
    """A refused write: `field` names the field at fault, as the API spells it, or is empty."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message
