"""The reports' tests as plans: their kinds, sizes, flows and repetitions, in windows of a second or so."""

from typing import Any

SIZES = [1, 64, 128, 256, 512, 1024, 1500, 2048, 4096, 9000, 16384, 32768, 65536]
REPETITIONS = 3


def plan(name: str, steps: list[dict[str, Any]]) -> dict[str, Any]:
    return {"name": name, "repetitions": REPETITIONS, "order": "interleaved", "steps": steps}


def message_sizes(seconds: float) -> dict[str, Any]:
    """netperf over message sizes, then its three request/response tests."""
    one = {"request_size_bytes": 1, "response_size_bytes": 1, "duration_seconds": seconds}
    return plan(
        "message sizes",
        [
            {"kind": "tcp_stream", "params": {"message_size_bytes": SIZES, "duration_seconds": seconds}},
            {"kind": "udp_stream", "params": {"message_size_bytes": SIZES[:-1], "duration_seconds": seconds}},
            *({"kind": kind, "params": one} for kind in ("tcp_rr", "tcp_crr", "udp_rr")),
        ],
    )


def modes(seconds: float) -> dict[str, Any]:
    """What is compared between network modes: throughput, packet rate and loss, round trips."""
    return plan(
        "network modes",
        [
            {"kind": "tcp_stream", "params": {"message_size_bytes": 16384, "duration_seconds": seconds}},
            {"kind": "udp_stream", "params": {"message_size_bytes": 64, "duration_seconds": seconds}},
            {"kind": "tcp_rr", "params": {"duration_seconds": seconds}},
        ],
    )


def server_baseline(seconds: float) -> dict[str, Any]:
    """Many flows as one test where the report adds up processes; ping idle and under 100 request/response flows."""
    load = {"kind": "tcp_rr", "params": {"flows": 100, "request_size_bytes": 32, "response_size_bytes": 1024}}
    ping = {"count": 20, "probe_interval_seconds": 0.1}
    small = {"request_size_bytes": 32, "response_size_bytes": 32, "duration_seconds": seconds}
    return plan(
        "server baseline",
        [
            {
                "kind": "tcp_stream",
                "params": {"message_size_bytes": [256, 1400], "flows": 160, "duration_seconds": seconds},
            },
            {"kind": "tcp_rr", "params": {"flows": 300, **small}},
            {"kind": "tcp_crr", "params": {"flows": 50, **small}},
            {
                "kind": "udp_stream",
                "params": {"message_size_bytes": [1, 32, 1424, 1500], "flows": 6, "duration_seconds": seconds},
            },
            {"kind": "ping", "params": ping},
            {"kind": "ping", "params": {**ping, "load": load}},
        ],
    )


def host(seconds: float) -> dict[str, Any]:
    """A server's memory and disk, as mbw, STREAM and fio measure them, with small arrays and a small file."""
    disk = {"block_size_bytes": 4096, "depth": 32, "file_size_bytes": 64 << 20, "duration_seconds": seconds}
    kernels = ["memcpy", "dumb", "mcblock", "copy", "scale", "add", "triad"]
    return plan(
        "memory and disk",
        [
            *(
                {
                    "kind": "memory_bandwidth",
                    "params": {"kernel": kernel, "cores": 1, "array_bytes": 32 << 20, "passes": 5},
                }
                for kernel in kernels
            ),
            *(
                {"kind": "disk_io", "params": {**disk, "pattern": pattern}}
                for pattern in ("randwrite", "randread", "write", "read")
            ),
        ],
    )


def wide_area(seconds: float) -> dict[str, Any]:
    """A path's five indicators: pings, and a stream."""
    return plan(
        "wide area",
        [
            {"kind": "ping", "params": {"count": 20, "probe_interval_seconds": 0.05}},
            {"kind": "tcp_stream", "params": {"message_size_bytes": 16384, "duration_seconds": seconds}},
        ],
    )


def methods(seconds: float) -> dict[str, Any]:
    """iperf3's throughput, jitter and loss; netperf beside sar; wrk."""
    return plan(
        "test methods",
        [
            {"kind": "tcp_stream", "params": {"message_size_bytes": [1, 131072], "duration_seconds": seconds}},
            {
                "kind": "udp_stream",
                "params": {"message_size_bytes": 1448, "rate_bps": 1048576, "duration_seconds": seconds},
            },
            {"kind": "udp_stream", "params": {"message_size_bytes": 1, "duration_seconds": seconds}},
            {"kind": "http_load", "params": {"connections": 100, "threads": 4, "duration_seconds": seconds}},
        ],
    )
