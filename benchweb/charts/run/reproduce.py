"""The engine's own command that repeats a trial, to be typed on the source host."""

import ipaddress
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchweb.catalog import Parameter, catalog, nested_text
from benchweb.catalog.parts import ADDED
from benchweb.documents.nameless import is_chosen_freely
from benchweb.documents.references import Label, Part, address_ref, free_text, joined_label, kind_ref, value_ref
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


def engine_command(*, pair: Pair, kind: str, params: Mapping[str, Any]) -> Label:
    """Return the command for a pair, kind and parameters; what isn't set has the catalog's default."""
    return _command(kind, params, _peer(pair.sink))


def settings_command(kind: str, params: Mapping[str, Any]) -> Label:
    """Return the command for a kind and parameters on whichever pair: the sink is left to be filled in."""
    return _command(kind, params, ["--peer", "SINK", "--token-file", TOKEN_FILE])


def _command(kind: str, params: Mapping[str, Any], peer: Sequence[Part]) -> Label:
    known = catalog().kinds.get(kind)
    words: list[Part] = ["benchweb-engine", "run", kind if known else kind_ref(shlex.quote(kind))]
    if known is None or not known.is_of_one_host:
        words += peer
    elif DIRECTORY in known.parameters:
        directory = params.get(DIRECTORY)
        words += ["--disk-dir", value_ref(directory, shlex.quote(directory)) if directory else DIRECTORY.upper()]
    for name, value in params.items():
        # What an imported text doesn't tell is left to the engine's default.
        if name not in ADDED and value is not None:
            words += ["--set", _setting(known.series_parameters.get(name) if known else None, name, value)]
    return joined_label(words, " ")


def _setting(parameter: Parameter | None, name: str, value: Any) -> Part:
    """Return `name=value` as a word of the shell."""
    text = _text(value)
    word = shlex.quote(f"{name}={text}")
    if parameter is None:
        return free_text(word)
    if not is_chosen_freely(parameter, value):
        return word
    # What is quoted is quoted from the name on.
    is_quoted = word.startswith("'")
    before, quoted = word.split("=", 1)
    return Label(before, "=", value_ref(text, quoted.removesuffix("'") if is_quoted else quoted), "'" * is_quoted)


def _peer(sink: Endpoint) -> list[Part]:
    words: list[Part] = ["--peer", _control(sink.control_address), "--token-file", TOKEN_FILE]
    if sink.data_address:
        words += ["--data-address", address_ref(sink.data_address, _address(sink.data_address))]
    if sink.fingerprint:
        words += ["--peer-fingerprint", free_text(shlex.quote(sink.fingerprint))]
    return words


def _control(address: str) -> Label:
    host, _colon, port = address.rpartition(":")
    word = shlex.quote(address)
    is_quoted = word != address
    return Label(address_ref(host), ":", port) if host and not is_quoted else address_ref(host.strip("[]"), word)


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
