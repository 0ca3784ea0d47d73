"""What a look at a path means, in a status and a sentence that says what to open."""

from benchweb.hosts.models import Pair
from benchweb.hosts.path_checks import Passage, PathFound, PathSize

_REFUSED = "refused"
_NO_ANSWER = "no_answer"


def path_verdict(found: PathFound, *, source: str, sink: str, udp_arrived: int) -> tuple[str, str]:
    """Return the status of a pair's path, and what to do about it; `udp_arrived` is how many hellos the sink saw."""
    blocked = _blocked(found, source, sink, udp_arrived)
    if blocked:
        return Pair.Path.BLOCKED, blocked
    narrow = " ".join(
        _narrow(size, begin, end)
        for size, begin, end in ((found.forward, source, sink), (found.backward, sink, source))
        if size is not None and size.is_silent
    )
    return (Pair.Path.NARROW, narrow) if narrow else (Pair.Path.PASSES, "")


def _blocked(found: PathFound, source: str, sink: str, udp_arrived: int) -> str:
    tcp, udp, port, address = found.tcp, found.udp, found.data_port, found.address
    if tcp.fault == _NO_ANSWER:
        return (
            f"What accepts TCP {port} at {address} is not the engine of {sink}, or a firewall cuts connections to it: "
            "correct the address for test traffic, or let the connections through."
        )
    if not tcp.passes and not udp.passes:
        if tcp.fault == _REFUSED:
            return (
                f"TCP and UDP {port} of {sink} are refused at {address}: is the engine's data port there, and does a "
                f"firewall of it reject {source}?"
            )
        return (
            f"Neither TCP nor UDP passes from {source} to {address}: open TCP and UDP {port} of {sink} for {source} in "
            "every firewall between them."
        )
    if not tcp.passes:
        return f"UDP passes, TCP doesn't: open TCP {port} of {sink} at {address} for {source}."
    return _udp_blocked(udp, found, source, sink, udp_arrived)


def _udp_blocked(udp: Passage, found: PathFound, source: str, sink: str, udp_arrived: int) -> str:
    port = found.data_port
    if udp.passes:
        return ""
    if udp_arrived:
        return (
            f"TCP passes, UDP only one way: {udp_arrived} datagrams reached {sink}, and none of its answers came back. "
            f"Let UDP from port {port} of {sink} through to {source}."
        )
    return f"TCP passes, UDP doesn't: open UDP {port} of {sink} at {found.address} for {source}."


def _narrow(size: PathSize, begin: str, end: str) -> str:
    return (
        f"Packets over {size.mtu_bytes:,} bytes from {begin} to {end} vanish without a word: let ICMP through, or set "
        f"the MTU of both interfaces to {size.mtu_bytes:,}."
    )
