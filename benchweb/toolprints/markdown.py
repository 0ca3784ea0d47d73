"""A run as Markdown: a table for each kind, a row for each trial, under the catalog's names with units.

What `benchweb.toolformats.own_table` reads: parameters stand before the repetition, metrics behind it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchweb.toolprints.printed import Measurement


def run_markdown(title: str, measurements: Sequence[Measurement], units: Mapping[str, str]) -> Iterator[str]:
    """Return a run's title and tables; what wasn't measured is an empty cell."""
    yield f"# {escaped(title)}\n"
    for kind in dict.fromkeys(measured.kind for measured in measurements):
        rows = [measured for measured in measurements if measured.kind == kind]
        params = list(dict.fromkeys(name for row in rows for name in row.given))
        metrics = list(dict.fromkeys(name for row in rows for name in row.metrics))
        heads = ["kind", *map(_cell, params), "repetition", *(_head(name, units.get(name, "")) for name in metrics)]
        yield "\n" + row_of(heads) + row_of(["---"] * (len(params) + 2) + ["---:"] * len(metrics))
        for row in rows:
            values = (row.given.get(name) for name in params)
            figures = (row.metrics.get(name) for name in metrics)
            cells = [_cell(kind), *map(_value, values), str(row.repetition), *map(_figure, figures)]
            yield row_of(cells)


def row_of(cells: Iterable[str]) -> str:
    """Return a row of a table, with its end of line."""
    return f"| {' | '.join(cells)} |\n"


def escaped(text: str) -> str:
    """Write a text so that it stays one cell, and that nothing in it is markup."""
    plain = " ".join(text.split())
    for mark in ("\\", "|", "`", "*", "_", "<", "[", "]"):
        plain = plain.replace(mark, f"\\{mark}")
    return plain


def _head(name: str, unit: str) -> str:
    return _cell(f"{name} ({unit})" if unit else name)


def _value(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or _is_json(value):
        value = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return _cell(str(value))


def _cell(text: str) -> str:
    """Write a text so that it stays one cell, without markup, and is read again as it was."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "\\<")


def _figure(value: float | None) -> str:
    return "" if value is None else repr(value)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
