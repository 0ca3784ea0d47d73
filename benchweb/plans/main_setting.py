"""The setting of a sweep that figures are told at, the same from run to run: the plan's size, else the middle one."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from benchweb.catalog import Kind, catalog
from benchweb.plans.expansion import combinations


def main_params(kind: Kind, tests: Sequence[Mapping[str, Any]], size_bytes: float | None = None) -> Mapping[str, Any]:
    """Return which of a kind's tests, given by their parameters, is the one that stands for all of them.

    Of each swept parameter it has the middle value, of two the larger; of words the default, else the first. Of the
    size that the kind sweeps it has `size_bytes` where that is among its values. What the tests gave plays no part.
    """
    columns = {name: [_value(kind, test, name) for test in tests] for name in kind.parameters}
    swept = {name: _ordered(values) for name, values in columns.items() if len(set(map(_key, values))) > 1}
    wanted = {name: _wanted(kind, name, values, size_bytes) for name, values in swept.items()}

    def distance(index: int) -> int:
        return sum(abs(swept[name].index(columns[name][index]) - at) for name, at in wanted.items())

    return tests[min(range(len(tests)), key=distance)]


def main_identity(steps: Sequence[Mapping[str, Any]], size_bytes: float | None = None) -> tuple[str, dict[str, Any]]:
    """Return the kind of a plan's first step, and the identity parameters that its main figure has."""
    first = str(steps[0]["kind"])
    kind = catalog().kinds.get(first)
    if kind is None:
        return first, {}
    tests = [params for step in steps if step["kind"] == first for params in combinations(step.get("params", {}))]
    return first, kind.identity(dict(main_params(kind, tests, size_bytes)))


def sizes_to_choose(steps: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the sizes that the steps sweep over, of which one may be chosen for the main figures."""
    sizes: set[int] = set()
    for step in steps:
        kind = catalog().kinds.get(step["kind"])
        values = step.get("params", {}).get(kind.swept_size) if kind and kind.swept_size else None
        sizes |= set(values) if isinstance(values, list) else set()
    return sorted(sizes)


def _value(kind: Kind, test: Mapping[str, Any], name: str) -> Any:
    return test.get(name, kind.parameters[name].default)


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _ordered(values: Sequence[Any]) -> list[Any]:
    """Return each value once: numbers by size, others in the order of the plan."""
    once = list({_key(value): value for value in values}.values())
    return sorted(once) if all(map(_is_number, once)) else once


def _wanted(kind: Kind, name: str, values: Sequence[Any], size_bytes: float | None) -> int:
    if name == kind.swept_size and size_bytes in values:
        return values.index(size_bytes)
    if all(map(_is_number, values)):
        return len(values) // 2
    default = kind.parameters[name].default
    return values.index(default) if default in values else 0
