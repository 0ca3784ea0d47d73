"""Plans to begin with: what people measure most, each short enough to try at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_noop

from benchweb.catalog import Kind

# Powers of four from the smallest message to where a stream no longer gains.
_SIZES_BYTES = [64, 256, 1024, 4096, 16384, 65536]
# As RFC 2544 has them, without the frames' headers: what small packets cost.
_DATAGRAM_BYTES = [64, 256, 512, 1024, 1400]
# Two runs of fewer than four can't be told apart, and one may fail.
_REPETITIONS = 5
_SECONDS = {"duration_seconds": 2}


# A server's baseline as a cloud's hardware team published it (docs/explanation/host-tests.md has its rows): memory by
# mbw's and STREAM's kernels on one core and on all, disks at depths 1 and 32, the network under many flows.
_MEMORY: list[dict[str, Any]] = [
    {
        "kind": "memory_bandwidth",
        "params": {"kernel": ["memcpy", "dumb", "mcblock"], "cores": [1, 0], "array_bytes": 256 * 1024**2},
    },
    {
        "kind": "memory_bandwidth",
        "params": {"kernel": ["copy", "scale", "add", "triad"], "cores": [1, 0], "passes": 20},
    },
]


def _disk(patterns: list[str], kibibytes: list[int], depth: int) -> dict[str, Any]:
    sizes = [size * 1024 for size in kibibytes]
    params = {"pattern": _one_or_many(patterns), "block_size_bytes": _one_or_many(sizes), "depth": depth}
    return {"kind": "disk_io", "params": params}


def _one_or_many(values: list[Any]) -> Any:
    """Return a list as a sweep, or its only value, as the editor saves it."""
    return values if len(values) > 1 else values[0]


_DISK = [
    _disk(["randwrite", "randread", "randrw"], [4], 1),
    _disk(["randwrite", "randread"], [4, 32, 64], 32),
    _disk(["write", "read"], [128], 32),
    _disk(["randrw"], [4, 32], 32),
    _disk(["randrw"], [64], 64),
]
_NETWORK: list[dict[str, Any]] = [
    {"kind": "tcp_stream", "params": {"message_size_bytes": [256, 1400], "flows": 160, **_SECONDS}},
    {"kind": "tcp_rr", "params": {"request_size_bytes": 32, "response_size_bytes": 32, "flows": 300, **_SECONDS}},
    {"kind": "tcp_crr", "params": {"request_size_bytes": 32, "response_size_bytes": 32, "flows": 50, **_SECONDS}},
    {"kind": "udp_stream", "params": {"message_size_bytes": [1, 32, 1424, 1500], "flows": 6, **_SECONDS}},
    {
        "kind": "ping",
        "params": {
            "count": 300,
            "probe_interval_seconds": 0.1,
            "load": {"kind": "tcp_rr", "params": {"request_size_bytes": 32, "response_size_bytes": 1024, "flows": 100}},
        },
    },
]


@dataclass(frozen=True)
class PlanTemplate:
    """A plan to begin with; `title` and `summary` are marked by gettext_noop, the name is kept as it is."""

    key: str
    name: str
    title: str
    summary: str
    steps: list[dict[str, Any]]
    repetitions: int = _REPETITIONS


TEMPLATES = (
    PlanTemplate(
        "sizes",
        "message sizes",
        gettext_noop("Message sizes"),
        gettext_noop("TCP throughput over message sizes from 64 B to 64 KiB"),
        [{"kind": "tcp_stream", "params": {"message_size_bytes": _SIZES_BYTES, **_SECONDS}}],
    ),
    PlanTemplate(
        "latency",
        "latency",
        gettext_noop("Latency"),
        gettext_noop("Round trips of one byte by TCP and UDP, connections, and ping"),
        [
            {"kind": "tcp_rr", "params": dict(_SECONDS)},
            {"kind": "udp_rr", "params": dict(_SECONDS)},
            {"kind": "tcp_crr", "params": dict(_SECONDS)},
            {"kind": "ping", "params": {"count": 20}},
        ],
    ),
    PlanTemplate(
        "packets",
        "packet rate",
        gettext_noop("Packet rate"),
        gettext_noop("UDP packets per second and loss over datagram sizes"),
        [{"kind": "udp_stream", "params": {"message_size_bytes": _DATAGRAM_BYTES, **_SECONDS}}],
    ),
    PlanTemplate(
        "baseline",
        "server baseline",
        gettext_noop("Server baseline"),
        gettext_noop(
            "Memory, disk and network of a server, as a published baseline has them; the disk needs --disk-dir"
        ),
        [*_MEMORY, *_DISK, *_NETWORK],
        repetitions=3,
    ),
    PlanTemplate(
        "host",
        "host baseline",
        gettext_noop("Host baseline"),
        gettext_noop("Memory and disk of one host, without a second one; the disk needs --disk-dir"),
        [*_MEMORY, *_DISK],
        repetitions=3,
    ),
    PlanTemplate(
        "network",
        "network baseline",
        gettext_noop("Network baseline"),
        gettext_noop("What a server's network can do: one and 16 flows, small packets, latency idle and under load"),
        [
            {"kind": "tcp_stream", "params": {"flows": [1, 16], "direction": ["forward", "reverse"], **_SECONDS}},
            {"kind": "udp_stream", "params": {"message_size_bytes": [64, 1400], **_SECONDS}},
            {"kind": "tcp_rr", "params": {"flows": [1, 16], **_SECONDS}},
            {"kind": "tcp_crr", "params": dict(_SECONDS)},
            {"kind": "ping", "params": {"load": {"kind": "tcp_stream", "params": {"flows": 4}}}},
        ],
    ),
    PlanTemplate(
        "check",
        "quick check",
        gettext_noop("Quick check"),
        gettext_noop("One size of each: TCP throughput, UDP throughput and loss, latency; about half a minute"),
        [
            {"kind": "tcp_stream", "params": {"duration_seconds": 1}},
            {"kind": "udp_stream", "params": {"duration_seconds": 1}},
            {"kind": "tcp_rr", "params": {"duration_seconds": 1}},
        ],
    ),
)


def template_named(key: str) -> PlanTemplate | None:
    """Find a template by its key."""
    return next((template for template in TEMPLATES if template.key == key), None)


def quick_test(kind: Kind) -> Mapping[str, Any]:
    """Return what a quick test of a kind measures, as the services take a plan: its defaults, for a short time."""
    params = {name: value for name, value in _SECONDS.items() if name in kind.parameters}
    steps = [{"kind": kind.name, "params": params}]
    return {"name": f"quick {kind.name}", "steps": steps, "repetitions": _REPETITIONS, "order": "interleaved"}
