"""Read and judge what an engine answered: bodies, lines of events, refusals. `engine` is its name in messages."""

import json
from collections.abc import Iterator
from typing import Any

import urllib3

from benchweb.catalog.engine_reasons import engine_reason
from benchweb.catalog.reasons import Reason
from benchweb.common.storable import TooDeepError, storable, storable_text
from workers.engine_client.deadlines import deadline_of
from workers.engine_client.errors import EngineGarbage, EngineRefused

# From the end of one event to that of the next: the longest result, over a slow line.
EVENT_SECONDS = 30.0
# A result with intervals, flows and a histogram; more is not one.
MEBIBYTE = 1024 * 1024
MAXIMUM_LINE_BYTES = 16 * MEBIBYTE
_MAXIMUM_BODY_BYTES = 4 * MEBIBYTE


def document_of(engine: str, status: int, data: bytes) -> Any:
    """Return the JSON of a whole answer, None for an empty one; raise what an engine refuses with."""
    if status >= 400:
        raise refusal(engine, status, data)
    return decoded(engine, data) if data.strip() else None


def body_of(engine: str, response: urllib3.BaseHTTPResponse) -> bytes:
    """Read a body to its end; raise EngineGarbage for one that is too large."""
    data = response.read(_MAXIMUM_BODY_BYTES + 1)
    if len(data) > _MAXIMUM_BODY_BYTES:
        # What is left of it would be taken for the next answer.
        response.close()
        most = _MAXIMUM_BODY_BYTES // MEBIBYTE
        raise garbage(engine, Reason("answer_too_large", most=most))
    return data


def lines_of(engine: str, response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    """Return the lines of a stream, each within its time."""
    pending = bytearray()
    within = deadline_of(response)
    within(EVENT_SECONDS)
    for chunk in response.stream(65536):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            _add(engine, pending, end)
            yield bytes(pending)
            pending.clear()
            within(EVENT_SECONDS)
        _add(engine, pending, rest)
    if pending.strip():
        yield bytes(pending)


def _add(engine: str, pending: bytearray, more: bytes) -> None:
    """Add to a line; raise EngineGarbage for more than one event may have."""
    if len(pending) + len(more) > MAXIMUM_LINE_BYTES:
        most = MAXIMUM_LINE_BYTES // MEBIBYTE
        raise EngineGarbage(Reason("engine_event_too_large", engine=engine, most=most))
    pending += more


def refusal(engine: str, status: int, data: bytes) -> Exception:
    """Return the error that a refused call raises, with the engine's own code and words."""
    try:
        error = json.loads(data)["error"]
        code, message = storable_text(str(error["code"])), storable_text(str(error["message"]))
        data = storable(error.get("message_data"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return garbage(engine, Reason("answer_without_reason", status=status))
    if status == 401:
        return EngineRefused(Reason("engine_refused_token", engine=engine), code=code, status=status)
    refused = Reason("engine_refused", engine=engine, message=engine_reason(message, data))
    return EngineRefused(refused, code=code, status=status)


def decoded(engine: str, data: bytes) -> Any:
    """Return JSON that can be stored; raise EngineGarbage for anything else."""
    try:
        return storable(json.loads(data))
    except TooDeepError as error:
        raise garbage(engine, Reason("answer_not_kept", error=str(error))) from error
    except (ValueError, RecursionError) as error:
        raise garbage(engine, Reason("answer_no_json", data=repr(data[:40]))) from error


def garbage(engine: str, what: str) -> EngineGarbage:
    """Return the error for an answer that no engine gives."""
    return EngineGarbage(Reason("engine_garbage", engine=engine, what=what))
