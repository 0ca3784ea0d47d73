"""Bad packages of Python and npm fail by name: from elsewhere, without a hash, with a licence that isn't accepted."""

import json
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any

import pytest

from benchweb.ops.setup.home import PROJECT
from benchweb.ops.setup.steps import FRONTEND
from benchweb.ops.supply_chain import licences, npm_packages, policy, python_packages
from benchweb.ops.supply_chain.policy import Exceptional

WHEEL = "https://files.pythonhosted.org/packages/0a/planted-1.0-py3-none-any.whl"
HASH = f"sha256:{'0a' * 32}"
INTEGRITY = f"sha512-{'A' * 86}=="
ACCEPTED = {"MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"}


def python_lock(tmp_path: Path, source: str, wheels: str) -> list[python_packages.Package]:
    lock = tmp_path / "uv.lock"
    lock.write_text(
        '[[package]]\nname = "benchweb"\nsource = { virtual = "." }\n'
        f'[[package]]\nname = "planted"\nversion = "1.0"\nsource = {source}\nwheels = [{wheels}]\n'
    )
    return python_packages.locked(lock)


@pytest.mark.parametrize(
    ("source", "wheels", "told"),
    [
        ('{ git = "https://example.org/planted" }', "", "comes from git https://example.org/planted"),
        ('{ url = "https://example.org/p.whl" }', f'{{ hash = "{HASH}" }}', "comes from url https://example.org/p.whl"),
        ('{ directory = "../planted" }', "", "comes from directory ../planted"),
        ('{ registry = "https://example.org/simple" }', "", "comes from registry https://example.org/simple"),
        ('{ registry = "https://pypi.org/simple" }', "", "has no files with hashes"),
        (
            '{ registry = "https://pypi.org/simple" }',
            f'{{ url = "{WHEEL}" }}',
            "planted-1.0-py3-none-any.whl has no SHA-256",
        ),
        (
            '{ registry = "https://pypi.org/simple" }',
            f'{{ url = "{WHEEL}", hash = "md5:0a" }}',
            "has no SHA-256 hash",
        ),
        (
            '{ registry = "https://pypi.org/simple" }',
            f'{{ url = "https://example.org/p.whl", hash = "{HASH}" }}',
            "a file comes from url https://example.org/p.whl",
        ),
    ],
)
def test_a_python_package_from_elsewhere_or_without_a_hash_fails(
    tmp_path: Path, source: str, wheels: str, told: str
) -> None:
    (finding,) = python_packages.sources(python_lock(tmp_path, source, wheels))
    assert finding.is_judged
    assert finding.text.startswith("uv.lock: planted 1.0")
    assert told in finding.text


def test_a_python_package_of_pypi_with_its_hash_passes(tmp_path: Path) -> None:
    lock = python_lock(tmp_path, '{ registry = "https://pypi.org/simple" }', f'{{ url = "{WHEEL}", hash = "{HASH}" }}')
    assert list(python_packages.sources(lock)) == []


@pytest.mark.parametrize(
    ("package", "told"),
    [
        (
            {"resolved": "git+ssh://git@github.com/a/planted.git#0a"},
            "comes from git+ssh://git@github.com/a/planted.git",
        ),
        (
            {"resolved": "https://mirror.example/planted.tgz", "integrity": INTEGRITY},
            "comes from https://mirror.example",
        ),
        ({"resolved": "../planted", "link": True}, "comes from ../planted"),
        ({}, "has no SHA-512 integrity"),
        ({"integrity": "sha1-0a"}, "has no SHA-512 integrity"),
        ({"resolved": "https://registry.npmjs.org/planted/-/planted-1.0.0.tgz"}, "has no SHA-512 integrity"),
    ],
)
def test_an_npm_package_from_elsewhere_or_without_a_hash_fails(package: dict[str, Any], told: str) -> None:
    (finding,) = npm_packages.sources({"node_modules/@a/planted": {"version": "1.0.0", **package}})
    assert finding.text.startswith("frontend/package-lock.json: @a/planted 1.0.0 ")
    assert told in finding.text


def test_an_npm_package_shipped_in_two_versions_fails() -> None:
    packages: dict[str, npm_packages.Package] = {
        "node_modules/planted": {"version": "1.0.0"},
        "node_modules/other/node_modules/planted": {"version": "2.0.0"},
        "node_modules/tool": {"version": "1.0.0", "dev": True},
        "node_modules/other/node_modules/tool": {"version": "2.0.0", "dev": True},
    }
    (finding,) = npm_packages.duplicates(packages)
    assert finding.text == "frontend/package-lock.json: planted would be shipped in versions 1.0.0, 2.0.0."


@pytest.mark.parametrize(
    "expression",
    ["MIT", "MIT OR GPL-3.0-only", "MIT AND (Apache-2.0 OR GPL-3.0-only)", "Apache-2.0 WITH LLVM-exception"],
)
def test_a_licence_is_accepted_when_accepted_ones_meet_it(expression: str) -> None:
    assert licences.is_accepted(expression, ACCEPTED)


@pytest.mark.parametrize(
    "expression",
    ["GPL-3.0-only", "MIT AND GPL-3.0-only", "Apache-2.0 WITH GCC-exception-3.1", "SEE LICENSE IN x", "", "?"],
)
def test_any_other_licence_is_not_accepted(expression: str) -> None:
    assert not licences.is_accepted(expression, ACCEPTED)


def judged(stated: dict[str, str | None], exceptions: dict[str, Exceptional]) -> list[str]:
    return [each.text for each in licences.judge(stated, ACCEPTED, exceptions, what="the package")]


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        ("AGPL-3.0-only", "the package planted has the licence AGPL-3.0-only, which is not on the list"),
        ("", "the package planted states no licence"),
        (None, "the package planted is not installed here, so that its licence is not known"),
    ],
)
def test_a_bad_or_unknown_licence_fails_by_the_packages_name(stated: str | None, told: str) -> None:
    (text,) = judged({"good": "MIT", "planted": stated}, {})
    assert text.startswith(told)
    assert "pyproject.toml" in text


@pytest.mark.parametrize("stated", ["MPL-2.0", "", None])
def test_an_exception_accepts_its_package_with_this_licence(stated: str | None) -> None:
    assert judged({"planted": stated}, {"planted": Exceptional("MPL-2.0", "not shipped")}) == []


def test_an_exception_ends_when_the_licence_changes_or_the_package_is_gone() -> None:
    texts = judged({"planted": "SSPL-1.0"}, {"planted": Exceptional("MPL-2.0", ""), "gone": Exceptional("MPL-2.0", "")})
    assert texts[0].startswith("the package planted has the licence SSPL-1.0, where MPL-2.0 was accepted")
    assert texts[1].startswith("the package gone is no dependency any more")


@pytest.mark.parametrize(
    ("headers", "licence"),
    [
        ([("License-Expression", "MIT"), ("License", "x")], "MIT"),
        ([("Classifier", "License :: OSI Approved :: MIT License"), ("License", "Copyright (c) A")], "MIT"),
        (
            [
                ("Classifier", "License :: OSI Approved :: BSD License"),
                ("Classifier", "License :: OSI Approved :: GNU General Public License v3 (GPLv3)"),
            ],
            "BSD-3-Clause AND License :: OSI Approved :: GNU General Public License v3 (GPLv3)",
        ),
        ([("License", "Apache-2.0")], "Apache-2.0"),
        ([("License", "Do what you like\nbut not this")], "Do what you like"),
        ([("Classifier", "Programming Language :: Python")], ""),
    ],
)
def test_the_licence_of_a_python_package_is_read_from_its_metadata(
    headers: list[tuple[str, str]], licence: str, tmp_path: Path
) -> None:
    lines = [f"{name}: {value}".replace("\n", "\n        ") for name, value in headers]
    (tmp_path / "METADATA").write_text("\n".join(lines) + "\n")
    assert python_packages.licence_of(PathDistribution(tmp_path).metadata) == licence


def test_two_versions_of_an_npm_package_have_both_licences() -> None:
    packages: dict[str, npm_packages.Package] = {
        "node_modules/planted": {"license": "MIT"},
        "node_modules/other/node_modules/planted": {"license": "SSPL-1.0"},
    }
    stated = npm_packages.stated_licences(packages)
    assert stated == {"planted": "(MIT) AND (SSPL-1.0)"}
    assert not licences.is_accepted(str(stated["planted"]), ACCEPTED)


def test_every_exception_of_the_project_has_a_reason() -> None:
    rules = policy.read()
    assert all(entry.reason for entry in (*rules.python.values(), *rules.npm.values()))
    assert all(rules.known_faults.values())


def test_the_projects_own_lock_files_pass() -> None:
    python = python_packages.locked(PROJECT / "uv.lock")
    npm = npm_packages.locked(FRONTEND / "package-lock.json")
    assert len(python) > 50
    assert len(npm) > 50
    assert [*python_packages.sources(python), *npm_packages.sources(npm), *npm_packages.duplicates(npm)] == []


def test_a_lock_file_without_its_project_is_read(tmp_path: Path) -> None:
    lock = tmp_path / "package-lock.json"
    lock.write_text(json.dumps({"packages": {"": {"name": "benchweb-frontend"}, "node_modules/a": {"version": "1"}}}))
    assert list(npm_packages.locked(lock)) == ["node_modules/a"]
