"""Check one part: python3 -m benchweb.ops.supply_chain crates|python|npm|secrets."""

import argparse
from collections.abc import Callable, Iterator

from benchweb.ops.setup.home import PROJECT
from benchweb.ops.setup.steps import ENGINE, FRONTEND
from benchweb.ops.setup.testing import NOT_JUDGED
from benchweb.ops.supply_chain import (
    crates,
    known_faults,
    licences,
    npm_packages,
    policy,
    python_packages,
    secret_strings,
)
from benchweb.ops.supply_chain.findings import Finding


def main() -> int:
    """Print what one check finds; the status is 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=CHECKS)
    findings = list(CHECKS[parser.parse_args().what]())
    for finding in findings:
        print(finding.text if finding.is_judged else f"{NOT_JUDGED}: {finding.text}")
    return int(any(finding.is_judged for finding in findings))


def _crates() -> Iterator[Finding]:
    yield from crates.sources(ENGINE / "Cargo.lock")
    yield from crates.denied(ENGINE)


def _python() -> Iterator[Finding]:
    rules, packages = policy.read(), python_packages.locked(PROJECT / "uv.lock")
    yield from python_packages.sources(packages)
    stated = python_packages.stated_licences(packages)
    yield from licences.judge(stated, rules.licences, rules.python, what="the Python package")
    versions = [(package["name"], package["version"]) for package in packages]
    yield from known_faults.of_python(versions, rules.known_faults)


def _npm() -> Iterator[Finding]:
    rules, packages = policy.read(), npm_packages.locked(FRONTEND / "package-lock.json")
    yield from npm_packages.sources(packages)
    yield from npm_packages.duplicates(packages)
    stated = npm_packages.stated_licences(packages)
    yield from licences.judge(stated, rules.licences, rules.npm, what="the npm package")
    yield from known_faults.of_npm(rules.known_faults)


CHECKS: dict[str, Callable[[], Iterator[Finding]]] = {
    "crates": _crates,
    "python": _python,
    "npm": _npm,
    "secrets": secret_strings.found,
}

if __name__ == "__main__":
    raise SystemExit(main())
