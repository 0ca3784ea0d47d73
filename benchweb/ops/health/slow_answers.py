"""Answers that took long, kept in the broker for a day: which pages an operator would have to look at."""

import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

import redis
from django.conf import settings

# What a reader notices as a wait.
SLOW_SECONDS = 1.0
DAYS = 1
KEY = "benchweb:slow-answers"
# Of a site where all is slow, the latest.
_MOST = 1_000
# An answer that was slow must not wait long for being noted.
_TIMEOUT_SECONDS = 0.5


@dataclass(frozen=True)
class SlowPage:
    """How often a page's answer was slow, the longest, and when the last of them was."""

    page: str
    times: int
    longest_seconds: float
    last_at: datetime


def slow_answer_add(page: str, seconds: float) -> None:
    """Note that an answer took so long; `page` names no row, such as "GET /runs/<int:run_id>"."""
    try:
        with _broker(settings.REDIS_URL).pipeline(transaction=False) as pipeline:
            pipeline.lpush(KEY, f"{time.time():.3f} {seconds:.3f} {page}")
            pipeline.ltrim(KEY, 0, _MOST - 1)
            pipeline.expire(KEY, timedelta(days=DAYS))
            pipeline.execute()
    except redis.RedisError:
        return


def slow_pages() -> list[SlowPage] | None:
    """Return the pages that were slow in the last day, the longest first; None where the broker can't be asked."""
    try:
        lines = [str(line) for line in _broker(settings.REDIS_URL).lrange(KEY, 0, -1)]
    except redis.RedisError:
        return None
    since = time.time() - DAYS * 86_400
    answers: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for at, seconds, page in (line.split(" ", 2) for line in lines):
        if float(at) >= since:
            answers[page].append((float(at), float(seconds)))
    pages = [
        SlowPage(
            page,
            len(each),
            max(seconds for _, seconds in each),
            datetime.fromtimestamp(max(at for at, _ in each), UTC),
        )
        for page, each in answers.items()
    ]
    return sorted(pages, key=lambda page: -page.longest_seconds)


@cache
def _broker(url: str) -> "redis.Redis":
    return redis.Redis.from_url(
        url, socket_timeout=_TIMEOUT_SECONDS, socket_connect_timeout=_TIMEOUT_SECONDS, decode_responses=True
    )
