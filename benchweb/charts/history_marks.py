"""Flags on the time axis: people's notes, and facts of the hosts that changed; and the speed of the hosts' links."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from benchweb.charts.fact_changes import SeenFacts, fact_changes
from benchweb.charts.history_series import HistoryLine
from benchweb.charts.moments import rfc3339
from benchweb.charts.spec import ChartMark
from benchweb.hosts.models import Endpoint, Facts
from benchweb.regressions.models import Annotation
from benchweb.regressions.selectors import annotations_between

_MOST_FACTS = 2_000


@dataclass(frozen=True)
class Change:
    """Facts of a host that changed; endpoints of one host that tell the same are one change."""

    at: datetime
    host: int
    name: str
    words: str


@dataclass(frozen=True)
class Marks:
    """All that is flagged, and the latest known speed of each endpoint's link in bit/s."""

    notes: list[Annotation]
    changes: list[Change]
    links: dict[int, float]


def history_marks(lines: Sequence[HistoryLine], shown: tuple[datetime, datetime]) -> Marks:
    """Read what concerns the lines' hosts, environments and pairs; two queries."""
    endpoints = {end.pk: end for line in lines for end in (line.pair.source, line.pair.sink)}
    notes = annotations_between(
        *shown,
        environments={line.pair.environment_id for line in lines},
        hosts={end.host_id for end in endpoints.values()},
        pairs={line.pair.pk for line in lines},
    )
    facts = _facts(endpoints, shown)
    changes = {
        Change(change.at, end.host_id, end.host.name, change.words)
        for pk, end in endpoints.items()
        for change in fact_changes(facts[pk])
        if shown[0] <= change.at <= shown[1]
    }
    links = {pk: speed for pk, end in endpoints.items() if (speed := _link_bps(end, facts[pk]))}
    return Marks(list(notes), sorted(changes, key=lambda each: (each.at, each.name)), links)


def marks_of(marks: Marks, lines: Iterable[HistoryLine]) -> list[ChartMark]:
    """Give the flags of a chart of these lines, in order of time."""
    lines = list(lines)
    hosts = {end.host_id for line in lines for end in (line.pair.source, line.pair.sink)}
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


def concerns(note: Annotation, lines: Iterable[HistoryLine]) -> bool:
    """Tell whether a note is about any of these lines; one without environment, host and pair is about all."""
    if note.environment_id is None and note.host_id is None and note.pair_id is None:
        return True
    return any(
        note.pair_id == line.pair.pk
        or note.environment_id == line.pair.environment_id
        or note.host_id in (line.pair.source.host_id, line.pair.sink.host_id)
        for line in lines
    )


def _facts(endpoints: dict[int, Endpoint], shown: tuple[datetime, datetime]) -> dict[int, list[SeenFacts]]:
    rows = Facts.objects.filter(endpoint__in=endpoints, last_seen_at__gte=shown[0], first_seen_at__lte=shown[1])
    found: dict[int, list[SeenFacts]] = {pk: [] for pk in endpoints}
    columns = rows.order_by("-last_seen_at").values_list("endpoint_id", "document", "first_seen_at", "last_seen_at")
    for endpoint_id, *row in columns[:_MOST_FACTS]:
        found[endpoint_id].append(SeenFacts(*row))
    return found


def _link_bps(endpoint: Endpoint, facts: Sequence[SeenFacts]) -> float | None:
    """Give the speed of the interface that holds the endpoint's address, as its latest facts tell it."""
    address = endpoint.data_address or endpoint.control_address.rpartition(":")[0].strip("[]")
    for row in facts[:1]:
        for interface in row.document.get("interfaces") or []:
            if address in (interface.get("addresses") or []) and interface.get("speed_bps"):
                return float(interface["speed_bps"])
    return None
