"""A wire in user space between two namespaces, and what it says that it did: `engine/crates/wire`.

The namespaces' devices are made by the wire. A description of a way is as `benchweb-wire --help` tells it:
`delay=600ms,rate=1Mbit,queue=1MB,loss=2%`.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from subprocess import PIPE
from typing import IO, Any

from bench.truth.ground.topology import PROJECT, Failed, Link, Namespace, command, link, process

PROGRAM = PROJECT / "engine/target/release/benchweb-wire"
DEVICE = "data"
BUILD_LIMIT_SECONDS = 900


@dataclass(frozen=True)
class Counts:
    """Packets of one way, of one protocol or of several; `delivered` has the duplicates in it."""

    offered: int = 0
    offered_bytes: int = 0
    delivered: int = 0
    delivered_bytes: int = 0
    lost: int = 0
    duplicated: int = 0
    reordered: int = 0
    queue_full: int = 0
    too_big: int = 0
    outage: int = 0
    blocked: int = 0
    refused: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


class FramesMissed(Failed):
    """The wire itself was too slow for what it was given: no figure over it counts."""


@dataclass(frozen=True)
class WireReport:
    """Counts of both ways so far, by protocol: tcp, udp, icmp, neighbour, other."""

    forward: dict[str, Counts]
    backward: dict[str, Counts]

    @classmethod
    def read(cls, report: dict[str, Any]) -> WireReport:
        """Read a line of the wire's; frames that it missed are a failure of the rig."""
        if any(report["missed"]):
            raise FramesMissed(
                f"the wire itself missed {report['missed']} frames: the machine is too busy for this proof"
            )
        ways = ({name: Counts(**counts) for name, counts in report[way].items()} for way in ("forward", "backward"))
        return cls(*ways)

    def of(self, way: str, *protocols: str) -> Counts:
        """Return the sum over some protocols, all but neighbour discovery by default."""
        counts: dict[str, Counts] = getattr(self, way)
        names = protocols or tuple(name for name in counts if name != "neighbour")
        return sum((counts.get(name, Counts()) for name in names), Counts())


@dataclass(frozen=True)
class Packet:
    """A line of the wire's log: times are the wall clock's nanoseconds, `start` the payload's, `sequence` TCP's."""

    way: str
    fate: str
    protocol: str
    payload_bytes: int
    arrived: int
    departed: int
    ports: tuple[int, int]
    sequence: int
    start: bytes

    @classmethod
    def read(cls, line: str) -> Packet:
        """Read a line of the log."""
        way, fate, protocol, *numbers = line.split()[:9]
        length, arrived, departed, source, destination, sequence = map(int, numbers)
        start = bytes.fromhex("".join(line.split()[9:]))
        return cls(
            way, fate.lower(), protocol.lower(), length, arrived, departed, (source, destination), sequence, start
        )


@dataclass
class Wire:
    """A wire that runs; `told` is filled when it has ended."""

    process: subprocess.Popen[str]
    log: Path
    report: WireReport = field(default_factory=lambda: WireReport({}, {}))

    def wait_ready(self) -> None:
        """Wait until its devices are there."""
        self._answer()

    def start(self) -> None:
        """Let described outages and lists of delays count from now on."""
        self._say("start")

    def outage(self, *, begins: bool, way: str = "") -> None:
        """Let nothing pass, or all again; one way or both."""
        self._say(f"{way} outage {'begin' if begins else 'end'}")

    def cut(self, *, after: float, seconds: float) -> None:
        """Wait, then let nothing pass for some seconds."""
        time.sleep(after)
        self.outage(begins=True)
        time.sleep(seconds)
        self.outage(begins=False)

    def change(self, settings: str, way: str = "") -> None:
        """Change what is named in a description, of one way or both, and leave the rest."""
        self._say(f"{way} {settings}")

    def counts(self) -> WireReport:
        """Return what it has done until now."""
        return self._say("counts")

    def packets(self, way: str, protocol: str, payload_bytes: int | None = None) -> Iterator[Packet]:
        """Read the log of a wire that has ended: packets of one way, protocol and length."""
        with self.log.open() as lines:
            for line in lines:
                packet = Packet.read(line)
                if (packet.way, packet.protocol) == (way, protocol) and payload_bytes in (None, packet.payload_bytes):
                    yield packet

    def end(self) -> None:
        """End it and keep its last counts; ended already, do nothing."""
        if not self._input.closed:
            self._input.close()
            self.report = WireReport.read(self._answer())

    @property
    def _input(self) -> IO[str]:
        assert self.process.stdin
        return self.process.stdin

    def _say(self, line: str) -> WireReport:
        self._input.write(f"{line}\n")
        self._input.flush()
        return WireReport.read(self._answer())

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"event": "refused", "why": "the wire has ended"}
        if answer["event"] == "refused":
            raise Failed(answer["why"])
        return answer


def build() -> None:
    """Build the wire's program, where it isn't yet."""
    command(
        "cargo", "build", "--release", "--locked", "--quiet", "--package", "wire",
        "--manifest-path", str(PROJECT / "engine/Cargo.toml"), limit_seconds=BUILD_LIMIT_SECONDS,
    )  # fmt: skip


@contextmanager
def wire(
    left: Namespace,
    right: Namespace,
    *,
    both: str = "",
    forward: str = "",
    backward: str = "",
    seed: int = 1,
    mtu: int = 1500,
    is_logged: bool = False,
) -> Iterator[Wire]:
    """Join two namespaces by a wire while the block runs; `both` holds for each way, with its own settings after it."""
    words = [str(PROGRAM), f"{left.name}:{DEVICE}", f"{right.name}:{DEVICE}", "--seed", str(seed)]
    words += ["--forward", f"{both},{forward}", "--backward", f"{both},{backward}"]
    with tempfile.TemporaryDirectory(prefix="bwtruth-") as folder:
        log = Path(folder) / "log"
        if is_logged:
            words += ["--log", str(log)]
        with process(words, stdin=PIPE, stdout=PIPE) as child:
            running = Wire(child, log)
            running.wait_ready()
            for space in (left, right):
                space.run("ip", "link", "set", DEVICE, "up", "mtu", str(mtu))
            yield running
            running.end()


@contextmanager
def wired(*, is_control_apart: bool = False, **settings: Any) -> Iterator[tuple[Link, Wire]]:
    """Run the engines of `topology.link` with all that they say over a wire; the control link apart when asked."""
    wires: list[Wire] = []

    def join(stack: ExitStack, source: Namespace, sink: Namespace) -> None:
        wires.append(stack.enter_context(wire(source, sink, **settings)))

    with link(join=join, is_control_apart=is_control_apart) as between:
        yield between, wires[0]
