"""Limits of failed log-ins: who guesses passwords or tokens is refused before anything is hashed.

Attempts are counted before the password is looked at, so that many at once can't slip through, in windows of fixed
length. Three counters decide:

- user and address: whoever guesses one user's password from one address;
- address: whoever guesses many users' passwords;
- user: whoever guesses from many addresses. Then an address gets few attempts at this user, and one that has logged in
  as this user before as many as ever: nobody is locked out by others' attempts.
"""

import hashlib
import logging
import time
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

import redis
from django.core.cache import caches
from django.core.cache.backends.base import BaseCache

from benchweb.accounts.addresses import address_group
from benchweb.common.celery_client import warn

WINDOW_SECONDS = 300
PAIR_ATTEMPTS = 10
ADDRESS_ATTEMPTS = 30
USER_ATTEMPTS = 100
# Of each further address, once a user has had so many attempts.
LATER_ATTEMPTS = 2
TOKEN_ATTEMPTS = 60
# Wrong codes of second factors, of a user whose password is known, before there are waits, each twice as long as the
# one before: of a million codes three are right at a time. They are forgotten after a right one, or after a day.
FACTOR_ATTEMPTS, FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 10, 60, 6 * 3_600
_FACTOR_SECONDS = 86_400
# So many wrong ones are told to the user, whose password somebody has.
TOLD_FACTORS = 3
# Log-ins by a passkey or a provider that one address begins: each is a session until it ends or is given up.
BEGUN_LOGINS = 300
# Entries of one kind in the audit log that one user can make at one address, or a stranger.
ENTRIES_OF_ONE = 30
# Links asked for by mail: from one address, and to one mailbox.
REQUESTED_MAILS, MAILS_TO_ONE = 10, 3
_KNOWN_SECONDS = 30 * 86_400
_LONGEST_PRINTED = 150
# While the shared counters are away, each process counts for itself, and asks for them again after this time.
_LOCAL_SECONDS = 5.0
_log = logging.getLogger(__name__)
_local_until = 0.0
T = TypeVar("T")


@dataclass(frozen=True)
class Attempt:
    """A log-in that was counted; `retry_after_seconds` is 0 when it may go on."""

    user: str
    address: str
    is_known: bool = False
    retry_after_seconds: int = 0

    @property
    def who(self) -> str:
        """Return the user as counted."""
        return _counted(self.user)

    @property
    def where(self) -> str:
        """Return the address as counted."""
        return address_group(self.address)

    @property
    def pair(self) -> str:
        """Return the user and the address as counted together."""
        return f"{self.who}:{self.where}"


def begin_login(user: str, address: str) -> Attempt:
    """Count a log-in, and tell whether it may go on."""
    attempt = Attempt(user, address)
    attempt = replace(attempt, is_known=bool(_with_cache(lambda cache: cache.get(_known_key(attempt)))))
    if _may_try(attempt):
        return attempt
    if _count(f"told:{attempt.where}") == 1:
        _log.warning("further log-ins from %s are refused, at first as %s: too many failed", address, printable(user))
    return replace(attempt, retry_after_seconds=seconds_left())


def begin_passkey(address: str) -> Attempt:
    """Count a passkey whose owner isn't known yet, and tell whether it may be looked at."""
    attempt = Attempt("", address)
    is_refused = _count(f"address:{attempt.where}") > ADDRESS_ATTEMPTS
    return replace(attempt, retry_after_seconds=seconds_left() if is_refused else 0)


def passkey_succeeded(attempt: Attempt) -> None:
    """Take back the attempt of a passkey that was right."""
    _uncount(f"address:{attempt.where}")


def start_refused(address: str) -> int:
    """Count the beginning of a log-in that needs a session; return for how many seconds there are no more, or 0."""
    return seconds_left() if _count(f"start:{address_group(address)}") > BEGUN_LOGINS else 0


def login_succeeded(attempt: Attempt) -> None:
    """Forget this attempt and those before it of the user at the address; remember that the two belong together."""
    _with_cache(lambda cache: cache.delete(_key(f"pair:{attempt.pair}")))
    if not attempt.is_known:
        _uncount(f"address:{attempt.where}")
        _uncount(f"user:{attempt.who}")
    _with_cache(lambda cache: cache.set(_known_key(attempt), 1, _KNOWN_SECONDS))


def login_unchecked(attempt: Attempt) -> None:
    """Take back an attempt whose password nobody had the time to look at."""
    _uncount(f"pair:{attempt.pair}")
    if not attempt.is_known:
        _uncount(f"address:{attempt.where}")
        _uncount(f"user:{attempt.who}")


def login_failed(attempt: Attempt) -> None:
    """Log a wrong password, with who and from where."""
    _log.warning("log-in failed as %s from %s", printable(attempt.user), attempt.address)


def token_failed(address: str) -> int:
    """Count and log a wrong token; return for how many seconds further ones are refused, 0 for not yet.

    A right token is never refused: nobody guesses 256 bits, so only the work for wrong ones is bounded.
    """
    count = _count(f"token:{address_group(address)}")
    if count <= TOKEN_ATTEMPTS:
        _log.warning("unknown API token from %s", address)
        return 0
    return seconds_left()


def begin_factor(user: str) -> int:
    """Count a code of a user, from wherever; return for how many seconds further ones are refused, 0 for not yet."""
    return _with_cache(lambda cache: _factor_wait(cache, _counted(user)))


def _factor_wait(cache: BaseCache, who: str) -> int:
    count, waits, until = (f"login:factor{part}:{who}" for part in ("", "-waits", "-until"))
    for key in (count, waits):
        cache.add(key, 0, _FACTOR_SECONDS)
    if cache.incr(count) < FACTOR_ATTEMPTS:
        return 0
    seconds = min(FIRST_WAIT_SECONDS * 2 ** cache.get(waits, 0), LONGEST_WAIT_SECONDS)
    # Of many at once one adds it, and may try.
    if not cache.add(until, time.time() + seconds, seconds):
        return max(1, int(cache.get(until, 0) - time.time()))
    cache.incr(waits)
    for key in (count, waits):
        cache.touch(key, _FACTOR_SECONDS)
    return 0


def factor_failed(user: str) -> bool:
    """Tell whether the user is to be told that somebody has their password: once a day, after some wrong codes."""
    who = _counted(user)

    def told(cache: BaseCache) -> bool:
        is_enough = cache.get(f"login:factor:{who}", 0) >= TOLD_FACTORS
        return bool(is_enough and cache.add(f"login:factor-told:{who}", 1, _FACTOR_SECONDS))

    return _with_cache(told)


def factor_succeeded(user: str) -> None:
    """Forget the codes of a user before this one."""
    keys = [f"login:factor{part}:{_counted(user)}" for part in ("", "-waits", "-until")]
    _with_cache(lambda cache: cache.delete_many(keys))


def begin_share(share_id: int, address: str) -> int:
    """Count a password of a share link; return for how many seconds further ones are refused, 0 for not yet."""
    of_address = _count(f"share:{share_id}:{address_group(address)}")
    is_refused = of_address > PAIR_ATTEMPTS or _count(f"share:{share_id}") > USER_ATTEMPTS
    return seconds_left() if is_refused else 0


def share_opened(share_id: int, address: str) -> None:
    """Take back a password of a share link that was right."""
    _uncount(f"share:{share_id}:{address_group(address)}")
    _uncount(f"share:{share_id}")


def mail_refused(address: str) -> int:
    """Count a link asked for by mail; return for how many seconds this address gets no more, 0 for not yet."""
    return seconds_left() if _count(f"mail:{address_group(address)}") > REQUESTED_MAILS else 0


def is_mailbox_full(email: str) -> bool:
    """Count a mail to somebody, and tell whether they had enough of them."""
    return _count(f"mailbox:{_counted(email)}") > MAILS_TO_ONE


def is_first_in_window(what: str) -> bool:
    """Tell whether this is the first time in the present window that something happens."""
    return _count(f"first:{_counted(what)}") == 1


def entries_left(kind: str, who: str, what: str) -> int | None:
    """Count an entry that somebody makes in the audit log; return how many may follow in this window.

    None where it isn't to be made: for the same again, and for too many.
    """
    key = f"noted:{kind}:{who}"
    # Looked up first, so that who makes too many makes no further keys.
    if _with_cache(lambda cache: cache.get(_key(key), 0)) > ENTRIES_OF_ONE:
        return None
    if what and not is_first_in_window(f"{key}:{what}"):
        return None
    count = _count(key)
    if count == ENTRIES_OF_ONE + 1:
        text = "further entries of the kind %s by %s are left out of the audit log for %s s: they come too fast"
        _log.warning(text, kind, printable(who), seconds_left())
    return ENTRIES_OF_ONE - count if count <= ENTRIES_OF_ONE else None


def seconds_left() -> int:
    """Return how long the present window lasts, at least a second."""
    return WINDOW_SECONDS - int(time.time()) % WINDOW_SECONDS


def printable(text: str) -> str:
    """Write a text that a stranger chose as one line of a log."""
    return ascii(text[:_LONGEST_PRINTED])


def _counted(text: str) -> str:
    """Return a name as counted: of bounded length, without characters that a cache's key can't hold."""
    name = unicodedata.normalize("NFKC", text).strip().casefold()
    return hashlib.sha256(name.encode(errors="replace")).hexdigest()[:32]


def _may_try(attempt: Attempt) -> bool:
    # In this order, so that who is refused by address makes no further counters.
    if not attempt.is_known and _count(f"address:{attempt.where}") > ADDRESS_ATTEMPTS:
        return False
    of_pair = _count(f"pair:{attempt.pair}")
    if attempt.is_known or of_pair > PAIR_ATTEMPTS:
        return of_pair <= PAIR_ATTEMPTS
    return _count(f"user:{attempt.who}") <= USER_ATTEMPTS or of_pair <= LATER_ATTEMPTS


def _count(name: str) -> int:
    key = _key(name)

    def incremented(cache: BaseCache) -> int:
        cache.add(key, 0, WINDOW_SECONDS)
        try:
            return cache.incr(key)
        except ValueError:
            # The key's time was over between the two calls.
            return 1

    return _with_cache(incremented)


def _uncount(name: str) -> None:
    key = _key(name)

    def decremented(cache: BaseCache) -> None:
        with suppress(ValueError):
            if cache.get(key, 0) > 0:
                cache.decr(key)

    _with_cache(decremented)


def _key(name: str) -> str:
    return f"login:{int(time.time()) // WINDOW_SECONDS}:{name}"


def _known_key(attempt: Attempt) -> str:
    return f"login:known:{attempt.pair}"


def _with_cache(use: Callable[[BaseCache], T]) -> T:
    """Use the counters that all processes share, or this process's own while those are away."""
    global _local_until  # noqa: PLW0603
    if time.monotonic() >= _local_until:
        try:
            return use(caches["default"])
        except redis.RedisError as error:
            _local_until = time.monotonic() + _LOCAL_SECONDS
            warn(_log, "log-ins are counted by this process alone, the broker can't be used", error)
    return use(caches["local"])
