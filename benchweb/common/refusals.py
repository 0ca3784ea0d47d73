"""What every refused write says."""


class RefusedWrite(ValueError):
    """A write that is refused: `field` names what is at fault, as the API spells it, or is empty; `message` says why.

    The message is for people, and says what to do.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message
