"""Known faults of packages, by pip-audit and `npm audit`; a database that can't be reached judges nothing."""

import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchweb.ops.setup import steps
from benchweb.ops.setup.bootstrap import TOOLS
from benchweb.ops.setup.home import PROJECT
from benchweb.ops.setup.steps import FRONTEND
from benchweb.ops.supply_chain.commands import json_object, run
from benchweb.ops.supply_chain.findings import Finding, unreachable
from benchweb.ops.supply_chain.policy import EXCEPTIONS

PROBE_SECONDS = 10
AUDIT_SECONDS = 180
# Else npm asks a registry that doesn't answer for minutes.
NPM_PATIENCE = ("--fetch-retries=0", "--fetch-timeout=20000")


@dataclass(frozen=True)
class Database:
    """Where pip-audit asks; `probe` is an address that answers 200 where it is served, with `question` as a POST."""

    name: str
    probe: str
    options: Sequence[str]
    question: bytes | None = None


PYPI = Database("PyPI's JSON API", "https://pypi.org/pypi/pip/24.0/json", ("--vulnerability-service", "pypi"))
OSV = Database(
    "OSV, https://api.osv.dev,",
    "https://api.osv.dev/v1/query",
    ("--vulnerability-service", "osv"),
    b'{"package": {"name": "pip", "ecosystem": "PyPI"}, "version": "0"}',
)


def of_python(
    versions: Sequence[tuple[str, str]], ignored: Mapping[str, str], databases: Sequence[Database] = (PYPI, OSV)
) -> Iterator[Finding]:
    """Yield the known faults of these packages by the first database that can be reached."""
    reasons = {}
    for database in databases:
        reason = _unreachable_for(database)
        if reason is None:
            for layer in _layers(versions):
                yield from _pip_audit(layer, ignored, database)
            return
        reasons[database.name] = reason
    text = "; ".join(f"{name} {reason}" for name, reason in reasons.items())
    yield unreachable("known faults of Python packages", "every database of pip-audit's", text)


def of_npm(ignored: Mapping[str, str], folder: Path = FRONTEND, options: Sequence[str] = ()) -> Iterator[Finding]:
    """Yield the known faults of the packages of package-lock.json."""
    npm, environment = steps.npm_command(TOOLS)
    command = [*npm, "audit", "--json", "--package-lock-only", *NPM_PATIENCE, *options]
    done = run(command, folder, seconds=AUDIT_SECONDS, environment=environment)
    answer = json_object(done.stdout)
    if "vulnerabilities" not in answer:
        reason = answer.get("message") or done.stderr
        yield unreachable("known faults of npm packages", "the registry's advisories for `npm audit`", str(reason))
        return
    for package, report in sorted(answer["vulnerabilities"].items()):
        # A text names the package that this one is touched through, which has an entry of its own.
        for fault in (advisory for advisory in report["via"] if isinstance(advisory, dict)):
            identifier = str(fault["url"]).rpartition("/")[2]
            if identifier not in ignored:
                yield Finding(_text(f"frontend/package-lock.json: {package}", identifier, fault["title"]))


def _pip_audit(versions: Mapping[str, str], ignored: Mapping[str, str], database: Database) -> Iterator[Finding]:
    with tempfile.NamedTemporaryFile("w", prefix="benchweb-packages-", suffix=".txt") as file:
        file.writelines(f"{name}=={version}\n" for name, version in versions.items())
        file.flush()
        command = [sys.executable, "-m", "pip_audit", "--requirement", file.name, "--no-deps", "--disable-pip"]
        command += ["--format", "json", "--progress-spinner", "off", *database.options]
        done = run(command, PROJECT, seconds=AUDIT_SECONDS)
    answer = json_object(done.stdout)
    if "dependencies" not in answer:
        yield unreachable("known faults of Python packages", database.name, done.stderr)
        return
    yield from _python_faults(answer["dependencies"], ignored)
    skipped = [package["name"] for package in answer["dependencies"] if "skip_reason" in package]
    if skipped:
        text = f"known faults of {', '.join(skipped)}: {database.name} doesn't know these packages"
        yield Finding(text, is_judged=False)


def _python_faults(packages: Sequence[Mapping[str, Any]], ignored: Mapping[str, str]) -> Iterator[Finding]:
    for package in packages:
        for fault in package.get("vulns", []):
            if ignored.keys().isdisjoint({fault["id"], *fault["aliases"]}):
                fixed = f"mended in {', '.join(fault['fix_versions'])}" if fault["fix_versions"] else "not mended yet"
                yield Finding(_text(f"uv.lock: {package['name']} {package['version']}", fault["id"], fixed))


def _text(package: str, identifier: str, text: str) -> str:
    return f"{package} has the known fault {identifier} ({text}). Update it, or accept the fault in {EXCEPTIONS}."


def _unreachable_for(database: Database) -> str | None:
    """Return why the database can't be asked, None where it can."""
    request = urllib.request.Request(database.probe, database.question)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=PROBE_SECONDS):  # noqa: S310
            return None
    except urllib.error.HTTPError as error:
        return f"answered {error.code}"
    except OSError as error:
        return f"didn't answer: {error}"


def _layers(versions: Sequence[tuple[str, str]]) -> Iterator[dict[str, str]]:
    """Yield the packages so that none is twice in one request: pip-audit refuses two versions of one name."""
    left = list(versions)
    while left:
        layer: dict[str, str] = {}
        later = []
        for name, version in left:
            if layer.setdefault(name, version) != version:
                later.append((name, version))
        yield layer
        left = later
