"""The facts of a run's two hosts side by side, with what differs marked."""

from dataclasses import dataclass
from typing import Any

from benchweb.web.facts import facts_groups

# Two hosts always differ in these: marking them would hide what matters.
_ALWAYS_DIFFERENT = {"Host name", "Boot id", "Addresses"}


@dataclass(frozen=True)
class FactsLine:
    """One fact of both hosts; an empty value is one that this host doesn't tell."""

    label: str
    source: str
    sink: str
    differs: bool


@dataclass(frozen=True)
class FactsRows:
    """A heading and its lines."""

    title: str
    lines: list[FactsLine]


def facts_side_by_side(source: dict[str, Any], sink: dict[str, Any]) -> list[FactsRows]:
    """Pair two facts documents line by line, in the source's order and then what only the sink has."""
    left = {group.title: dict(group.lines) for group in facts_groups(source)}
    right = {group.title: dict(group.lines) for group in facts_groups(sink)}
    return [_rows(title, left.get(title, {}), right.get(title, {})) for title in [*left, *(right.keys() - left.keys())]]


def _rows(title: str, left: dict[str, str], right: dict[str, str]) -> FactsRows:
    labels = dict.fromkeys([*left, *right])
    return FactsRows(title, [_line(label, left.get(label, ""), right.get(label, "")) for label in labels])


def _line(label: str, source: str, sink: str) -> FactsLine:
    return FactsLine(label, source, sink, source != sink and label not in _ALWAYS_DIFFERENT)
