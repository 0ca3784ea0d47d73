"""Compare the engine with netperf, iperf3 and a bare loop of system calls, interleaved, all pinned alike, on reno.

Needs root (ip netns), netperf 2.7 and iperf3, and from engine/: `cargo build --release --locked` and the same with
`-p net --examples`. Figures are medians over rounds. "noise" is netperf against itself in the same rounds; "bare" is
the physical limit: what it lacks to a wire is the kernel's share. CPU seconds are those of both ends' processes (their
control groups'), set-up included, per gigabyte received.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.peers import tools
from bench.peers.lab import Lab, lab
from bench.peers.tools import Case, Sample, Tool

STREAM_SIZES_BYTES = (1, 64, 1024, 16384, 65536, 131072)
DATAGRAM_SIZES_BYTES = (16, 64, 1400)
# netperf comes first and last: its own spread is the noise.
TURNS: tuple[tuple[str, Tool], ...] = (
    ("netperf", tools.netperf),
    ("engine", tools.engine),
    ("iperf3", tools.iperf3),
    ("bare", tools.bare_loop),
    ("again", tools.netperf),
)


def cases() -> Iterator[Case]:
    for size in STREAM_SIZES_BYTES:
        yield Case(f"TCP_STREAM {size}", "tcp_stream", "bit/s", size)
    yield Case("TCP_STREAM 131072 sendfile", "tcp_stream", "bit/s", 131072, send_mode="sendfile")
    for cpus in ((0, 0), (0, 1)):
        where = "one CPU" if cpus[0] == cpus[1] else "two CPUs"
        for kind in ("tcp_rr", "tcp_crr", "udp_rr"):
            yield Case(f"{kind.upper()} {where}", kind, "1/s", cpus=cpus)
    for size in DATAGRAM_SIZES_BYTES:
        for counts_sent in (True, False):
            what = "sent" if counts_sent else "received"
            yield Case(f"UDP_STREAM {size} {what}", "udp_stream", "pkt/s", size, counts_sent=counts_sent)
    for mode in ("sendmmsg", "segmentation"):
        for counts_sent in (True, False):
            name = f"UDP_STREAM 64 {mode} {'sent' if counts_sent else 'received'}"
            yield Case(name, "udp_stream", "pkt/s", 64, counts_sent=counts_sent, send_mode=mode)


def compare(room: Lab, case: Case, rounds: int) -> dict[str, object]:
    """Run all tools in turn, round after round."""
    samples: dict[str, list[Sample]] = {name: [] for name, _ in TURNS}
    for _ in range(rounds):
        for name, tool in TURNS:
            taken = tool(room, case)
            if taken is not None:
                samples[name].append(taken)
    rates = {name: statistics.median(sample.rate for sample in taken) for name, taken in samples.items() if taken}
    netperf = statistics.median(sample.rate for sample in samples["netperf"] + samples["again"])
    costs = {
        name: statistics.median(cost for sample in taken if (cost := sample.cpu_seconds_per_gigabyte) is not None)
        for name, taken in samples.items()
        if any(sample.cpu_seconds_per_gigabyte is not None for sample in taken)
    }
    return {
        "case": case.name,
        "unit": case.unit,
        "rates": {**rates, "netperf": netperf},
        "to_netperf": rates["engine"] / netperf,
        "to_iperf3": rates["engine"] / rates["iperf3"] if "iperf3" in rates else None,
        "to_bare": rates["engine"] / rates["bare"],
        "noise": rates["again"] / rates["netperf"],
        "cpu_seconds_per_gigabyte": costs,
        "samples": {name: [sample.rate for sample in taken] for name, taken in samples.items()},
    }


COLUMNS = ("to_netperf", "to_iperf3", "to_bare", "noise")


def line(result: dict[str, object]) -> str:
    rates, costs = result["rates"], result["cpu_seconds_per_gigabyte"]
    assert isinstance(rates, dict) and isinstance(costs, dict)
    ratios = "".join(f"{value:>10.3f}" if isinstance(value := result[key], float) else f"{'':>10}" for key in COLUMNS)
    cpu = " / ".join(f"{costs[name]:.3f}" if name in costs else "-" for name in ("engine", "netperf", "iperf3", "bare"))
    return f"{result['case']!s:<36}{rates['engine']:>18,.0f} {result['unit']!s:<6}{ratios}   {cpu}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each tool per case (default 5)")
    parser.add_argument("--seconds", type=float, default=2, help="length of one run in whole seconds (default 2)")
    parser.add_argument(
        "--only", nargs="*", default=[""], help="only cases whose name, with a space after it, contains one of these"
    )
    parser.add_argument("--veth", action="store_true", help="across a veth pair between two namespaces, not loopback")
    parser.add_argument("--json", type=Path, help="write every sample there")
    arguments = parser.parse_args()
    # A terminated comparison takes its servers and its namespaces with it, as an interrupted one does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    results = []
    print(f"{'case':<36}{'engine':>18} {'unit':<6}{': netperf':>10}{': iperf3':>10}{': bare':>10}{'noise':>10}", end="")
    print("   CPU s/GB: engine / netperf / iperf3 / bare")
    with lab(arguments.veth, arguments.seconds) as room:
        for case in (case for case in cases() if any(word in f"{case.name} " for word in arguments.only)):
            results.append(compare(room, case, arguments.rounds))
            print(line(results[-1]), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
