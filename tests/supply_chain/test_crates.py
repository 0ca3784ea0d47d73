"""Bad crates fail by name: real workspaces, with the project's own engine/deny.toml."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from benchweb.ops.setup import requirements
from benchweb.ops.setup.steps import ENGINE
from benchweb.ops.supply_chain import crates

pytestmark = pytest.mark.needs("Rust", "Git")

LOCKED = """
[[package]]
name = "own"
version = "0.1.0"

[[package]]
name = "itoa"
version = "1.0.18"
source = "{source}"
{checksum}
"""
CHECKSUM = f'checksum = "{"0a" * 32}"'
ADVISORY = """```toml
[advisory]
id = "RUSTSEC-2026-9999"
package = "serde"
date = "2026-01-01"

[versions]
patched = [">= 99.0.0"]
```

# A planted fault
It is there to be found.
"""


@pytest.fixture(autouse=True)
def no_advisories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Git find no advisory database: its address leads to a folder that isn't there."""
    rewrite_database(monkeypatch, tmp_path / "nowhere")


def rewrite_database(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.file://{folder}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://github.com/RustSec/advisory-db")


def package(folder: Path, name: str, more: str = "", *, version: str = "0.1.0", licence: str = "MIT") -> Path:
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "lib.rs").write_text("")
    (folder / "Cargo.toml").write_text(
        f'[package]\nname = "{name}"\nversion = "{version}"\nedition = "2021"\nlicense = "{licence}"\n{more}\n'
    )
    return folder


def write_rules(folder: Path) -> None:
    """Write the project's deny.toml, with a folder of its own for the advisory database."""
    deny = (ENGINE / "deny.toml").read_text()
    assert "[advisories]\n" in deny
    own_database = f'[advisories]\ndb-path = "{folder / "databases"}"\n'
    (folder / "deny.toml").write_text(deny.replace("[advisories]\n", own_database))


def engine_copy(tmp_path: Path) -> Path:
    """Return a copy of the engine's workspace."""
    copy = shutil.copytree(ENGINE, tmp_path / "engine", ignore=shutil.ignore_patterns("target"))
    write_rules(copy)
    return copy


def own(tmp_path: Path, dependencies: str) -> Path:
    """Return a package with these dependencies, locked."""
    folder = package(tmp_path / "own", "own", f"publish = false\n[dependencies]\n{dependencies}")
    write_rules(folder)
    subprocess.run([requirements.cargo_path(), "generate-lockfile"], cwd=folder, check=True, capture_output=True)
    return folder


def repository(folder: Path) -> Path:
    author = {f"GIT_{who}_{what}": "a@b.example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for words in (["init", "--quiet", "--initial-branch", "main"], ["add", "."], ["commit", "--quiet", "-m", "All"]):
        subprocess.run(["git", *words], cwd=folder, check=True, env={**os.environ, **author})
    return folder


def problems(folder: Path) -> str:
    return "\n".join(finding.text for finding in crates.denied(folder) if finding.is_judged)


def test_a_licence_that_is_not_accepted_fails_by_the_crates_name(tmp_path: Path) -> None:
    package(tmp_path / "planted", "planted", licence="AGPL-3.0-only")
    told = problems(own(tmp_path, 'planted = { path = "../planted" }'))
    assert "AGPL-3.0-only" in told
    assert "planted" in told
    assert "licenses FAILED" in told


def test_a_crate_from_git_fails(tmp_path: Path) -> None:
    planted = repository(package(tmp_path / "planted", "planted"))
    folder = own(tmp_path, f'planted = {{ git = "file://{planted}" }}')
    assert "sources FAILED" in problems(folder)
    (finding,) = crates.sources(folder / "Cargo.lock")
    assert finding.text.startswith(f"engine/Cargo.lock: planted 0.1.0 comes from git+file://{planted}")


def test_a_crate_in_two_versions_fails(tmp_path: Path) -> None:
    package(tmp_path / "first", "planted", version="1.0.0")
    package(tmp_path / "second", "planted", version="2.0.0")
    told = problems(
        own(
            tmp_path,
            'first = { package = "planted", path = "../first" }\nsecond = { package = "planted", path = "../second" }',
        )
    )
    assert "duplicate entries for crate 'planted'" in told
    assert "bans FAILED" in told


def test_a_known_fault_fails_where_the_database_is_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = tmp_path / "database"
    (database / "crates" / "serde").mkdir(parents=True)
    (database / "crates" / "serde" / "RUSTSEC-2026-9999.md").write_text(ADVISORY)
    rewrite_database(monkeypatch, repository(database))
    told = problems(engine_copy(tmp_path))
    assert "RUSTSEC-2026-9999" in told
    assert "advisories FAILED" in told


def test_a_database_that_cannot_be_reached_is_told_in_one_line_and_fails_nothing(tmp_path: Path) -> None:
    (finding,) = crates.denied(own(tmp_path, ""))
    assert not finding.is_judged
    assert "RustSec's advisory database" in finding.text
    assert "\n" not in finding.text


@pytest.mark.parametrize(
    ("source", "checksum", "told"),
    [
        (crates.INDEX, "", "has no checksum"),
        (crates.INDEX, 'checksum = "0a"', "has no checksum"),
        ("git+https://example.org/itoa#0a", "", "comes from git+https://example.org/itoa#0a, not from crates.io"),
        ("registry+https://example.org/index", CHECKSUM, "comes from registry+https://example.org/index"),
    ],
)
def test_what_is_locked_without_a_checksum_or_from_elsewhere_fails(
    tmp_path: Path, source: str, checksum: str, told: str
) -> None:
    lock = tmp_path / "Cargo.lock"
    lock.write_text(LOCKED.format(source=source, checksum=checksum))
    (finding,) = crates.sources(lock)
    assert finding.text.startswith("engine/Cargo.lock: itoa 1.0.18 ")
    assert told in finding.text


def test_what_is_locked_with_its_checksum_passes(tmp_path: Path) -> None:
    lock = tmp_path / "Cargo.lock"
    lock.write_text(LOCKED.format(source=crates.INDEX, checksum=CHECKSUM))
    assert list(crates.sources(lock)) == []
