"""The engine's own command that repeats a trial, to be typed on the source host."""

import ipaddress
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchweb.catalog import catalog, nested_text
from benchweb.catalog.parts import ADDED
from benchweb.hosts.models import Endpoint, Pair
from benchweb.results.selectors import TrialRow
from benchweb.runs.models import Run

# The token itself is never shown: the reader puts it into a file of this name.
TOKEN_FILE = "TOKEN-FILE"  # noqa: S105
# The parameter that names where a disk is measured: the operator has to allow it on the command line too.
DIRECTORY = "directory"


@dataclass(frozen=True)
class TrialCommand:
    """A command, and the indexes of the trials (its repetitions) that it repeats."""

    command: str
    trials: list[int]


def run_commands(run: Run, trials: Sequence[TrialRow]) -> list[TrialCommand]:
    """Return each command of a run once, with the trials that it repeats, in the order of the plan."""
    repeated: dict[str, list[int]] = {}
    for trial in trials:
        command = engine_command(pair=run.pair, kind=trial.kind, params=trial.params)
        repeated.setdefault(command, []).append(trial.index)
    return [TrialCommand(command, indexes) for command, indexes in repeated.items()]


def engine_command(*, pair: Pair, kind: str, params: Mapping[str, Any]) -> str:
    """Return the command for a pair, kind and parameters; what isn't set has the catalog's default."""
    words = ["benchweb-engine", "run", shlex.quote(kind)]
    known = catalog().kinds.get(kind)
    if known is None or not known.is_of_one_host:
        words += _peer(pair.sink)
    elif DIRECTORY in known.parameters:
        words += ["--disk-dir", shlex.quote(params.get(DIRECTORY) or DIRECTORY.upper())]
    for name, value in params.items():
        # What an imported text doesn't tell is left to the engine's default.
        if name not in ADDED and value is not None:
            words += ["--set", shlex.quote(f"{name}={_text(value)}")]
    return " ".join(words)


def _peer(sink: Endpoint) -> list[str]:
    words = ["--peer", shlex.quote(sink.control_address), "--token-file", TOKEN_FILE]
    if sink.data_address:
        words += ["--data-address", _address(sink.data_address)]
    if sink.fingerprint:
        words += ["--peer-fingerprint", shlex.quote(sink.fingerprint)]
    return words


def _address(data_address: str) -> str:
    """Return an address; a host name is looked up by the shell, for the engine takes addresses only."""
    try:
        return shlex.quote(str(ipaddress.ip_address(data_address)))
    except ValueError:
        return f"\"$(getent ahosts {shlex.quote(data_address)} | awk 'NR == 1 {{ print $1 }}')\""


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, dict):
        return nested_text(value)
    return str(value)
