"""The packages of package-lock.json: where they come from, their hashes, licences and duplicates."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchweb.ops.supply_chain.findings import Finding

REGISTRY = "https://registry.npmjs.org/"
INTEGRITY = re.compile(r"sha512-[A-Za-z0-9+/]{86}==")
FOLDER = "node_modules/"

Package = Mapping[str, Any]


def locked(lock: Path) -> dict[str, Package]:
    """Return the packages of package-lock.json by their folder, without the project itself."""
    packages: dict[str, Package] = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    return {folder: package for folder, package in packages.items() if folder}


def sources(packages: Mapping[str, Package]) -> Iterator[Finding]:
    """Yield what doesn't come from npm's registry, or without a hash.

    What has no address comes from the configured registry: frontend/.npmrc leaves out the addresses of registries,
    so that a mirror's never get into the file.
    """
    for folder, package in packages.items():
        name = f"frontend/package-lock.json: {_name(folder)} {package.get('version', '')}"
        resolved = package.get("resolved", REGISTRY)
        if not str(resolved).startswith(REGISTRY) or package.get("link"):
            yield Finding(f"{name} comes from {resolved}, not from {REGISTRY}.")
        elif not INTEGRITY.fullmatch(str(package.get("integrity", ""))):
            yield Finding(f"{name} has no SHA-512 integrity; run `npm install` anew.")


def duplicates(packages: Mapping[str, Package]) -> Iterator[Finding]:
    """Yield what would be shipped to browsers twice, in two versions."""
    versions: dict[str, set[str]] = defaultdict(set)
    for folder, package in packages.items():
        if not package.get("dev"):
            versions[_name(folder)].add(package.get("version", ""))
    for name, shipped in sorted(versions.items()):
        if len(shipped) > 1:
            yield Finding(
                f"frontend/package-lock.json: {name} would be shipped in versions {', '.join(sorted(shipped))}."
            )


def stated_licences(packages: Mapping[str, Package]) -> dict[str, str | None]:
    """Return the licence that each package states, "" for none; of two versions the one that differs is told."""
    stated: dict[str, str | None] = {}
    for folder, package in packages.items():
        name, licence = _name(folder), str(package.get("license", ""))
        before = stated.get(name)
        stated[name] = licence if before in (None, licence) else f"({before}) AND ({licence})"
    return stated


def _name(folder: str) -> str:
    return folder.rpartition(FOLDER)[2]
