"""The numbers that decide stand once, and docs/explanation/regressions.md says what they are."""

import ast
import re
from datetime import timedelta
from pathlib import Path

from benchweb.regressions import deciding as of_alerts
from benchweb.statistics import deciding as of_statistics

_HOUSE = Path(__file__).parents[2]
_ROW = re.compile(r"^\| `([A-Z_]+)` \| ([^|]+) \| [^|]+ \| [^|]+ \|$", re.MULTILINE)
_DAY, _MINUTE = timedelta(days=1), timedelta(minutes=1)


def numbers() -> dict[str, float | timedelta]:
    both = {**vars(of_statistics), **vars(of_alerts)}
    return {name: value for name, value in both.items() if name.isupper()}


def shown(value: float | timedelta) -> str:
    if isinstance(value, timedelta):
        return f"{value // _MINUTE} min" if value < _DAY else f"{value // _DAY} d"
    return f"{value:g}"


def test_the_docs_tell_each_number_that_decides() -> None:
    table = (_HOUSE / "docs/explanation/regressions.md").read_text().partition("## What decides")[2]
    assert _ROW.findall(table) == [(name, shown(value)) for name, value in numbers().items()]


def test_no_other_module_has_such_a_number_of_its_own() -> None:
    files = [file for room in ("statistics", "regressions") for file in (_HOUSE / "benchweb" / room).rglob("*.py")]
    trees = {file: ast.parse(file.read_bytes()) for file in files if file.name != "deciding.py"}
    own = re.compile("|".join(("_?ALPHA", "_?FLOOR_RATIO", "_?LEAST_RATIO", *(f"_?{name}" for name in numbers()))))
    decided = (of_statistics.CONFIDENCE, of_statistics.FALSE_DISCOVERY_RATE)
    again = {
        (file.name, node.lineno)
        for file, tree in trees.items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and own.fullmatch(node.id))
        or (isinstance(node, ast.Constant) and node.value in decided)
    }
    assert again == set()
