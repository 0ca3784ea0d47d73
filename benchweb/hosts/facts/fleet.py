"""Changes of facts on all hosts, the newest first, page by page."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from django.db.models import Q
from django.utils import timezone

from benchweb.hosts.facts.changes import Differences, SeenFacts, are_compared, differences_between, fact_turns
from benchweb.hosts.facts.differences import Document, FactDifference
from benchweb.hosts.facts.interfaces import used_by
from benchweb.hosts.models import Endpoint, Facts, Pair

# Documents are some kB each: of a fleet that reboots every night a page reads no more of them.
_MOST_COMPARED = 1_000
# An upper bound of rows without their documents; the newest of them.
_MOST_ROWS = 50_000
# What is looked at first where no period is named: rows of years take long to read.
_RECENT = timedelta(days=90)


class ChangePlace(NamedTuple):
    """Where a change stands among all of them."""

    at: datetime
    endpoint_id: int
    # Among the endpoint's of the same time: facts that were seen once only came and went in one moment.
    number: int = 0


@dataclass(frozen=True)
class ChangesWanted:
    """Which changes; None and empty narrow nothing. Of a host that is named also when it is archived."""

    host: int | None = None
    environment: int | None = None
    # One of differences.FACTS.
    fact: str = ""
    first: datetime | None = None
    # Before it.
    last: datetime | None = None


@dataclass(frozen=True)
class EndpointFactsChange:
    """A change of an endpoint's facts when it was first seen; of a filter by fact only that fact's differences."""

    place: ChangePlace
    endpoint: Endpoint
    differences: Sequence[FactDifference]


@dataclass(frozen=True)
class ChangesPage:
    """Changes, the newest first; `following` is where the next page begins behind, None at the end."""

    changes: list[EndpointFactsChange]
    following: ChangePlace | None


class _Turn(NamedTuple):
    place: ChangePlace
    digests: tuple[str, str]


def changes_page(wanted: ChangesWanted, *, after: ChangePlace | None = None, most: int) -> ChangesPage:
    """Return so many changes at most, those behind `after`; at most nine queries, with a period five."""
    if wanted.first is None:
        end = min(at for at in (after and after.at, wanted.last, timezone.now()) if at)
        recent = _page(replace(wanted, first=end - _RECENT), after, most)
        if recent.following:
            return recent
    return _page(wanted, after, most)


def _page(wanted: ChangesWanted, after: ChangePlace | None, most: int) -> ChangesPage:
    turns = sorted(_turns(wanted), reverse=True)
    turns = [turn for turn in turns if after is None or turn.place < after]
    changes: list[EndpointFactsChange] = []
    # First as many as are likely to fill a page: most changes have words.
    for part in (turns[: most + 1], turns[most + 1 : _MOST_COMPARED]):
        for change in _changes(part, wanted.fact):
            if len(changes) == most:
                return ChangesPage(changes, changes[-1].place)
            changes.append(change)
    is_cut = len(turns) > _MOST_COMPARED
    return ChangesPage(changes, turns[_MOST_COMPARED - 1].place if is_cut else None)


def _turns(wanted: ChangesWanted) -> Iterator[_Turn]:
    """Yield the times at which another document was seen, within the period."""
    for endpoint_id, rows in _rows(wanted).items():
        # Counted among those of one time: among all of them it would depend on how far back the rows go.
        numbers: dict[datetime, int] = defaultdict(int)
        for (_at, before), (at, after) in pairwise(fact_turns(rows)):
            number = numbers[at]
            numbers[at] += 1
            if (wanted.first is None or at >= wanted.first) and (wanted.last is None or at < wanted.last):
                yield _Turn(ChangePlace(at, endpoint_id, number), (before.digest, after.digest))


def _rows(wanted: ChangesWanted) -> Mapping[int, list[SeenFacts]]:
    facts = Facts.objects.filter(_of_endpoints(wanted))
    within = facts.filter(first_seen_at__lt=wanted.last) if wanted.last else facts
    within = within.filter(last_seen_at__gte=wanted.first) if wanted.first else within
    rows = _by_endpoint(within.order_by("-last_seen_at").values_list(*_ROW)[:_MOST_ROWS])
    if wanted.first is None:
        return rows
    # What was true before the first of them, where that began within the period.
    begun = [pk for pk, seen in rows.items() if min(row.first_seen_at for row in seen) >= wanted.first]
    earlier = Facts.objects.filter(endpoint__in=begun, last_seen_at__lt=wanted.first)
    earlier = earlier.order_by("endpoint_id", "-last_seen_at").distinct("endpoint_id")
    for pk, seen in _by_endpoint(earlier.values_list(*_ROW)).items():
        rows[pk] += seen
    return rows


_ROW = ("endpoint_id", "digest", "first_seen_at", "last_seen_at")


def _by_endpoint(rows: Iterable[tuple[int, str, datetime, datetime]]) -> dict[int, list[SeenFacts]]:
    by_endpoint: dict[int, list[SeenFacts]] = defaultdict(list)
    for endpoint_id, digest, first_seen_at, last_seen_at in rows:
        by_endpoint[endpoint_id].append(SeenFacts(digest, first_seen_at, last_seen_at))
    return by_endpoint


def _of_endpoints(wanted: ChangesWanted) -> Q:
    condition = Q(endpoint__host=wanted.host) if wanted.host is not None else Q(endpoint__host__archived_at=None)
    if wanted.environment is not None:
        pairs = Pair.objects.filter(environment=wanted.environment, archived_at=None)
        condition &= Q(endpoint__in=pairs.values("source")) | Q(endpoint__in=pairs.values("sink"))
    return condition


def _changes(turns: Sequence[_Turn], fact: str) -> Iterator[EndpointFactsChange]:
    """Compare documents, all of them read at once; leave out what says nothing of the fact."""
    endpoints = Endpoint.objects.select_related("host").in_bulk({turn.place.endpoint_id for turn in turns})
    documents = _Documents(turns, endpoints)
    for turn in turns:
        # Synthetic hosts may be removed between two statements.
        if (endpoint := endpoints.get(turn.place.endpoint_id)) is None:
            continue
        found: Differences = differences_between(turn.digests, documents, used_by(endpoint))
        differences = [difference for difference in found.facts if fact in ("", difference.fact)]
        if differences:
            yield EndpointFactsChange(turn.place, endpoint, differences)


class _Documents:
    """Documents by digest, read at the first call: mostly what they say is cached."""

    def __init__(self, turns: Sequence[_Turn], endpoints: Mapping[int, Endpoint]) -> None:
        self._turns, self._endpoints = turns, endpoints
        self._by_digest: dict[str, Document] | None = None

    def __call__(self) -> Mapping[str, Document]:
        if self._by_digest is None:
            unknown = [turn for turn in self._turns if self._is_unknown(turn)]
            rows = Facts.objects.filter(
                endpoint__in={turn.place.endpoint_id for turn in unknown},
                digest__in={digest for turn in unknown for digest in turn.digests},
            )
            self._by_digest = dict(rows.order_by("digest").distinct("digest").values_list("digest", "document"))
        return self._by_digest

    def _is_unknown(self, turn: _Turn) -> bool:
        endpoint = self._endpoints.get(turn.place.endpoint_id)
        return endpoint is not None and not are_compared(turn.digests, used_by(endpoint))
