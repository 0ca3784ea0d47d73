"""Packages come from their registries, with hashes and accepted licences; docs/how-to/dependencies.md."""

import re
import tomllib
from collections import Counter
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.supply_chain.licences import (
    exceptions,
    is_accepted,
    licence_of,
    npm_licences,
    npm_name,
    npm_packages,
    python_licences,
    python_packages,
    refusals,
)


def test_every_crate_comes_from_crates_io_with_its_checksum() -> None:
    crates = tomllib.loads((ROOT / "engine" / "Cargo.lock").read_text())["package"]
    # The workspace's own have no source.
    foreign = [crate for crate in crates if "source" in crate]
    assert len(foreign) > 50
    assert {crate["source"] for crate in foreign} == {"registry+https://github.com/rust-lang/crates.io-index"}
    assert [crate["name"] for crate in foreign if not re.fullmatch("[0-9a-f]{64}", crate.get("checksum", ""))] == []


def test_every_python_package_comes_from_pypi_with_its_hashes() -> None:
    packages = python_packages()
    assert len(packages) > 50
    assert [each["name"] for each in packages if each["source"] != {"registry": "https://pypi.org/simple"}] == []
    for package in packages:
        files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        assert files, package["name"]
        assert all(file["url"].startswith("https://files.pythonhosted.org/") for file in files), package["name"]
        assert all(re.fullmatch("sha256:[0-9a-f]{64}", file["hash"]) for file in files), package["name"]


def test_every_npm_package_comes_from_npms_registry_with_its_hash() -> None:
    packages = npm_packages()
    assert len(packages) > 50
    # What has no address comes from the configured registry: frontend/.npmrc leaves addresses out.
    assert [name for name, each in packages.items() if "link" in each or "resolved" in each] == []
    hashed = re.compile(r"sha512-[A-Za-z0-9+/]{86}==")
    assert [name for name, each in packages.items() if not hashed.fullmatch(each.get("integrity", ""))] == []


def test_no_npm_package_is_shipped_in_two_versions() -> None:
    shipped = Counter(npm_name(folder) for folder, package in npm_packages().items() if not package.get("dev"))
    assert [name for name, count in shipped.items() if count > 1] == []


def test_every_package_has_an_accepted_licence_or_is_accepted_by_name() -> None:
    assert list(refusals(python_licences(), exceptions("python"))) == []
    assert list(refusals(npm_licences(), exceptions("npm"))) == []


def test_every_exception_has_its_reason() -> None:
    named = [*exceptions("python").values(), *exceptions("npm").values()]
    assert all(exception["licence"] and exception["reason"] for exception in named)
    assert all(exceptions("known_faults").values())


def test_what_is_not_accepted_is_refused_by_name() -> None:
    stated = {
        "good": {"MIT"},
        "bad": {"AGPL-3.0-only"},
        "mute": {""},
        "absent": set[str](),
        "kept": {""},
        "sold": {"SSPL-1.0"},
    }
    excepted = {name: {"licence": "MPL-2.0"} for name in ("kept", "sold", "gone")}
    assert list(refusals(stated, excepted)) == [
        "bad: AGPL-3.0-only",
        "mute: none stated",
        "absent: not installed",
        "sold: SSPL-1.0, no longer as accepted",
        "gone: no dependency any more",
    ]


@pytest.mark.parametrize(
    "expression",
    ["MIT", "MIT OR GPL-3.0-only", "MIT AND (Apache-2.0 OR GPL-3.0-only)", "Apache-2.0 WITH LLVM-exception"],
)
def test_a_licence_is_accepted_when_accepted_ones_meet_it(expression: str) -> None:
    assert is_accepted(expression)


@pytest.mark.parametrize(
    "expression", ["GPL-3.0-only", "MIT AND GPL-3.0-only", "Apache-2.0 WITH GCC-exception-3.1", "SEE LICENSE IN x", "?"]
)
def test_any_other_licence_is_not_accepted(expression: str) -> None:
    assert not is_accepted(expression)


@pytest.mark.parametrize(
    ("lines", "licence"),
    [
        (["License-Expression: MIT", "License: x"], "MIT"),
        (["Classifier: License :: OSI Approved :: MIT License", "License: Copyright (c) A"], "MIT"),
        (
            ["Classifier: License :: OSI Approved :: BSD License", "Classifier: License :: OSI Approved :: X"],
            "BSD-3-Clause AND X",
        ),
        (["License: Apache-2.0"], "Apache-2.0"),
        (["License: Do what you like", "        but not this"], "Do what you like"),
        (["Classifier: Programming Language :: Python"], ""),
    ],
)
def test_the_licence_of_a_python_package_is_read_from_its_metadata(
    lines: list[str], licence: str, tmp_path: Path
) -> None:
    (tmp_path / "METADATA").write_text("\n".join(lines) + "\n")
    assert licence_of(PathDistribution(tmp_path).metadata) == licence
