"""The licences that packages of Python and npm state, held against engine/deny.toml's list and the exceptions."""

import importlib.metadata
import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from license_expression import ExpressionError, get_spdx_licensing

from tests.conftest import ROOT

ACCEPTED = frozenset(tomllib.loads((ROOT / "engine" / "deny.toml").read_text())["licenses"]["allow"])
_spdx = get_spdx_licensing()
_EXPRESSION = re.compile(r"[\w.+()-]+( (AND|OR|WITH) [\w.+()-]+)*")
# What packages without an SPDX expression say. "BSD License" tells not which; the accepted list has both.
_CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}


def python_packages() -> list[dict[str, Any]]:
    """Return the packages of uv.lock but the project itself."""
    packages = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    return [package for package in packages if package["source"] != {"virtual": "."}]


def npm_packages() -> dict[str, dict[str, Any]]:
    """Return the packages of package-lock.json by their folder, without the project itself."""
    packages = json.loads((ROOT / "frontend" / "package-lock.json").read_text())["packages"]
    return {folder: package for folder, package in packages.items() if folder}


def npm_name(folder: str) -> str:
    """Return the name of the package in this folder."""
    return folder.rpartition("node_modules/")[2]


def exceptions(language: str) -> dict[str, dict[str, str]]:
    """Return what pyproject.toml accepts by name: the licence that was read, and why."""
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["benchweb"]["dependencies"]
    return dict(rules[language])


def python_licences() -> dict[str, set[str]]:
    """Return the licence that each package states where it is installed; none for others."""
    stated: dict[str, set[str]] = {}
    for name in {package["name"] for package in python_packages()}:
        try:
            stated[name] = {licence_of(importlib.metadata.metadata(name))}
        except importlib.metadata.PackageNotFoundError:
            stated[name] = set()
    return stated


def npm_licences() -> dict[str, set[str]]:
    """Return the licences that each package states, of all its versions."""
    stated = defaultdict(set)
    for folder, package in npm_packages().items():
        stated[npm_name(folder)].add(str(package.get("license", "")))
    return stated


def licence_of(metadata: importlib.metadata.PackageMetadata) -> str:
    """Return what metadata state: the expression, or the classifiers, all of which hold, or old packages' free text."""
    if "License-Expression" in metadata:
        return metadata["License-Expression"]
    prefix = "License :: OSI Approved :: "
    named = [line.removeprefix(prefix) for line in metadata.get_all("Classifier") or [] if line.startswith(prefix)]
    if named:
        return " AND ".join(_CLASSIFIERS.get(name, name) for name in named)
    text = str((metadata.get_all("License") or [""])[0])
    return text if _EXPRESSION.fullmatch(text) else text.partition("\n")[0].strip()


def refusals(stated: Mapping[str, Collection[str]], excepted: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield what is neither accepted for all nor by name, and exceptions that nothing needs any more."""
    for name, licences in stated.items():
        if name in excepted:
            # What states nothing is taken by the exception's word; what states something else has changed.
            yield from (
                f"{name}: {each}, no longer as accepted"
                for each in licences
                if each not in {"", excepted[name]["licence"]}
            )
        else:
            yield from (
                f"{name}: {each or 'none stated'}" for each in licences or ["not installed"] if not is_accepted(each)
            )
    yield from (f"{name}: no dependency any more" for name in excepted if name not in stated)


def is_accepted(expression: str) -> bool:
    """Tell whether the expression can be met by accepted licences alone; false for what is no SPDX expression."""
    try:
        parsed = _spdx.parse(expression, validate=True)
    except ExpressionError:
        return False
    return parsed is not None and _is_met(parsed)


def _is_met(parsed: Any) -> bool:
    if isinstance(parsed, _spdx.OR):
        return any(map(_is_met, parsed.args))
    if isinstance(parsed, _spdx.AND):
        return all(map(_is_met, parsed.args))
    return parsed.render() in ACCEPTED
