"""Meshes of hosts in network namespaces: a switch joins them, each has an uplink and real engines, links are paced.

Needs root. The worker has a namespace of its own, from which a cable goes to every engine. Two hosts of a mesh may have
a direct link beside the switch. Links are paced by `tc tbf` far below what the machine could carry, so that their
figures are steady whatever else it does.
"""

import ctypes
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from bench.faults.spaces import PORT, RealEngine
from bench.truth.ground.topology import Namespace, address, cable, namespace

LINK_MBIT = 40
# What a token bucket may send at once, and for how long packets wait in it: longer than a busy machine keeps a sender
# from its turn, or the link would idle.
_BURST, _LATENCY = "16kb", "150ms"
_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)
_controls = count(1)


@dataclass
class Mesh:
    """Hosts from 0 on; `direct` are two of them with a link of their own."""

    name: str
    spaces: Sequence[Namespace]
    engines: Sequence[RealEngine]
    network: str
    direct: tuple[int, int]
    switch: Namespace

    def shape_uplink(self, host: int, mbit: float) -> None:
        """Pace what a host sends to the switch."""
        pace(self.spaces[host], "data", mbit)

    def shape_direct(self, mbit: float) -> None:
        """Pace the direct link, in both directions."""
        for host in self.direct:
            pace(self.spaces[host], "direct", mbit)

    def shape_port(self, host: int, mbit: float) -> None:
        """Pace what the switch sends to a host."""
        pace(self.switch, f"port-{host + 1}", mbit)

    def drop(self, host: int, *, what: str) -> None:
        """Have a host drop some of what it receives from the switch: an nftables match such as `meta l4proto udp`."""
        rules = ("type filter hook prerouting priority 0", f'iifname "data" {what} drop')
        lines = "".join(f"{rule}\n" for rule in rules)
        self.spaces[host].rules(f"table inet lab {{\nchain lost {{\n{lines}}}\n}}\n")

    def drop_nothing(self, host: int) -> None:
        """Let a host have all that it receives again."""
        self.spaces[host].rules("")

    def set_mtu(self, host: int, mtu: int) -> None:
        """Set the largest packet of a host's interface to the switch."""
        self.spaces[host].run("ip", "link", "set", "data", "mtu", str(mtu))

    def kill(self, host: int) -> None:
        """Kill a host's engine."""
        self.engines[host].kill()

    def revive(self, host: int) -> None:
        """Start a host's engine again."""
        self.engines[host].start()

    @property
    def rows(self) -> list[dict[str, Any]]:
        """What the dashboard has to know of each engine."""
        return [
            {
                "control": f"{engine.control}:{PORT}",
                "data": f"{self.network}.{number}",
                "fingerprint": engine.fingerprint,
                "token": engine.token,
            }
            for number, engine in enumerate(self.engines, start=1)
        ]


def mesh(stack: ExitStack, folder: Path, controller: Namespace, *, name: str, network: str, hosts: int) -> Mesh:
    """Make a mesh with its engines; `network` is the first three parts of its addresses."""
    switch = stack.enter_context(namespace(f"{name}-switch"))
    switch.run("ip", "link", "add", "bridge", "type", "bridge")
    switch.run("ip", "link", "set", "bridge", "up")
    spaces = [stack.enter_context(namespace(f"{name}-{number}")) for number in range(1, hosts + 1)]
    for number, space in enumerate(spaces, start=1):
        cable(space, "data", switch, f"port-{number}")
        switch.run("ip", "link", "set", f"port-{number}", "master", "bridge")
        address(space, "data", f"{network}.{number}")
        pace(space, "data", LINK_MBIT)
    _join_directly(spaces[0], spaces[1], network)
    engines = [_engine(stack, folder / f"{name}-{number}", controller, space) for number, space in enumerate(spaces, 1)]
    return Mesh(name, spaces, engines, network, (0, 1), switch)


def pace(space: Namespace, device: str, mbit: float) -> None:
    """Let a device send so much and no more."""
    rate = ["tbf", "rate", f"{mbit:g}mbit", "burst", _BURST, "latency", _LATENCY]
    space.run("tc", "qdisc", "replace", "dev", device, "root", *rate)


@contextmanager
def inside(space: Namespace) -> Iterator[None]:
    """Have this thread, and those that it starts, in a namespace: a socket stays in the one that it was made in."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{space.name}", os.O_RDONLY)
    try:
        _enter(there)
        yield
    finally:
        _enter(home)
        os.close(there)
        os.close(home)


def _join_directly(first: Namespace, second: Namespace, network: str) -> None:
    cable(first, "direct", second, "direct")
    for space, own, other in ((first, 1, 2), (second, 2, 1)):
        route = ["ip", "route", "add", f"{network}.{other}/32", "dev", "direct", "src", f"{network}.{own}"]
        space.run(*route)
        pace(space, "direct", LINK_MBIT)


def _engine(stack: ExitStack, folder: Path, controller: Namespace, space: Namespace) -> RealEngine:
    number = next(_controls)
    cable(controller, f"control-{number}", space, "control")
    address(controller, f"control-{number}", f"10.86.{number}.1")
    address(space, "control", f"10.86.{number}.2")
    engine = RealEngine(space, folder, f"10.86.{number}.2")
    stack.callback(engine.kill)
    return engine


def _enter(descriptor: int) -> None:
    if _libc.setns(descriptor, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")
