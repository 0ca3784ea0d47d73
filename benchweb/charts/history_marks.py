"""Flags on the time axis: people's notes, and facts of the hosts that changed; and the speed of the hosts' links."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from benchweb.charts.fact_changes import SeenFacts, fact_changes
from benchweb.charts.history_lines import HistoryLine, LineEnd
from benchweb.charts.moments import rfc3339
from benchweb.charts.spec import ChartMark
from benchweb.regressions.selectors import Note, annotations_between
from benchweb.rows import Reading, Rows, document

_MOST_FACTS = 2_000
_FACTS_SQL = """
SELECT endpoint_id, document, first_seen_at, last_seen_at FROM hosts_facts
WHERE endpoint_id = ANY(%(endpoints)s) AND last_seen_at >= %(first)s AND first_seen_at <= %(last)s
ORDER BY last_seen_at DESC LIMIT %(most)s
"""


@dataclass(frozen=True)
class Change:
    """Facts of a host that changed; endpoints of one host that tell the same are one change."""

    at: datetime
    host: int
    name: str
    words: str


@dataclass(frozen=True)
class Facts:
    """What changed, in order of time, and the latest known speed of each endpoint's link in bit/s."""

    changes: list[Change]
    links: dict[int, float]


@dataclass(frozen=True)
class Marks:
    """All that is flagged on a time axis."""

    notes: list[Note]
    changes: list[Change]


def notes_on(lines: Sequence[HistoryLine], shown: tuple[datetime, datetime]) -> Reading[list[Note]]:
    """Ask for people's notes on the lines' hosts, environments and pairs."""
    return annotations_between(
        *shown,
        environments={line.pair.environment_id for line in lines},
        hosts={end.host_id for line in lines for end in line.pair.ends},
        pairs={line.pair.pk for line in lines},
    )


def facts_of(lines: Sequence[HistoryLine], shown: tuple[datetime, datetime]) -> Reading[Facts]:
    """Ask for what was seen of the lines' hosts."""
    endpoints = {end.pk: end for line in lines for end in line.pair.ends}
    values = {"endpoints": list(endpoints), "first": shown[0], "last": shown[1], "most": _MOST_FACTS}
    return Reading(_FACTS_SQL, values, partial(_facts, endpoints, shown))


def marks_of(marks: Marks, lines: Iterable[HistoryLine]) -> list[ChartMark]:
    """Give the flags of a chart of these lines, in order of time."""
    lines = list(lines)
    hosts = {end.host_id for line in lines for end in line.pair.ends}
    found = [
        ChartMark(at=rfc3339(each.at), label=f"{each.name}: {each.words}", kind="fact")
        for each in marks.changes
        if each.host in hosts
    ]
    found += [
        ChartMark(at=rfc3339(note.at), until=rfc3339(note.until) if note.until else "", label=note.text, kind="note")
        for note in marks.notes
        if concerns(note, lines)
    ]
    return sorted(found, key=lambda mark: mark.at)


def concerns(note: Note, lines: Iterable[HistoryLine]) -> bool:
    """Tell whether a note is about any of these lines; one without environment, host and pair is about all."""
    if note.environment_id is None and note.host_id is None and note.pair_id is None:
        return True
    return any(
        note.pair_id == line.pair.pk
        or note.environment_id == line.pair.environment_id
        or note.host_id in [end.host_id for end in line.pair.ends]
        for line in lines
    )


def _facts(endpoints: Mapping[int, LineEnd], shown: tuple[datetime, datetime], rows: Rows) -> Facts:
    facts: dict[int, list[SeenFacts]] = {pk: [] for pk in endpoints}
    for endpoint_id, told, first, last in rows:
        facts[endpoint_id].append(SeenFacts(document(told), first, last))
    changes = {
        Change(change.at, end.host_id, end.host_name, change.words)
        for pk, end in endpoints.items()
        for change in fact_changes(facts[pk])
        if shown[0] <= change.at <= shown[1]
    }
    links = {pk: speed for pk, end in endpoints.items() if (speed := _link_bps(end, facts[pk]))}
    return Facts(sorted(changes, key=lambda each: (each.at, each.name)), links)


def _link_bps(endpoint: LineEnd, facts: Sequence[SeenFacts]) -> float | None:
    """Give the speed of the interface that holds the endpoint's address, as its latest facts tell it."""
    for row in facts[:1]:
        for interface in row.document.get("interfaces") or []:
            if endpoint.address in (interface.get("addresses") or []) and interface.get("speed_bps"):
                return float(interface["speed_bps"])
    return None
