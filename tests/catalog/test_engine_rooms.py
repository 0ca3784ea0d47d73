"""The engine's modules are in no circle, neither of files nor of what stands side by side."""

import re
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from benchweb.catalog import catalog

CRATES = Path(__file__).parents[2] / "engine/crates"
KINDS = CRATES / "kinds/src"
SOURCES = sorted(manifest.parent / "src" for manifest in CRATES.glob("*/Cargo.toml"))
# A file's name within the crate: kinds/src/session/outages.rs is ("session", "outages").
Module = tuple[str, ...]
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{")
_COMMENT = re.compile(r"//[^\n]*")
_USE = re.compile(r"\buse\s+([^;]+);")
_PATH = re.compile(r"\b(?:crate|super|self)(?:::\w+)+")


def modules(source: Path, *, with_tests: bool = False) -> dict[Module, Path]:
    found = {}
    for path in source.rglob("*.rs"):
        *folders, name = path.relative_to(source).with_suffix("").parts
        if with_tests or not name.endswith("tests"):
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
    return _TESTS.split(code_and_tests(path))[0]


def code_and_tests(path: Path) -> str:
    return _COMMENT.sub("", path.read_text(encoding="utf-8"))


def imports(of: Module, source: str, known: dict[Module, Path]) -> set[Module]:
    """Return the modules that a module's source names."""
    used = [leaf for tree in _USE.findall(source) for leaf in leaves(" ".join(tree.split()))]
    paths = [*used, *_PATH.findall(_USE.sub("", source))]
    return {absolute(path, of, known) for path in paths} - {(), of}


def are_parent_and_child(one: Module, other: Module) -> bool:
    return one[:-1] == other or other[:-1] == one


def side_by_side(of: Module, to: Module) -> tuple[Module, Module] | None:
    """Return the two modules with one parent to which an import belongs; none where one of them holds the other."""
    shared = next((place for place, (one, other) in enumerate(zip(of, to, strict=False)) if one != other), None)
    return None if shared is None else (of[: shared + 1], to[: shared + 1])


def needs(source: Path) -> dict[Module, set[Module]]:
    """Return what each module, with all that is in it and its tests, needs of those beside it."""
    known = modules(source, with_tests=True)
    graph: dict[Module, set[Module]] = defaultdict(set)
    for of, path in known.items():
        for to in imports(of, code_and_tests(path), known):
            if pair := side_by_side(of, to):
                graph[pair[0]].add(pair[1])
    return graph


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.parent.name)
def test_files_of_a_crate_are_in_no_circle_but_parent_and_child(source: Path) -> None:
    known = modules(source)
    graph = {
        of: {to for to in imports(of, code(path), known) if not are_parent_and_child(of, to)}
        for of, path in known.items()
    }
    # Raises CycleError with the circle.
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.parent.name)
def test_modules_side_by_side_need_each_other_in_one_direction_with_their_tests(source: Path) -> None:
    TopologicalSorter(needs(source)).prepare()


def test_a_circle_is_found_through_what_is_below_and_in_tests(tmp_path: Path) -> None:
    sources = {
        "lib.rs": "mod one;\nmod two;\nmod three;\nuse one::One;\n",
        "one.rs": "fn one() {}\n#[cfg(test)]\nmod tests {\n    use crate::two::Two;\n}\n",
        "two/mod.rs": "pub mod inner;\nuse self::inner::Inner;\n",
        "two/inner.rs": "use super::super::{three, one::Part};\n",
        "three.rs": "use std::fmt;\n",
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    with pytest.raises(CycleError) as raised:
        TopologicalSorter(needs(tmp_path)).prepare()
    assert set(raised.value.args[1]) == {("one",), ("two",)}


def test_nothing_but_the_kinds_and_their_table_names_a_kind() -> None:
    """A new kind is a module, its lines in the table and its entry in the catalog: no shared file has to know it."""
    names = "|".join(catalog().kinds)
    named = re.compile(rf'"(?:{names})"|\b(?:mod|kinds::|crate::)\s*(?:{names})\b')
    shared = {of: path for of, path in modules(KINDS).items() if of[:1] != ("kinds",)}
    found = {of: match[0] for of, path in shared.items() if (match := named.search(code(path)))}
    assert len(shared) > 50
    assert found == {}


def test_a_use_tree_names_each_of_its_paths() -> None:
    assert list(leaves("crate::{end::{End, Role as R}, task}")) == [
        "crate::end::End",
        "crate::end::Role",
        "crate::task",
    ]
