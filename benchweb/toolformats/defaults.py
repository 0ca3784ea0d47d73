"""What tools do by themselves where their output doesn't tell it: what their manuals and sources leave no doubt of.

By tool and kind of the catalog. None says that a tool's own default isn't the catalog's, and what it was isn't certain.
"""

from collections.abc import Mapping
from typing import Any

_STREAM = {"flows": 1, "direction": "forward", "send_mode": "send"}
_REQUESTS = {"flows": 1, "request_size_bytes": 1, "response_size_bytes": 1}
# Who passes no rate sends 1 Mbit/s, which nearly nobody does; the text tells neither.
_IPERF_DATAGRAMS = {**_STREAM, "rate_bps": None}
# What wrk doesn't print beside -t, -c and -d; its sockets have TCP_NODELAY (net.c).
_WRK = {"timeout_seconds": 2, "nodelay": True}

_CERTAIN: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("netperf", "tcp_stream"): _STREAM,
    ("netperf", "udp_stream"): _STREAM,
    ("netperf", "tcp_rr"): _REQUESTS,
    ("netperf", "tcp_crr"): _REQUESTS,
    ("netperf", "udp_rr"): _REQUESTS,
    ("iperf3", "tcp_stream"): _STREAM,
    ("iperf3", "udp_stream"): _IPERF_DATAGRAMS,
    ("iperf2", "tcp_stream"): _STREAM,
    ("iperf2", "udp_stream"): _IPERF_DATAGRAMS,
    ("qperf", "tcp_stream"): _STREAM,
    ("qperf", "udp_stream"): _STREAM,
    # 64 KiB without -l (nuttcp.c).
    ("nuttcp", "tcp_stream"): {**_STREAM, "message_size_bytes": 65536},
    ("nuttcp", "udp_stream"): {**_STREAM, "rate_bps": None},
    # A sender sends to its receiver; how many connections it opens by itself isn't alike on Windows and Linux.
    ("ntttcp", "tcp_stream"): {"direction": "forward", "send_mode": "send"},
    ("ntttcp", "udp_stream"): {"direction": "forward", "send_mode": "send"},
    ("wrk", "http_load"): {**_WRK, "rate_rps": 0},
    ("wrk2", "http_load"): _WRK,
    # ab is one thread, and waits as long without -s (ab.c); hey without -t, and Go sets TCP_NODELAY.
    ("ab", "http_load"): {"threads": 1, "rate_rps": 0, "timeout_seconds": 30},
    ("hey", "http_load"): {"rate_rps": 0, "timeout_seconds": 20, "nodelay": True},
    ("oha", "http_load"): {"rate_rps": 0},
    ("ping", "ping"): {"probe": "icmp"},
    ("fping", "ping"): {"probe": "icmp"},
    ("fio", "disk_io"): {"jobs": 1, "read_percent": 50},
    ("mbw", "memory_bandwidth"): {"array_bytes": None},
    ("stream", "memory_bandwidth"): {"array_bytes": None},
    ("sysbench", "memory_bandwidth"): {"array_bytes": None},
}


def certain_defaults(tool: str, kind: str) -> Mapping[str, Any]:
    """Return the parameters of a kind that a tool is certain to have where its output tells none."""
    return _CERTAIN.get((tool, kind), {})
