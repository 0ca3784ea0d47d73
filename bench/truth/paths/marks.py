"""The code point asked for is on the wire: every packet of the data connections bears it, and the link's do not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench.truth.ground.topology import SINK_ADDRESS, SINK_ADDRESS_V6, link
from bench.truth.ground.verdict import Verdict

EXPEDITED_FORWARDING = 46
PROBES = 5
# The link's own packets, some fifteen a test, are among the thousands that are counted.
LINK_SHARE = 0.02
RULES = """
table inet marks {
  counter marked {}
  counter everything {}
  chain arriving {
    type filter hook prerouting priority 0
    iifname "data" meta l4proto { tcp, udp } counter name everything
    iifname "data" icmp type echo-request counter name everything
    iifname "data" icmpv6 type echo-request counter name everything
    iifname "data" ip dscp ef counter name marked
    iifname "data" ip6 dscp ef counter name marked
  }
}
"""


def prove() -> Iterator[Verdict]:
    with link() as between:
        between.sink.rules(RULES)
        for family, address in (("IPv4", SINK_ADDRESS), ("IPv6", SINK_ADDRESS_V6)):
            for kind in ("tcp_stream", "udp_stream", "tcp_rr", "tcp_crr", "udp_rr", "http_load"):
                counts = _counted(between, kind, {"duration_seconds": 0.3}, address)
                yield Verdict(
                    f"{kind}, {family}: packets marked", counts["everything"], counts["marked"], LINK_SHARE, "packets"
                )
            probes = {"count": PROBES, "probe_interval_seconds": 0.02}
            counts = _counted(between, "ping", probes, address)
            yield Verdict(f"ping, {family}: echo requests marked", PROBES, counts["marked"], 0, "packets")


def _counted(between: Any, kind: str, params: dict[str, Any], address: str) -> dict[str, int]:
    before = between.sink.nft_counters()
    between.measure(kind, {"dscp": EXPEDITED_FORWARDING, **params}, address)
    after = between.sink.nft_counters()
    return {name: after[name] - before[name] for name in after}
