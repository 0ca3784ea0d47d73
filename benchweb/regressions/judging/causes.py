"""Find what pairs have in common: hosts, and the uplinks or sites that hosts share."""

from collections.abc import Collection, Iterable
from functools import reduce
from typing import NamedTuple

from benchweb.hosts.models import Pair


class Cause(NamedTuple):
    """A place where a fault may be: a host by its id, or an uplink by its name."""

    host_id: int = 0
    uplink: str = ""


def causes_of(pair: Pair) -> frozenset[Cause]:
    """Return where a fault may be that only this pair shows; the pair comes with its ends' hosts."""
    hosts = (pair.source.host, pair.sink.host)
    uplinks = {host.uplink for host in hosts if host.uplink}
    # Within one uplink no traffic of the pair leaves it.
    leaves = hosts[0].uplink != hosts[1].uplink
    return frozenset(
        [*(Cause(host_id=host.pk) for host in hosts), *(Cause(uplink=uplink) for uplink in uplinks if leaves)]
    )


def common_causes(pairs: Iterable[Pair]) -> frozenset[Cause]:
    """Return what all of these pairs share."""
    causes = [causes_of(pair) for pair in pairs]
    return reduce(frozenset.intersection, causes) if causes else frozenset()


def common_host(causes: Collection[Cause], known: int | None = None) -> int | None:
    """Return the host among the causes that is known to be at fault, else the only one; None where there are more."""
    hosts = [cause.host_id for cause in causes if cause.host_id]
    if known in hosts:
        return known
    return hosts[0] if len(hosts) == 1 else None


def common_uplink(causes: Collection[Cause]) -> str:
    """Return the uplink among the causes where no host is."""
    if any(cause.host_id for cause in causes):
        return ""
    return next((cause.uplink for cause in causes if cause.uplink), "")
