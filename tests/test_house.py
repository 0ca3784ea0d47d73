"""The house's own rules: small folders, and a layer for every module."""

import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

_HOUSE = Path(__file__).parent.parent
_MOST_FILES = 12
# Each root's children must stand in a layer; `benchweb.common` is no layer itself: its modules are.
_LAYERED = ("benchweb", "benchweb.common", "benchweb.web", "benchweb.charts", "workers")
# Folders that may hold more, with the reason.
_LARGER: dict[str, str] = {}


# Where modules live, and what they are written in.
_ROOTS = {
    "benchweb": ".py",
    "workers": ".py",
    "bench": ".py",
    "tests": ".py",
    "frontend/src": ".ts",
    "frontend/styles": ".scss",
    "frontend/tests": ".ts",
    "engine/crates": ".rs",
}


def _folders(root: str) -> Iterator[Path]:
    yield _HOUSE / root
    for folder in (_HOUSE / root).rglob("*"):
        if folder.is_dir() and folder.name not in ("__pycache__", "migrations"):
            yield folder


def _name(folder: Path) -> str:
    return str(folder.relative_to(_HOUSE))


@pytest.mark.parametrize(("root", "suffix"), _ROOTS.items())
def test_no_folder_holds_more_than_twelve_modules(root: str, suffix: str) -> None:
    counts = {
        _name(folder): sum(path.name != "__init__.py" for path in folder.glob(f"*{suffix}"))
        for folder in _folders(root)
    }
    assert sum(counts.values()) > _MOST_FILES
    assert {name: count for name, count in counts.items() if count > _MOST_FILES and name not in _LARGER} == {}


def test_no_folder_holds_more_than_twelve_templates() -> None:
    folders = [folder for folder in _folders("benchweb") if "templates" in folder.parts]
    counts = {_name(folder): sum(path.is_file() for path in folder.iterdir()) for folder in folders}
    assert {name: count for name, count in counts.items() if count > _MOST_FILES and name not in _LARGER} == {}


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
