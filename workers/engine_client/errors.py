"""The ways in which an engine fails a caller."""

from benchweb.catalog.reasons import reason_of_error


class EngineError(Exception):
    """Any failure of a call to an engine; `reason` says which, for people."""

    @property
    def reason(self) -> str:
        return reason_of_error(self)


class EngineUnreachable(EngineError):
    """No connection, or no answer in time: trying again may help."""


class EngineDown(EngineUnreachable):
    """The machine answers, but no engine does: its port is closed, or it hangs."""


class EngineUndisclosed(EngineUnreachable):
    """The one answer for an address of which nothing may be told: not even whether anything is there."""


class EngineRefused(EngineError):
    """The engine answered no, or isn't the engine that was pinned: trying again helps only where it `may_pass`."""

    def __init__(self, message: str, *, code: str = "refused", status: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.status = status

    @property
    def may_pass(self) -> bool:
        """Tell whether the engine is only busy now: too many sessions, memory or connections, or not ready yet."""
        return self.status in (429, 503)


class EngineGarbage(EngineError):
    """Something answered, but not as an engine does."""
