"""The house's own rules: a layer for every module, one meaning for every class name."""

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

_HOUSE = Path(__file__).parent.parent
# Each root's children must stand in a layer; `benchweb.common` is no layer itself: its modules are.
_LAYERED = ("benchweb", "benchweb.common", "benchweb.web", "benchweb.charts", "workers")
# Django's words for what belongs to a command or a model: `Meta` anywhere, `Delivery.State` beside `Alert.State`.
_DJANGO_NAMES = {"Command"}
_DJANGO_NESTED_NAMES = {"Meta", "State", "Kind"}


def _layered_modules() -> set[str]:
    contracts = tomllib.loads((_HOUSE / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [
        (f"{container}." if container else "") + name.strip()
        for contract in contracts
        if contract["type"] == "layers"
        for container in contract.get("containers", [""])
        for name in chain.from_iterable(layer.split("|") for layer in contract["layers"])
    ]
    return set(layers)


def _children(package: str) -> set[str]:
    folder = _HOUSE.joinpath(*package.split("."))
    modules = {path.stem for path in folder.glob("*.py") if path.stem != "__init__"}
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    return {f"{package}.{name}" for name in modules | packages}


@pytest.mark.parametrize("package", _LAYERED)
def test_every_module_stands_in_a_layer(package: str) -> None:
    assert _children(package) - set(_LAYERED) - _layered_modules() == set()


def test_every_layer_is_a_module_that_exists() -> None:
    assert _layered_modules() - set(chain.from_iterable(map(_children, _LAYERED))) == set()


def test_types_are_checked_strictly_in_all_python() -> None:
    mypy = tomllib.loads((_HOUSE / "pyproject.toml").read_text())["tool"]["mypy"]
    assert (mypy["strict"], mypy["files"]) == (True, ["benchweb", "workers", "tests", "bench"])
    assert [pattern for pattern in mypy["exclude"] if pattern != "migrations/"] == []
    # Only for libraries without types.
    assert [each for each in mypy["overrides"] if set(each) != {"module", "ignore_missing_imports"}] == []


def _class_names(tree: ast.AST, skipped: set[str]) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            if not node.name.startswith("_") and node.name not in skipped:
                yield node.name
            yield from _class_names(node, _DJANGO_NESTED_NAMES)


def test_a_public_class_name_has_one_meaning() -> None:
    files = [*_HOUSE.glob("benchweb/**/*.py"), *_HOUSE.glob("workers/**/*.py")]
    trees = [ast.parse(file.read_bytes()) for file in files if file.parent.name != "migrations"]
    names = Counter(chain.from_iterable(_class_names(tree, _DJANGO_NAMES) for tree in trees))
    assert [name for name, count in names.items() if count > 1] == []
