"""The network tests of three published reports: what each was run with, and the engine's command for the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.published.tools import NGINX_PORT, netperf, netperf_each, netperf_with_sar, ping, plain
from bench.truth.ground.topology import SINK_ADDRESS, Link

NGINX_URL = f"http://{SINK_ADDRESS}:{NGINX_PORT}/index.html"
SIZES = [1, 64, 128, 256, 512, 1024, 1500, 2048, 4096, 9000, 16384, 32768, 65536]
UDP_SIZES = [size for size in SIZES if size < 65536]
ALL_SIZES = ",".join(map(str, SIZES))
ALL_UDP_SIZES = ",".join(map(str, UDP_SIZES))


@dataclass(frozen=True)
class Test:
    """One published test: what it was run with, and the engine's command for the same."""

    report: str
    title: str
    tool: str
    engine: str
    # Runs the tool in the namespaces and gives what is worth showing of its output.
    run: Callable[[Link, int], str]


REPORT_QEMU = "netperf on openEuler riscv64 in QEMU"
REPORT_METHODS = "Network performance tests (iperf3, netperf, sar, wrk)"
REPORT_BASELINE = "Server baseline PI129v1, network card"


# What a report calls a test, what it was run with, the engine's words for the same, and what runs the tool.
_Entry = tuple[str, str, str, Callable[[Link, int], str]]


def tests() -> list[Test]:
    """Return every network test of the reports, in their order."""
    reports = ((REPORT_QEMU, _qemu()), (REPORT_METHODS, _methods()), (REPORT_BASELINE, _baseline()))
    return [Test(report, *entry) for report, entries in reports for entry in entries]


def _qemu() -> list[_Entry]:
    return [
        (
            "TCP_STREAM over message sizes",
            "netperf -t TCP_STREAM -l 60 -- -m SIZE",
            f"tcp_stream --set message_size_bytes={ALL_SIZES}",
            netperf_each("TCP_STREAM", "-m SIZE", SIZES),
        ),
        (
            "UDP_STREAM over message sizes",
            "netperf -t UDP_STREAM -l 60 -- -m SIZE",
            f"udp_stream --set message_size_bytes={ALL_UDP_SIZES}",
            netperf_each("UDP_STREAM", "-m SIZE", UDP_SIZES),
        ),
        ("TCP_RR 1/1", "netperf -t TCP_RR", "tcp_rr", netperf("-t TCP_RR")),
        ("TCP_CRR 1/1", "netperf -t TCP_CRR", "tcp_crr", netperf("-t TCP_CRR")),
        ("UDP_RR 1/1", "netperf -t UDP_RR", "udp_rr", netperf("-t UDP_RR")),
    ]


def _methods() -> list[_Entry]:
    return [
        (
            "Throughput",
            "iperf3 -c HOST",
            "tcp_stream --set message_size_bytes=131072",
            plain(f"iperf3 -c {SINK_ADDRESS} -t SECONDS", 5),
        ),
        (
            "Jitter and loss",
            "iperf3 -c HOST -u",
            "udp_stream --set message_size_bytes=1448 --set rate_bps=1048576",
            plain(f"iperf3 -c {SINK_ADDRESS} -u -t SECONDS", 5),
        ),
        (
            "Packets of a TCP stream",
            "netperf -l 30 -- -m 1; sar -n DEV 1 20",
            "tcp_stream --set message_size_bytes=1",
            netperf_with_sar("-- -m 1"),
        ),
        (
            "Packets sent, UDP",
            "netperf -t UDP_STREAM -l 20 -- -m 1",
            "udp_stream --set message_size_bytes=1",
            netperf("-t UDP_STREAM -- -m 1"),
        ),
        (
            "Packets received, UDP",
            "netperf -t UDP_STREAM -l 30 -- -m 1; sar -n DEV 1 20",
            "udp_stream --set message_size_bytes=1",
            netperf_with_sar("-t UDP_STREAM -- -m 1"),
        ),
        (
            "Requests of 10,000 connections",
            "wrk -t4 -c10000 -d10s http://HOST/index.html",
            f"http_load --set url={NGINX_URL} --set threads=4 --set connections=10000",
            plain(f"wrk -t4 -c10000 -dSECONDSs {NGINX_URL}", 8),
        ),
    ]


def _baseline() -> list[_Entry]:
    streams: list[_Entry] = [
        (
            f"{size} B over TCP, 160 flows",
            f"160 × netperf -l 120 -t TCP_STREAM -- -m {size}",
            f"tcp_stream --set flows=160 --set message_size_bytes={size}",
            netperf(f"-t TCP_STREAM -P 0 -- -m {size}", 160),
        )
        for size in (256, 1400)
    ]
    requests: list[_Entry] = [
        (
            "32 B/32 B, connections that stay, 300 flows",
            "300 × netperf -l 120 -t TCP_RR -- -r 32,32",
            "tcp_rr --set flows=300 --set request_size_bytes=32 --set response_size_bytes=32",
            netperf("-t TCP_RR -P 0 -- -r 32,32", 300),
        ),
        (
            "32 B/32 B, a connection each, 50 flows",
            "50 × netperf -l 120 -t TCP_CRR -- -r 32,32",
            "tcp_crr --set flows=50 --set request_size_bytes=32 --set response_size_bytes=32",
            netperf("-t TCP_CRR -P 0 -- -r 32,32", 50),
        ),
    ]
    datagrams: list[_Entry] = [
        (
            f"{size} B over UDP, 6 flows",
            f"6 × netperf -l 120 -t UDP_STREAM -- -m {size}",
            f"udp_stream --set flows=6 --set message_size_bytes={size}",
            netperf(f"-t UDP_STREAM -P 0 -- -m {size}", 6),
        )
        for size in (32, 1424, 1500, 1)
    ]
    pings: list[_Entry] = [
        ("Ping, idle", "ping -c3000 -i0.1 HOST", "ping --set count=COUNT --set probe_interval_seconds=0.1", ping(0)),
        (
            "Ping under load",
            "100 × netperf -l 3600 -t TCP_RR -- -r 32,1024; ping -c3000 -i0.1 HOST",
            """ping --set count=COUNT --set probe_interval_seconds=0.1 --set 'load={"kind": "tcp_rr", "params": """
            """{"flows": 100, "request_size_bytes": 32, "response_size_bytes": 1024}}'""",
            ping(100),
        ),
    ]
    return [*streams, *requests, *datagrams, *pings]
