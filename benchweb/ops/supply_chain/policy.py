"""What is accepted: licences for all, and exceptions by name, each with its reason."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchweb.ops.setup.home import PROJECT
from benchweb.ops.setup.steps import ENGINE

EXCEPTIONS = "pyproject.toml, [tool.benchweb.dependencies]"


@dataclass(frozen=True)
class Exceptional:
    """The licence of one package, read by a person, and why it is accepted or known."""

    licence: str
    reason: str


@dataclass(frozen=True)
class Policy:
    """The rules for packages of Python and npm; those of crates are read by cargo-deny itself."""

    licences: frozenset[str]
    python: Mapping[str, Exceptional] = field(default_factory=dict)
    npm: Mapping[str, Exceptional] = field(default_factory=dict)
    known_faults: Mapping[str, str] = field(default_factory=dict)


def read(deny: Path = ENGINE / "deny.toml", project: Path = PROJECT / "pyproject.toml") -> Policy:
    """Read the one list of licences, cargo-deny's, and the exceptions; KeyError or TypeError for a bad entry."""
    licences = tomllib.loads(deny.read_text(encoding="utf-8"))["licenses"]["allow"]
    rules = tomllib.loads(project.read_text(encoding="utf-8"))["tool"]["benchweb"]["dependencies"]
    return Policy(
        frozenset(licences),
        python={name: Exceptional(**entry) for name, entry in rules["python"].items()},
        npm={name: Exceptional(**entry) for name, entry in rules["npm"].items()},
        known_faults=rules["known_faults"],
    )
