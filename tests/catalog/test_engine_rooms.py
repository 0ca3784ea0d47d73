"""The engine's kinds depend on what is below them, and nothing below depends on a kind: there is no circle of files."""

import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from benchweb.catalog import catalog

KINDS = Path(__file__).parents[2] / "engine/crates/kinds/src"
# A file's name within the crate: kinds/src/session/outages.rs is ("session", "outages").
Module = tuple[str, ...]
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{")
_COMMENT = re.compile(r"//[^\n]*")
_USE = re.compile(r"\buse\s+([^;]+);")
_PATH = re.compile(r"\b(?:crate|super|self)(?:::\w+)+")


def modules() -> dict[Module, Path]:
    found = {}
    for path in KINDS.rglob("*.rs"):
        *folders, name = path.relative_to(KINDS).with_suffix("").parts
        if not name.endswith("tests"):
            found[(*folders, *([] if name in ("mod", "lib") else [name]))] = path
    return found


def leaves(tree: str) -> Iterator[str]:
    """Return each path that a `use` tree, such as `crate::{end::End, task}`, names."""
    before, brace, rest = tree.strip().partition("{")
    if not brace:
        yield before.partition(" as ")[0].strip()
        return
    depth, part = 0, ""
    for character in rest.rpartition("}")[0] + ",":
        if character == "," and not depth:
            yield from leaves(before + part.strip()) if part.strip() else ()
            part = ""
            continue
        depth += (character == "{") - (character == "}")
        part += character


def absolute(path: str, of: Module, known: dict[Module, Path]) -> Module:
    """Return the module that a path within `of` leads to; () for another crate's."""
    first, *rest = path.split("::")
    if first == "crate":
        target: Module = tuple(rest)
    elif first in ("self", "super"):
        base = of if first == "self" else of[:-1]
        while rest and rest[0] == "super":
            base, rest = base[:-1], rest[1:]
        target = (*base, *rest)
    else:
        target = (*of, first, *rest) if (*of, first) in known else ()
    while target and target not in known:
        target = target[:-1]
    return target


def code(path: Path) -> str:
    return _COMMENT.sub("", _TESTS.split(path.read_text(encoding="utf-8"))[0])


def imports(of: Module, known: dict[Module, Path]) -> set[Module]:
    source = code(known[of])
    used = [leaf for tree in _USE.findall(source) for leaf in leaves(" ".join(tree.split()))]
    paths = [*used, *_PATH.findall(_USE.sub("", source))]
    return {absolute(path, of, known) for path in paths} - {(), of}


def are_parent_and_child(one: Module, other: Module) -> bool:
    return one[:-1] == other or other[:-1] == one


def test_files_of_the_kinds_are_in_no_circle_but_parent_and_child() -> None:
    known = modules()
    assert ("kind",) in known
    graph = {of: {to for to in imports(of, known) if not are_parent_and_child(of, to)} for of in known}
    # Raises CycleError with the circle.
    TopologicalSorter(graph).prepare()


def test_nothing_but_the_kinds_and_their_table_names_a_kind() -> None:
    """A new kind is a module, its lines in the table and its entry in the catalog: no shared file has to know it."""
    names = "|".join(catalog().kinds)
    named = re.compile(rf'"(?:{names})"|\b(?:mod|kinds::|crate::)\s*(?:{names})\b')
    shared = {of: path for of, path in modules().items() if of[:1] != ("kinds",)}
    found = {of: match[0] for of, path in shared.items() if (match := named.search(code(path)))}
    assert len(shared) > 50
    assert found == {}


def test_a_use_tree_names_each_of_its_paths() -> None:
    assert list(leaves("crate::{end::{End, Role as R}, task}")) == [
        "crate::end::End",
        "crate::end::Role",
        "crate::task",
    ]
