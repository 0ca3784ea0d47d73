"""What a log line is about, and log lines as JSON objects, which say it."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

# Where a request keeps its id, for lines that are logged with the request and outside of its middleware.
LOGGED = "benchweb.request_id"
_ids: ContextVar[dict[str, int | str]] = ContextVar("log_ids")


@contextmanager
def logged_with(**ids: int | str) -> Iterator[None]:
    """Have each line of this thread meanwhile say what it is about: `request`, `slot`, `run` or `trial`."""
    token = _ids.set(_ids.get({}) | ids)
    try:
        yield
    finally:
        _ids.reset(token)


class JsonLines(logging.Formatter):
    """A record as one JSON object: `at` (ISO 8601, UTC), `level`, `logger`, `message`, its ids, a fault's `stack`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, in ASCII: whatever was logged can be written, and is one line."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
        } | _ids.get({})
        if request_id := getattr(getattr(record, "request", None), "META", {}).get(LOGGED):
            line["request"] = request_id
        if record.exc_info:
            line["stack"] = self.formatException(record.exc_info)
        return json.dumps(line)
