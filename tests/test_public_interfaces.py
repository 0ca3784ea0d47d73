"""Nothing private of a dependency is used: what it calls `_name` it may change without a word."""

import ast
from collections.abc import Iterator, Set
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("benchweb", "workers", "bench", "tests")
OURS = frozenset(ROOMS)
# Documented in spite of their names: by Django (models' options and managers), by Python (named tuples, `os._exit`).
DOCUMENTED = frozenset({"_meta", "_default_manager", "_make", "_replace", "_fields", "_asdict", "_exit"})
FILES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")) if "migrations" not in path.parts]


def is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__")) and name not in DOCUMENTED


def defined(tree: ast.Module) -> Iterator[str]:
    """Return the names that a module of ours gives to functions, classes, variables and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_own(node.value):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg


def _is_own(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id in {"self", "cls"}


def uses(tree: ast.Module, ours: Set[str]) -> Iterator[str]:
    """Return each use of something private that isn't among the names that modules of ours define."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [(each.name, node.lineno) for each in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            modules = [(f"{node.module}.{each.name}", node.lineno) for each in node.names]
        else:
            modules = []
        for module, line in modules:
            first, *rest = module.split(".")
            if first not in OURS and first != "__future__" and any(map(is_private, [first, *rest])):
                yield f"line {line}: {module}"
        if isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in ours:
            yield f"line {node.lineno}: .{node.attr}"


def test_nothing_private_of_a_dependency_is_used() -> None:
    # Not when the module is read: every test process reads it, and would look through all trees for garbage.
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
    ours = frozenset(name for tree in trees.values() for name in defined(tree))
    found = {str(path.relative_to(ROOT)): list(uses(tree, ours)) for path, tree in trees.items()}
    assert {path: each for path, each in found.items() if each} == {}


def test_what_is_private_is_found() -> None:
    source = "from psycopg._queries import PostgresQuery\nimport a._b\nfrom c import _d\nx.y._of_nobody\nself._meta\n"
    assert [use.partition(": ")[2] for use in uses(ast.parse(source), frozenset())] == [
        "psycopg._queries.PostgresQuery",
        "a._b",
        "c._d",
        "._of_nobody",
    ]
