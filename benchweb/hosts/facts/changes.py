"""When the facts of an endpoint changed, and what did."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from django.utils.translation import get_language, pgettext

from benchweb.common.cache import remember
from benchweb.hosts.facts.differences import Document, FactDifference, fact_differences

# Gives documents by their digest: asked for only where words about them aren't known.
Documents = Callable[[], Mapping[str, Document]]


# Tuples, which take a third of the time to make: an environment's charts have hundreds.
class SeenFacts(NamedTuple):
    """One row of an endpoint's facts; its digest tells the document, but for what changes all the time."""

    digest: str
    first_seen_at: datetime
    last_seen_at: datetime


class Differences(NamedTuple):
    """What differs between two facts, in one sentence and fact by fact."""

    words: str
    facts: tuple[FactDifference, ...]


class FactChange(NamedTuple):
    """A time at which facts of an endpoint were first seen to differ, and what did."""

    at: datetime
    words: str
    facts: tuple[FactDifference, ...]


def fact_changes(
    rows: Sequence[SeenFacts], documents: Documents, used: frozenset[str] = frozenset()
) -> list[FactChange]:
    """Return the changes of one endpoint in order of time; `used` names the interfaces of its test traffic."""
    return [
        FactChange(at, *difference)
        for (_at, before), (at, after) in pairwise(fact_turns(rows))
        if (difference := differences_between((before.digest, after.digest), documents, used)).words
    ]


def fact_turns(rows: Sequence[SeenFacts]) -> list[tuple[datetime, SeenFacts]]:
    """Return one endpoint's facts in order of the times from which on they were seen.

    Equal facts are one row, however often they come: a row that outlives a later one came back after that.
    """
    # Of facts that were first seen in one moment those that outlast it come last, whatever the order of the rows.
    ordered = sorted(rows, key=lambda row: (row.first_seen_at, row.last_seen_at, row.digest))
    turns = [(row.first_seen_at, row) for row in ordered]
    for before, between in pairwise(ordered):
        if before.last_seen_at > between.last_seen_at:
            turns.append((between.last_seen_at, before))
    turns.sort(key=lambda turn: turn[0])
    return turns


# Facts never change, so what was said of two holds; a year of one host has some changes, and every chart marks them.
_CACHE_SIZE = 20_000
_Key = tuple[str, str, str | None, frozenset[str]]
_cache: dict[_Key, Differences] = {}
_NONE = Differences("", ())


def differences_between(
    digests: tuple[str, str], documents: Documents, used: frozenset[str] = frozenset()
) -> Differences:
    """Return what differs between two documents, which are compared once."""
    key = (*digests, get_language(), used)
    if (known := _cache.get(key)) is not None:
        return known
    by_digest, (before, after) = documents(), digests
    # Synthetic hosts may be removed between the two statements.
    if before not in by_digest or after not in by_digest:
        return _NONE
    facts = fact_differences(by_digest[before], by_digest[after], used)
    words = pgettext("between parts of a sentence", "; ").join(fact.words for fact in facts)
    return remember(_cache, key, Differences(words, facts), most=_CACHE_SIZE)


def are_compared(digests: tuple[str, str], used: frozenset[str]) -> bool:
    """Tell whether `differences_between` needs no documents of these two."""
    return (*digests, get_language(), used) in _cache
