"""Say in words for people what failed on the way to an engine."""

import errno
import re

from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError

from benchweb.catalog.reasons import Reason, reason_of_error
from workers.engine_client.errors import EngineDown, EngineRefused, EngineUndisclosed, EngineUnreachable

# The machine itself says that nobody listens, or that who did is gone.
_MACHINE_ANSWERS = (errno.ECONNREFUSED, errno.ECONNRESET)
_ERROR_NUMBER = re.compile(r"^\[Errno -?\d+\] ")


def engine_name(name: str, host: str, port: int, address: str = "") -> str:
    """Name an engine at the start of a sentence; `address` is what its host's name was resolved to."""
    return Reason("engine", name=name, address=_address_text(host, port, address))


def engine_called(name: str, host: str, port: int, address: str = "") -> str:
    """Call an engine within a sentence, by its endpoint and its address."""
    return f"{name} ({_address_text(host, port, address)})"


def _address_text(host: str, port: int, address: str) -> str:
    named = f"{host} = " if address and address != host else ""
    return f"{named}{_bracketed(address or host)}:{port}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def unreachable(who: str, error: BaseException) -> EngineUnreachable:
    """Say that an engine can't be reached, and what to look at; EngineDown where at least the machine answered."""
    return (EngineDown if _machine_answers(error) else EngineUnreachable)(unreachable_text(who, error))


def unusable(who: str, error: ValueError) -> EngineRefused:
    """Say that nothing can be sent with an endpoint's address and token, and what to do."""
    return EngineRefused(Reason("engine_unaskable", engine=who, error=cause(error)), code="address")


def undisclosed(who: str) -> EngineUndisclosed:
    """Return the one answer for an address of which nothing may be told."""
    return EngineUndisclosed(Reason("engine_unusable", engine=who))


def unreachable_text(who: str, error: BaseException) -> str:
    """Say that an engine can't be reached, with the cause and what to look at."""
    return Reason("engine_unreachable", engine=who, error=cause(error))


def _machine_answers(error: BaseException) -> bool:
    """Tell a closed port, and silence after the connection was made, from a machine that isn't there."""
    causes: list[BaseException] = [error]
    while (deeper := causes[-1].__cause__ or causes[-1].__context__) is not None and deeper not in causes:
        causes.append(deeper)
    if any(isinstance(cause, OSError) and cause.errno in _MACHINE_ANSWERS for cause in causes):
        return True
    return isinstance(error, HTTPError) and not isinstance(error, ConnectTimeoutError | NewConnectionError)


def cause(error: BaseException) -> str:
    """Return the innermost cause in a few words, without addresses of Python objects and numbers of errors."""
    innermost = error.__cause__ or error.__context__ or error
    if isinstance(reason := reason_of_error(innermost), Reason):
        return reason
    text = str(innermost)
    return _ERROR_NUMBER.sub("", text.rsplit(">: ", 1)[-1])[:200]
