"""The facts of a run's two hosts side by side, or of several runs, with what differs marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from benchweb.catalog.reasons import Reason, joined
from benchweb.web.facts.page import facts_groups

# Two hosts always differ in these: marking them would hide what matters.
_ALWAYS_DIFFERENT = {"Host name", "Boot id", "Addresses"}


@dataclass(frozen=True)
class FactsLine:
    """One fact of both hosts; an empty value is one that this host doesn't tell."""

    label: str
    source: str
    sink: str
    differs: bool

    @property
    def is_shared(self) -> bool:
        """Tell whether both hosts tell the same, word for word."""
        return self.source == self.sink


@dataclass(frozen=True)
class FactsRows:
    """A heading and its lines."""

    title: str
    lines: list[FactsLine]

    @property
    def differing(self) -> int:
        return sum(line.differs for line in self.lines)


def facts_side_by_side(source: dict[str, Any], sink: dict[str, Any]) -> list[FactsRows]:
    """Pair two facts documents line by line, in the source's order and then what only the sink has."""
    left = {group.title: _lines_by_label(group.lines) for group in facts_groups(source)}
    right = {group.title: _lines_by_label(group.lines) for group in facts_groups(sink)}
    return [_rows(title, left.get(title, {}), right.get(title, {})) for title in [*left, *(right.keys() - left.keys())]]


def _lines_by_label(lines: Sequence[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Return lines by label; what a host doesn't tell has none, and is its own key."""
    return {label or text: (label, text) for label, text in lines}


def _rows(title: str, left: dict[str, tuple[str, str]], right: dict[str, tuple[str, str]]) -> FactsRows:
    nothing = ("", "")
    lines = [
        _line((left.get(key) or right[key])[0], left.get(key, nothing)[1], right.get(key, nothing)[1])
        for key in dict.fromkeys([*left, *right])
    ]
    return FactsRows(title, lines)


def _line(label: str, source: str, sink: str) -> FactsLine:
    return FactsLine(label, source, sink, _items(source) != _items(sink) and label not in _ALWAYS_DIFFERENT)


# What explains a changed figure most often comes first; the rest keeps the order of the facts.
_FIRST = (
    "Kernel",
    "Engine version",
    "Boot id",
    "Governor",
    "MTU",
    "Offloads on",
    "Congestion control",
    "Driver",
    "Speed",
)
# What is off is told by what is on, and what a host didn't tell is no difference.
_IGNORED = {"Offloads off", "Missing", "Available"}


@dataclass(frozen=True)
class HostFacts:
    """The facts of an endpoint in a run; an empty document is one that isn't known."""

    endpoint: int
    document: dict[str, Any]


@dataclass(frozen=True)
class ChangedFact:
    """A fact that isn't the same in all runs; an empty value is one that isn't known."""

    label: str
    # Which hosts it is told of: source, sink or both.
    ends: str
    values: list[str]

    @property
    def is_changed(self) -> bool:
        """Tell whether runs that told it told something else, and not only some of them anything."""
        return len({_items(value) for value in self.values if value}) > 1

    @property
    def changed(self) -> list[bool]:
        """Tell of each run whether it differs from the first."""
        return ["" not in (value, self.values[0]) and value != self.values[0] for value in self.values]


def changed_facts(sources: Sequence[HostFacts], sinks: Sequence[HostFacts]) -> list[ChangedFact]:
    """Return the facts that differ between runs, the baseline's first; once where both hosts tell the same."""
    at_source, at_sink = _changed_labels(sources), _changed_labels(sinks)
    changes = [
        ChangedFact(label, "both" if at_sink.get(label) == values else "source", values)
        for label, values in at_source.items()
    ]
    changes += [ChangedFact(label, "sink", value) for label, value in at_sink.items() if at_source.get(label) != value]
    # What only some runs told comes last: it may have been there in the others too.
    return sorted(changes, key=lambda fact: (not fact.is_changed, _rank(fact.label)))


def _changed_labels(hosts: Sequence[HostFacts]) -> dict[str, list[str]]:
    lines_of_hosts = [_values_by_label(host.document) for host in hosts]
    one_host = len({host.endpoint for host in hosts if host.document}) == 1
    changed = {}
    for label in dict.fromkeys(label for lines in lines_of_hosts for label in lines):
        values = [lines.get(label, "") for lines in lines_of_hosts]
        different = {_items(value) for value, host in zip(values, hosts, strict=True) if host.document}
        if len(different) > 1 and (one_host or label not in _ALWAYS_DIFFERENT):
            changed[label] = _without_common(values)
    return changed


def _values_by_label(document: dict[str, Any]) -> dict[str, str]:
    return {
        joined([group.title.params["interface"], label]) if isinstance(group.title, Reason) else label: value
        for group in facts_groups(document)
        for label, value in group.lines
        if label not in _IGNORED and group.title not in _IGNORED
    }


def _without_common(values: list[str]) -> list[str]:
    """Leave out of lists, such as the offloads that are on, what all of them have; one that has no more lacks it."""
    lists = [_items(value) for value in values if value]
    common, every = frozenset.intersection(*lists), frozenset.union(*lists)
    # Those that tell of it tell the same: what differs is that one doesn't.
    if common == every or not any(len(texts) > 1 for texts in lists):
        return values
    return [_own(_items(value) - common, every - common) if value else "" for value in values]


def _items(value: str) -> frozenset[str]:
    """Take a fact as a list, which is the same in any order."""
    return frozenset(value.split(", "))


def _own(items: frozenset[str], others: frozenset[str]) -> str:
    return ", ".join(sorted(items)) or _("without %(items)s") % {"items": ", ".join(sorted(others))}


def _rank(label: str) -> int:
    return next((index for index, word in enumerate(_FIRST) if label.endswith(word)), len(_FIRST))
