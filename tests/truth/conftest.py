"""Two namespaces, built and torn down once, for a wire between them."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from bench.truth.ground.topology import (
    SINK_ADDRESS,
    SINK_ADDRESS_V6,
    SOURCE_ADDRESS,
    SOURCE_ADDRESS_V6,
    Namespace,
    namespace,
)
from bench.truth.ground.topology import address as give_address
from bench.truth.ground.wire import DEVICE, Wire, build, wire
from tests.requirements import require

Spaces = tuple[Namespace, Namespace]
ADDRESSES = ((SOURCE_ADDRESS, SOURCE_ADDRESS_V6), (SINK_ADDRESS, SINK_ADDRESS_V6))
Joined = Callable[..., AbstractContextManager[Wire]]


@pytest.fixture(scope="package")
def spaces() -> Iterator[Spaces]:
    require("Rust", "network namespaces")
    build()
    with namespace("a") as left, namespace("b") as right:
        yield left, right


@pytest.fixture
def joined(spaces: Spaces) -> Joined:
    """Join the namespaces by a wire as described, with addresses at both ends."""

    @contextmanager
    def joined(**settings: Any) -> Iterator[Wire]:
        with wire(*spaces, **settings) as running:
            for space, addresses in zip(spaces, ADDRESSES, strict=True):
                give_address(space, DEVICE, *addresses)
            for space, other, addresses in zip(spaces, reversed(spaces), reversed(ADDRESSES), strict=True):
                know_neighbour(space, other, *addresses)
            yield running

    return joined


def know_neighbour(space: Namespace, other: Namespace, *addresses: str) -> None:
    """Let a namespace know the other's hardware address: packets that wait for ARP may be overtaken by later ones."""
    hardware = other.run("cat", f"/sys/class/net/{DEVICE}/address").strip()
    for each in addresses:
        space.run("ip", "neighbour", "replace", each, "lladdr", hardware, "dev", DEVICE, "nud", "permanent")
