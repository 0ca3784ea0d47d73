"""`Idempotency-Key`: a creating call that is sent again is answered as the first, and makes nothing."""

import hashlib
import re
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Status

from benchweb.api.application import MicrosecondRenderer
from benchweb.api.authentication import caller, caller_token
from benchweb.api.problems import Problem, invalid
from benchweb.idempotency.services import LONGEST_KEY, Answer, OtherRequest, RequestKey, StillUnderWay, answered_once
from benchweb.site.secrets import SecretUnreadable

HEADER = "Idempotency-Key"
# Of an answer to a call that was sent before.
REPEATED = "Idempotent-Replayed"
_KEY = re.compile(rf"[\x21-\x7e]{{1,{LONGEST_KEY}}}")
_CREATED = 201


def once_per_key(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Let an operation create once for each key of a token; only what answers 201 is kept."""

    @wraps(operation)
    def answered(request: HttpRequest, *arguments: Any, **named: Any) -> Any:
        key = request.headers.get(HEADER)
        if key is None or request.method != "POST":
            return operation(request, *arguments, **named)
        try:
            outcome = answered_once(
                _request_key(request, key),
                lambda: operation(request, *arguments, **named),
                kept=lambda given: _answer(request, given),
            )
        except OtherRequest:
            raise invalid(
                HEADER, "This key came with another call in the last 24 hours: use a new one for each call."
            ) from None
        except StillUnderWay:
            detail = "The first call with this key is still under way: send the same again in a few seconds."
            raise Problem(409, detail, headers={"Retry-After": "2"}) from None
        except SecretUnreadable:
            detail = "The call was done, but its answer can't be read since the dashboard has another secret key."
            raise Problem(409, detail) from None
        return _replayed_answer(outcome) if isinstance(outcome, Answer) else outcome

    return answered


def _request_key(request: HttpRequest, key: str) -> RequestKey:
    if not _KEY.fullmatch(key):
        raise invalid(HEADER, f"A key is 1 to {LONGEST_KEY} printable ASCII characters without spaces, such as a UUID.")
    sent = f"{request.method} {request.get_full_path()}\n".encode() + request.body
    return RequestKey(caller(request).pk, caller_token(request).pk, key, hashlib.sha256(sent).hexdigest())


def _answer(request: HttpRequest, given: Any) -> Answer | None:
    if not isinstance(given, Status) or given.status_code != _CREATED:
        return None
    return Answer(_CREATED, MicrosecondRenderer().render(request, given.value, response_status=_CREATED))


def _replayed_answer(answer: Answer) -> HttpResponse:
    content_type = f"{MicrosecondRenderer.media_type}; charset=utf-8"
    return HttpResponse(answer.body, status=answer.status, content_type=content_type, headers={REPEATED: "true"})
