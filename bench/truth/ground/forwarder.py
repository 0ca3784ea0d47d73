"""The test forwarder in the middle namespace, and what it says that it did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from subprocess import PIPE
from typing import Any

from bench.truth.ground.topology import PROJECT, Failed, Link, command, process

PROGRAM = PROJECT / "engine/target/release/examples/forwarder"


@dataclass(frozen=True)
class Passed:
    """A data frame: when it came and went by the wall clock in nanoseconds, and the header of a measured datagram."""

    arrived: int
    departed: int
    sequence: int
    sent: int

    @property
    def delay_seconds(self) -> float:
        return (self.departed - self.arrived) / 1e9


@dataclass
class Lane:
    """One direction's counts and log, filled when the forwarder has ended."""

    data_frames: int = 0
    dropped: int = 0
    duplicated: int = 0
    swapped: int = 0
    log: tuple[Passed, ...] = ()

    def fill(self, counts: dict[str, Any]) -> None:
        if counts["missed"]:
            raise Failed(f"the forwarder itself missed {counts['missed']} frames")
        for name in ("data_frames", "dropped", "duplicated", "swapped"):
            setattr(self, name, counts[name])
        self.log = tuple(
            Passed(arrived, departed, start >> 64, start & 0xFFFF_FFFF_FFFF_FFFF)
            for arrived, departed, start in counts["log"]
        )


def build() -> None:
    command(
        "cargo", "build", "--release", "--locked", "--quiet", "--package", "net", "--example", "forwarder",
        "--manifest-path", str(PROJECT / "engine/Cargo.toml"),
    )  # fmt: skip


@contextmanager
def forwarding(link: Link, **settings: int) -> Iterator[tuple[Lane, Lane]]:
    """Forward while the block runs; what went to the sink and what came back are told when it has ended."""
    if link.middle is None:
        raise Failed("this link has no namespace in the middle")
    lanes = (Lane(), Lane())
    words = link.middle.words(str(PROGRAM), "left", "right", *(f"{name}={value}" for name, value in settings.items()))
    with process(words, stdin=PIPE, stdout=PIPE) as child:
        assert child.stdin and child.stdout
        if not child.stdout.readline():
            raise Failed("the forwarder did not start")
        yield lanes
        child.stdin.close()
        report = json.loads(child.stdout.read())
        for lane, counts in zip(lanes, report["lanes"], strict=True):
            lane.fill(counts)
