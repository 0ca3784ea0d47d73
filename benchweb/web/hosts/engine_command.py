"""The one command that starts an engine on a host."""

import shlex
from dataclasses import dataclass

from benchweb.hosts.addresses import DEFAULT_CONTROL_PORT, AddressError, control_address


@dataclass(frozen=True)
class EngineCommand:
    """The command as one line to copy and as lines to read; `token` must never be logged."""

    lines: list[str]

    @property
    def words(self) -> list[list[str]]:
        """Return the words of each line: shown, a line is broken between them and not at a hyphen."""
        return [line.split(" ") for line in self.lines]

    @property
    def text(self) -> str:
        return " && \\\n".join(self.lines)


def engine_command(*, address: str, token: str) -> EngineCommand:
    """Return the command for an engine that listens on the port of `address` and expects `token`."""
    port = _port(address)
    # Engines on one machine differ by their ports: each has a state and a token of its own.
    own = "benchweb-engine" if port == DEFAULT_CONTROL_PORT else f"benchweb-engine-{port}"
    return EngineCommand(
        [
            "umask 077",
            f"mkdir -p {own}-state",
            f"printf '%s\\n' {shlex.quote(token or 'THE-TOKEN')} > {own}-token",
            f"./benchweb-engine serve --listen 0.0.0.0:{port} --data-port {port + 1}"
            f" --state-dir {own}-state --token-file {own}-token",
        ]
    )


def _port(address: str) -> int:
    try:
        port = control_address(address)[1] if address.strip() else DEFAULT_CONTROL_PORT
    except AddressError:
        return DEFAULT_CONTROL_PORT
    # The data port is the next one: 65535 has none.
    return min(port, 65534)
