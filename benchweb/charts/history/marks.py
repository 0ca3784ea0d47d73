"""Flags on the time axis: people's notes, and facts of the hosts that changed; and the speed of the hosts' links."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from benchweb.annotations.selectors import AnnotationRow, annotations_between
from benchweb.charts.history.lines import HistoryLine, LineEnd
from benchweb.common.cache import remember
from benchweb.common.rows import fetch
from benchweb.documents.charts import ChartMark
from benchweb.documents.moments import rfc3339, rfc3339_all
from benchweb.documents.references import Label, free_text, host_ref
from benchweb.hosts.facts.changes import Documents, SeenFacts, fact_changes, fact_turns
from benchweb.hosts.facts.differences import Document
from benchweb.hosts.facts.interfaces import traffic_of
from benchweb.hosts.facts.links import reported_link_bps
from benchweb.hosts.models import Facts

_MOST_FACTS = 2_000
_FACTS_SQL = """
SELECT endpoint_id, digest, first_seen_at, last_seen_at FROM hosts_facts
WHERE endpoint_id = ANY(%(endpoints)s) AND last_seen_at >= %(first)s AND first_seen_at <= %(last)s
ORDER BY last_seen_at DESC LIMIT %(most_facts)s
"""
# Facts never change, so neither does the speed that they tell of the interface with an address; 0 where they don't.
_CACHE_SIZE = 5_000
_speeds: dict[tuple[str, str], float] = {}


class _Row(NamedTuple):
    """One row of an endpoint's facts."""

    endpoint_id: int
    digest: str
    first_seen_at: datetime
    last_seen_at: datetime


class FlaggedChange(NamedTuple):
    """Facts of a host that changed; endpoints of one host that tell the same are one change."""

    at: datetime
    host: int
    name: str
    words: str


@dataclass(frozen=True)
class HostChanges:
    """What changed, in order of time, and by endpoint its link's speeds in bit/s, each with the time when it began."""

    changes: list[FlaggedChange]
    links: dict[int, list[tuple[datetime, float]]]


@dataclass(frozen=True)
class TimeMarks:
    """All that is flagged on a time axis."""

    annotations: list[AnnotationRow]
    changes: list[FlaggedChange]


def annotations_on(lines: Sequence[HistoryLine], span: tuple[datetime, datetime]) -> list[AnnotationRow]:
    """Return people's notes on the lines' hosts, environments and pairs."""
    return annotations_between(
        *span,
        environments={line.pair.environment_id for line in lines},
        hosts={end.host_id for line in lines for end in line.pair.ends},
        pairs={line.pair.pk for line in lines},
    )


def facts_of(lines: Sequence[HistoryLine], span: tuple[datetime, datetime]) -> HostChanges:
    """Return what changed on the lines' hosts."""
    endpoints = {end.pk: end for line in lines for end in line.pair.ends}
    values = {"endpoints": list(endpoints), "first": span[0], "last": span[1], "most_facts": _MOST_FACTS}
    facts: dict[int, list[SeenFacts]] = {pk: [] for pk in endpoints}
    for row in fetch(_Row, _FACTS_SQL, values):
        facts[row.endpoint_id].append(SeenFacts(row.digest, row.first_seen_at, row.last_seen_at))
    documents = _Documents(list(endpoints), {each.digest for seen in facts.values() for each in seen})
    changes = {
        FlaggedChange(change.at, end.host_id, end.host_name, change.words)
        for pk, end in endpoints.items()
        for change in fact_changes(facts[pk], documents, _used(end))
        if span[0] <= change.at <= span[1]
    }
    links = {pk: _speeds_of(seen, endpoints[pk].address, documents) for pk, seen in facts.items()}
    return HostChanges(sorted(changes, key=lambda each: (each.at, each.name)), links)


def marks_of(marks: TimeMarks, lines: Iterable[HistoryLine]) -> list[ChartMark]:
    """Return the flags of a chart of these lines, in order of time."""
    lines = list(lines)
    hosts = {end.host_id for line in lines for end in line.pair.ends}
    changes = [change for change in marks.changes if change.host in hosts]
    times = rfc3339_all([change.at for change in changes])
    found = [
        ChartMark(at=at, label=Label(host_ref(change.host, change.name), ": ", free_text(change.words)), kind="fact")
        for change, at in zip(changes, times, strict=True)
    ]
    found += [
        ChartMark(
            at=rfc3339(annotation.at),
            until=rfc3339(annotation.until) if annotation.until else "",
            label=free_text(annotation.text),
            kind="note",
        )
        for annotation in marks.annotations
        if concerns(annotation, lines)
    ]
    return sorted(found, key=lambda mark: mark.at)


def concerns(annotation: AnnotationRow, lines: Iterable[HistoryLine]) -> bool:
    """Tell whether a note is about any of these lines; one without environment, host and pair is about all."""
    if annotation.environment_id is None and annotation.host_id is None and annotation.pair_id is None:
        return True
    return any(
        annotation.pair_id == line.pair.pk
        or annotation.environment_id == line.pair.environment_id
        or annotation.host_id in [end.host_id for end in line.pair.ends]
        for line in lines
    )


class _Documents:
    """Documents by digest, read at the first call: mostly what they say is cached."""

    def __init__(self, endpoints: Sequence[int], digests: Iterable[str]) -> None:
        self._rows = Facts.objects.filter(endpoint__in=endpoints, digest__in=list(digests))
        self._by_digest: dict[str, Document] | None = None

    def __call__(self) -> Mapping[str, Document]:
        if self._by_digest is None:
            rows = self._rows.order_by("digest").distinct("digest")
            self._by_digest = dict(rows.values_list("digest", "document"))
        return self._by_digest


def _used(end: LineEnd) -> frozenset[str]:
    return traffic_of(end.data_address, end.control_address, end.bind_device)


def _speeds_of(facts: Sequence[SeenFacts], address: str, documents: Documents) -> list[tuple[datetime, float]]:
    """Return the speeds of an endpoint's link in order of time, each with when it was first seen."""
    speeds: list[tuple[datetime, float]] = []
    for at, seen in fact_turns(facts):
        speed = _link_bps(seen.digest, address, documents)
        if speed is not None and (not speeds or speeds[-1][1] != speed):
            speeds.append((at, speed))
    return speeds


def _link_bps(digest: str, address: str, documents: Documents) -> float | None:
    """Return the speed of the interface that holds the endpoint's address, as facts tell it."""
    speed = _speeds.get((digest, address))
    if speed is None:
        by_digest = documents()
        # Synthetic hosts may be removed between the two statements.
        if digest not in by_digest:
            return None
        speed = reported_link_bps(by_digest[digest], address) or 0.0
        remember(_speeds, (digest, address), speed, most=_CACHE_SIZE)
    return speed or None
