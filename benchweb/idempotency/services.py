"""Answer a request once, however often it is sent."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import TypeVar

from django.db import OperationalError, connection, transaction
from django.utils import timezone

from benchweb.common.database_faults import waited_too_long
from benchweb.idempotency.models import KeptAnswer
from benchweb.site.secrets import decrypted, encrypted

# Who sends it again after this time makes it again.
KEPT = timedelta(hours=24)
LONGEST_KEY = 255
# So long a request waits for one with the same key that is under way.
_WAIT_MILLISECONDS = 10_000
T = TypeVar("T")


class OtherRequest(Exception):
    """The key came before with another request."""


class StillUnderWay(Exception):
    """The first request with this key isn't answered yet."""


@dataclass(frozen=True)
class RequestKey:
    """Whose key it is, a token's or without one a form's, and the digest of what was sent with it."""

    user_id: int
    token_id: int | None
    key: str
    request_digest: str


@dataclass(frozen=True)
class Answer:
    """An answer as it is kept; `messages` are those of the next page: level, text, tags, and whether it is markup."""

    status: int
    body: str
    headers: Mapping[str, str] = field(default_factory=dict)
    messages: Sequence[tuple[int, str, str, bool]] = ()


def answered_once(key: RequestKey, act: Callable[[], T], *, kept: Callable[[T], Answer | None]) -> T | Answer:
    """Do what a request asks for; return the kept answer where one with its key did.

    Raise OtherRequest or StillUnderWay. `kept` returns what repeated requests are answered, None where nothing was
    made: then the key is free again, as it is after an exception. All happens in one transaction, whose unique
    constraint lets the second of two at once wait.
    """
    with transaction.atomic():
        row, is_first = _claimed_answer(key)
        if not is_first:
            if row.request_digest != key.request_digest:
                raise OtherRequest
            return Answer(**json.loads(decrypted(row.answer_encrypted)))
        given = act()
        answer = kept(given)
        if answer is None:
            row.delete()
        else:
            row.answer_encrypted = encrypted(json.dumps(asdict(answer)))
            row.save(update_fields=["answer_encrypted"])
        return given


def remove_old() -> int:
    """Remove the keys whose time is over; return how many."""
    return KeptAnswer.objects.filter(created_at__lt=timezone.now() - KEPT).delete()[0]


def _claimed_answer(key: RequestKey) -> tuple[KeptAnswer, bool]:
    """Return the row of a key, and whether this request made it; one that is under way elsewhere is waited for."""
    _let_go(key)
    with _waiting_briefly():
        return KeptAnswer.objects.get_or_create(
            user_id=key.user_id,
            token_id=key.token_id,
            key=key.key,
            defaults={"request_digest": key.request_digest},
        )


def _let_go(key: RequestKey) -> None:
    """Free a key whose time is over but which the hourly removal hasn't reached."""
    KeptAnswer.objects.filter(
        user_id=key.user_id, token_id=key.token_id, key=key.key, created_at__lt=timezone.now() - KEPT
    ).delete()


@contextmanager
def _waiting_briefly() -> Iterator[None]:
    """Let a statement wait for others so long; raise StillUnderWay after that."""
    before = _lock_timeout_set(str(_WAIT_MILLISECONDS))
    try:
        yield
    except OperationalError as error:
        if waited_too_long(error):
            raise StillUnderWay from error
        raise
    _lock_timeout_set(before)


def _lock_timeout_set(value: str) -> str:
    """Set the limit for the rest of the transaction; return the one before."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('lock_timeout'), set_config('lock_timeout', %s, true)", [value])
        before: str = cursor.fetchone()[0]
        return before
