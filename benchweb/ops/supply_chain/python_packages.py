"""The packages of uv.lock: where they come from, their hashes and licences."""

import importlib.metadata
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchweb.ops.supply_chain.findings import Finding

INDEX = "https://pypi.org/simple"
FILES = "https://files.pythonhosted.org/"
HASH = re.compile(r"sha256:[0-9a-f]{64}")
SPDX_EXPRESSION = re.compile(r"[\w.+()-]+( (AND|OR|WITH) [\w.+()-]+)*")
# What packages without an SPDX expression say. "BSD License" tells not which; the accepted list has both.
CLASSIFIERS = {
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
    "License :: OSI Approved :: ISC License (ISCL)": "ISC",
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "License :: OSI Approved :: Python Software Foundation License": "PSF-2.0",
}

Package = Mapping[str, Any]


def locked(lock: Path) -> list[Package]:
    """Return the packages of uv.lock but the project itself."""
    packages: list[Package] = tomllib.loads(lock.read_text(encoding="utf-8"))["package"]
    return [package for package in packages if package["source"] != {"virtual": "."}]


def sources(packages: list[Package]) -> Iterator[Finding]:
    """Yield what doesn't come from PyPI, or without a hash."""
    for package in packages:
        name = f"uv.lock: {package['name']} {package.get('version', '')}"
        if package["source"] != {"registry": INDEX}:
            yield Finding(f"{name} comes from {_words(package['source'])}, not from {INDEX}.")
            continue
        files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        if not files:
            yield Finding(f"{name} has no files with hashes.")
        for file in files:
            if not str(file.get("url", "")).startswith(FILES):
                yield Finding(f"{name}: a file comes from {_words(file)}, not from {FILES}.")
            elif not HASH.fullmatch(str(file.get("hash", ""))):
                yield Finding(f"{name}: {file['url'].rpartition('/')[2]} has no SHA-256 hash; run `uv lock` anew.")


def stated_licences(packages: list[Package]) -> dict[str, str | None]:
    """Return the licence that each package states where it is installed: None for others, "" for none."""
    return {package["name"]: _stated(package["name"]) for package in packages}


def licence_of(metadata: importlib.metadata.PackageMetadata) -> str:
    """Return what metadata state, an SPDX expression where they allow it, "" for nothing.

    The expression goes first, then the classifiers, all of which hold, then the free text of old packages.
    """
    if "License-Expression" in metadata:
        return metadata["License-Expression"]
    classifiers = [
        classifier
        for classifier in metadata.get_all("Classifier") or []
        if classifier.startswith("License :: OSI Approved ::")
    ]
    if classifiers:
        return " AND ".join(CLASSIFIERS.get(classifier, classifier) for classifier in classifiers)
    text = str((metadata.get_all("License") or [""])[0])
    return text if SPDX_EXPRESSION.fullmatch(text) and text != "UNKNOWN" else text.partition("\n")[0].strip()


def _stated(name: str) -> str | None:
    try:
        return licence_of(importlib.metadata.metadata(name))
    except importlib.metadata.PackageNotFoundError:
        return None


def _words(source: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in source.items() if key != "hash")
