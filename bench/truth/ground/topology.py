"""Two network namespaces with veth pairs between them, engines in them, and everything gone afterwards.

`data` carries the test traffic and nothing else; `control` carries TLS, so that it spoils no counter. Segmentation and
checksum offloads of `data` are off: its counters count frames as a wire would have them.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[3]
ENGINE = PROJECT / "engine/target/release/benchweb-engine"
SOURCE_ADDRESS, SINK_ADDRESS = "10.83.0.1", "10.83.0.2"
SOURCE_ADDRESS_V6, SINK_ADDRESS_V6 = "fd83::1", "fd83::2"
SOURCE_CONTROL, SINK_CONTROL = "10.84.0.1", "10.84.0.2"
OFFLOADS = ("tso", "gso", "gro", "tx", "rx")
START_LIMIT_SECONDS = 10
RUN_LIMIT_SECONDS = 120


class Failed(Exception):
    """A command of the proof itself failed."""


def command(*words: str, limit_seconds: float = RUN_LIMIT_SECONDS) -> str:
    """Run a command to its end; its standard output."""
    finished = subprocess.run(words, capture_output=True, text=True, timeout=limit_seconds, check=False)
    if finished.returncode != 0:
        raise Failed(f"{' '.join(words)} failed with {finished.returncode}:\n{finished.stdout}{finished.stderr}")
    return finished.stdout


@dataclass(frozen=True)
class Namespace:
    """A network namespace by name."""

    name: str

    def words(self, *words: str) -> list[str]:
        return ["ip", "netns", "exec", self.name, *words]

    def run(self, *words: str) -> str:
        return command(*self.words(*words))

    def rules(self, text: str) -> None:
        """Load an nftables ruleset in place of the one there."""
        finished = subprocess.run(
            self.words("nft", "-f", "-"), input=f"flush ruleset\n{text}", text=True, capture_output=True, check=False
        )
        if finished.returncode != 0:
            raise Failed(f"nft refused:\n{text}\n{finished.stderr}")

    def nft_counters(self) -> dict[str, int]:
        """Packets of every named nftables counter."""
        listing = json.loads(self.run("nft", "-j", "list", "counters"))
        counters = (entry["counter"] for entry in listing["nftables"] if "counter" in entry)
        return {counter["name"]: counter["packets"] for counter in counters}

    def udp_overflows(self) -> int:
        """Datagrams that a full receive buffer lost so far, IPv4 and IPv6."""
        lines = self.run("cat", "/proc/net/snmp").splitlines()
        names, values = (line.split() for line in lines if line.startswith("Udp:"))
        overflows = int(values[names.index("RcvbufErrors")])
        for line in self.run("cat", "/proc/net/snmp6").splitlines():
            if line.startswith("Udp6RcvbufErrors"):
                overflows += int(line.split()[1])
        return overflows

    def frames(self, device: str) -> dict[str, int]:
        """An interface's counters."""
        names = ("rx_bytes", "rx_packets", "tx_bytes", "tx_packets")
        values = self.run("cat", *(f"/sys/class/net/{device}/statistics/{name}" for name in names)).split()
        return dict(zip(names, map(int, values), strict=True))


@dataclass
class Link:
    """Both ends of a test, and how to run one."""

    source: Namespace
    sink: Namespace
    token: Path
    middle: Namespace | None = None
    control: str = SINK_CONTROL

    def words(self, kind: str, params: dict[str, Any], address: str = SINK_ADDRESS) -> list[str]:
        settings = [word for name, value in params.items() for word in ("--set", f"{name}={value}")]
        return self.source.words(
            str(ENGINE), "run", kind, "--peer", f"{self.control}:7410", "--data-address", address,
            "--token-file", str(self.token), "--json", *settings,
        )  # fmt: skip

    def measure(self, kind: str, params: dict[str, Any], address: str = SINK_ADDRESS) -> dict[str, Any]:
        """Run one test; its result."""
        result: dict[str, Any] = json.loads(command(*self.words(kind, params, address)))
        return result


@contextmanager
def namespace(role: str) -> Iterator[Namespace]:
    name = f"bwtruth-{os.getpid()}-{role}-{secrets.token_hex(2)}"
    command("ip", "netns", "add", name)
    try:
        space = Namespace(name)
        space.run("ip", "link", "set", "lo", "up")
        # No router solicitations or address checks of the kernel's own on the counted link.
        settings = ("conf.all.accept_ra", "conf.default.accept_dad", "conf.default.router_solicitations")
        space.run("sysctl", "-qw", *(f"net.ipv6.{setting}=0" for setting in settings))
        yield space
    finally:
        subprocess.run(["ip", "netns", "del", name], check=False)


def cable(left: Namespace, left_device: str, right: Namespace, right_device: str) -> None:
    """Join two namespaces by a veth pair without offloads."""
    command(
        "ip", "link", "add", left_device, "netns", left.name, "type", "veth",
        "peer", "name", right_device, "netns", right.name,
    )  # fmt: skip
    for space, device in ((left, left_device), (right, right_device)):
        space.run("ethtool", "-K", device, *(word for offload in OFFLOADS for word in (offload, "off")))
        space.run("ip", "link", "set", device, "up")


def address(space: Namespace, device: str, *addresses: str) -> None:
    for address in addresses:
        length = "64" if ":" in address else "24"
        space.run("ip", "address", "add", f"{address}/{length}", "dev", device)


@contextmanager
def process(words: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process in the background, ended by SIGTERM."""
    child = subprocess.Popen(list(words), text=True, **options)
    try:
        yield child
    finally:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(timeout=10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def wait_for_port(space: Namespace, port: int) -> None:
    deadline = time.monotonic() + START_LIMIT_SECONDS
    while f":{port} " not in space.run("ss", "-Hltn"):
        if time.monotonic() > deadline:
            raise Failed(f"nothing listens on port {port} after {START_LIMIT_SECONDS} s")
        time.sleep(0.05)


Join = Callable[[ExitStack, Namespace, Namespace], None]


@contextmanager
def link(has_middle: bool = False, *, join: Join | None = None, is_control_apart: bool = True) -> Iterator[Link]:
    """Source and sink joined by `data`: directly, through a third namespace that forwards nothing, or as `join` does.

    Control has a cable of its own, or goes over `data` too.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bwtruth-")))
        token = folder / "token"
        token.touch(mode=0o600)
        token.write_text(secrets.token_hex(32))
        source = stack.enter_context(namespace("a"))
        sink = stack.enter_context(namespace("b"))
        middle = stack.enter_context(namespace("m")) if has_middle else None
        for space in (source, sink):
            space.run("sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno")
        if is_control_apart:
            cable(source, "control", sink, "control")
            address(source, "control", SOURCE_CONTROL)
            address(sink, "control", SINK_CONTROL)
        if join is not None:
            join(stack, source, sink)
        elif middle is None:
            cable(source, "data", sink, "data")
        else:
            middle.run("sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
            cable(source, "data", middle, "left")
            cable(middle, "right", sink, "data")
        address(source, "data", SOURCE_ADDRESS, SOURCE_ADDRESS_V6)
        address(sink, "data", SINK_ADDRESS, SINK_ADDRESS_V6)
        control = SINK_CONTROL if is_control_apart else SINK_ADDRESS
        serve = sink.words(
            str(ENGINE), "serve", "--listen", f"{control}:7410", "--state-dir", str(folder / "state"),
            "--token-file", str(token),
        )  # fmt: skip
        stack.enter_context(process(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        wait_for_port(sink, 7411)
        yield Link(source, sink, token, middle, control)
