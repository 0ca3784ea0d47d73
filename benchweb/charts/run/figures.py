"""Figures and tables out of a result, labelled by their names, which end in their units."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

_UNITS = {"seconds": "s", "bytes": "B", "bps": "bit/s", "hertz": "Hz", "ratio": "ratio", "second": "/s", "cpus": "CPUs"}
_ACRONYMS = {"cpu", "mtu", "rtt"}
# What is counted says so itself.
_COUNTED = {"packets": "pkt", "dropped": "pkt", "retransmits": "segments"}


@dataclass(frozen=True)
class TrialFigure:
    """A labelled value; None is missing."""

    label: str
    value: Any
    unit: str = ""
    threshold: float | None = None


@dataclass(frozen=True)
class Grid:
    """A table: columns are (label, unit), cells raw values or None."""

    columns: list[tuple[str, str]]
    rows: list[tuple[str, list[Any]]]
    hidden: int = 0


def label_and_unit(key: str) -> tuple[str, str]:
    """Read label and unit from a name that ends in its unit, as all names of the result do."""
    words = key.split("_")
    if words[-1] in _COUNTED:
        return _capitalised(words), _COUNTED[words[-1]]
    unit = _UNITS.get(words[-1], "")
    if words[-2:] == ["per", "second"]:
        words, unit = words[:-2], "pkt/s" if words[-3] == "packets" else "/s"
    elif unit:
        words = words[:-1]
    return _capitalised(words), unit


def figure(key: str, value: Any) -> TrialFigure:
    """Return a value by the label and unit of its name."""
    label, unit = label_and_unit(key)
    return TrialFigure(label, value, unit)


def grid(rows: Iterable[tuple[str, Mapping[str, Any]]], *, unit: str = "", hidden: int = 0) -> Grid:
    """Make a table of rows with differing keys: numbers only, a column for each key that any row has."""
    numbers = [(name, {key: value for key, value in row.items() if is_number(value)}) for name, row in rows]
    keys = dict.fromkeys(key for _, row in numbers for key in row)
    columns = [_column(key, unit) for key in keys]
    return Grid(columns, [(name, [row.get(key) for key in keys]) for name, row in numbers], hidden)


def is_number(value: Any) -> bool:
    """Tell whether a member of a document is a figure."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _capitalised(words: list[str]) -> str:
    label = " ".join([word.upper() if word in _ACRONYMS else word for word in words])
    return _(label[:1].upper() + label[1:])


def _column(key: str, unit: str) -> tuple[str, str]:
    label, own_unit = label_and_unit(key)
    return label, unit or own_unit
