"""Keep stacks out of the logs where they tell nothing: of a refusal, which is an answer, and of the broker's faults."""

import logging
from http import HTTPStatus

import redis
from django.core.exceptions import RequestAborted


class WithoutStacks(logging.Filter):
    """Log in one line that a request was refused, or that the broker can't be used; a fault of ours keeps its stack."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record; none is left out."""
        status = getattr(record, "status_code", HTTPStatus.INTERNAL_SERVER_ERROR)
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, redis.RedisError) or status < HTTPStatus.INTERNAL_SERVER_ERROR:
            record.exc_info = record.exc_text = None
        return True


class WithoutLeavers(logging.Filter):
    """Leave out that a page was stopped because its reader had left: nobody's fault, and as often as anybody likes."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether the record is written."""
        return not (record.exc_info and isinstance(record.exc_info[1], RequestAborted))
