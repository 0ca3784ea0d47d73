#!/usr/bin/env python3
"""Compare the engine with netperf on loopback: same namespace, same congestion control, same CPUs, interleaved.

Needs root (ip netns), netperf 2.7 and a release build of the engine. Prints a table, and JSON with --json FILE.
Each figure is a median over rounds; "netperf again" is netperf against itself in the same rounds: the noise.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ENGINE = Path(__file__).resolve().parent.parent / "engine/target/release/benchweb-engine"
STREAM_SIZES_BYTES = (1, 64, 1024, 16384, 65536)
DATAGRAM_SIZES_BYTES = (64, 1400)
CONTROL_PORT, DATA_PORT, NETSERVER_PORT = 7410, 7411, 12865
START_LIMIT_SECONDS = 10


@dataclass(frozen=True)
class Case:
    """One comparison: what each tool is asked for, and which figure of its output counts."""

    name: str
    unit: str
    cpus: tuple[int, int]
    netperf_test: str
    netperf_options: tuple[str, ...]
    netperf_figure: Callable[[dict[str, str]], float]
    kind: str
    params: tuple[str, ...]
    metric: str


def netperf_throughput(scale: float) -> Callable[[dict[str, str]], float]:
    return lambda output: float(output["THROUGHPUT"]) * scale


def netperf_rate(key: str) -> Callable[[dict[str, str]], float]:
    return lambda output: float(output[key]) / float(output["ELAPSED_TIME"])


def cases() -> Iterator[Case]:
    for size in STREAM_SIZES_BYTES:
        options, params = ("-m", str(size)), (f"message_size_bytes={size}",)
        yield Case(
            f"TCP_STREAM {size}",
            "bit/s",
            (0, 1),
            "TCP_STREAM",
            options,
            netperf_throughput(1e6),
            "tcp_stream",
            params,
            "throughput_bps",
        )
    for cpus in ((0, 0), (0, 1)):
        place = "one CPU" if cpus[0] == cpus[1] else "two CPUs"
        for test in ("TCP_RR", "TCP_CRR", "UDP_RR"):
            yield Case(
                f"{test} {place}",
                "1/s",
                cpus,
                test,
                ("-r", "1,1"),
                netperf_throughput(1),
                test.lower(),
                (),
                "transactions_per_second",
            )
    for size in DATAGRAM_SIZES_BYTES:
        options, params = ("-m", str(size)), (f"message_size_bytes={size}",)
        for what, key, metric in (
            ("sent", "LOCAL_SEND_CALLS", "send_packets_per_second"),
            ("received", "REMOTE_RECV_CALLS", "packets_per_second"),
        ):
            yield Case(
                f"UDP_STREAM {size} {what}",
                "pkt/s",
                (0, 1),
                "UDP_STREAM",
                options,
                netperf_rate(key),
                "udp_stream",
                params,
                metric,
            )


@dataclass
class Bench:
    """A namespace with both servers in it."""

    namespace: str
    token: Path
    seconds: float

    def command(self, *words: str) -> list[str]:
        return ["ip", "netns", "exec", self.namespace, *words]

    def run(self, *words: str) -> str:
        limit = self.seconds + 30
        finished = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=limit, check=False)
        if finished.returncode != 0:
            raise SystemExit(f"{' '.join(words)} failed:\n{finished.stdout}{finished.stderr}")
        return finished.stdout

    def netperf(self, case: Case) -> float:
        keys = "THROUGHPUT,ELAPSED_TIME,LOCAL_SEND_CALLS,REMOTE_RECV_CALLS"
        source, sink = case.cpus
        output = self.run(
            "netperf", "-H", "127.0.0.1", "-p", str(NETSERVER_PORT), "-P", "0", "-T", f"{source},{sink}",
            "-l", f"{self.seconds:.0f}", "-t", case.netperf_test, "--", *case.netperf_options, "-k", keys,
        )  # fmt: skip
        return case.netperf_figure(dict(line.split("=", 1) for line in output.splitlines() if "=" in line))

    def engine(self, case: Case) -> float:
        source, sink = case.cpus
        settings = (*case.params, f"duration_seconds={self.seconds:.0f}", f"source_cpus={source}", f"sink_cpus={sink}")
        options = [word for setting in settings for word in ("--set", setting)]
        output = self.run(
            str(ENGINE), "run", case.kind, "--peer", f"127.0.0.1:{CONTROL_PORT}",
            "--token-file", str(self.token), "--json", *options,
        )  # fmt: skip
        return float(json.loads(output)["metrics"][case.metric])


@contextmanager
def namespace() -> Iterator[str]:
    name = f"benchweb-{os.getpid()}-{secrets.token_hex(3)}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        inside = ["ip", "netns", "exec", name]
        subprocess.run([*inside, "ip", "link", "set", "lo", "up"], check=True)
        # netperf resolves names with AI_ADDRCONFIG, which finds nothing where only 127.0.0.1 is configured.
        subprocess.run([*inside, "ip", "address", "add", "192.0.2.1/32", "dev", "lo"], check=True)
        reno = "/proc/sys/net/ipv4/tcp_congestion_control"
        subprocess.run([*inside, "sh", "-c", f"echo reno > {reno}"], check=True)
        yield name
    finally:
        subprocess.run(["ip", "netns", "del", name], check=False)


@contextmanager
def server(bench: Bench, *words: str) -> Iterator[None]:
    process = subprocess.Popen(
        bench.command(*words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=10)


def wait_for_port(bench: Bench, port: int) -> None:
    deadline = time.monotonic() + START_LIMIT_SECONDS
    while f":{port} " not in bench.run("ss", "-Hltn"):
        if time.monotonic() > deadline:
            raise SystemExit(f"nothing listens on port {port} after {START_LIMIT_SECONDS} s")
        time.sleep(0.05)


@contextmanager
def servers(seconds: float) -> Iterator[Bench]:
    with tempfile.TemporaryDirectory(prefix="benchweb-bench-") as folder, namespace() as name:
        token = Path(folder) / "token"
        token.write_text(secrets.token_hex(32))
        token.chmod(0o600)
        bench = Bench(name, token, seconds)
        serve = (
            str(ENGINE), "serve", "--listen", f"127.0.0.1:{CONTROL_PORT}", "--data-port", str(DATA_PORT),
            "--state-dir", str(Path(folder) / "state"), "--token-file", str(token),
        )  # fmt: skip
        with server(bench, "netserver", "-D", "-p", str(NETSERVER_PORT)), server(bench, *serve):
            wait_for_port(bench, NETSERVER_PORT)
            wait_for_port(bench, DATA_PORT)
            yield bench


def compare(bench: Bench, case: Case, rounds: int) -> dict[str, object]:
    """Run both tools alternately; netperf twice, so that its own spread is known."""
    first, second, engine = [], [], []
    for _ in range(rounds):
        first.append(bench.netperf(case))
        engine.append(bench.engine(case))
        second.append(bench.netperf(case))
    netperf = statistics.median([*first, *second])
    return {
        "case": case.name,
        "unit": case.unit,
        "netperf": netperf,
        "engine": statistics.median(engine),
        "ratio": statistics.median(engine) / netperf,
        "noise": statistics.median(second) / statistics.median(first),
        "samples": {"netperf": [first, second], "engine": engine},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each tool per case (default 5)")
    parser.add_argument("--seconds", type=float, default=2, help="length of one run in whole seconds (default 2)")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--json", type=Path, help="write every sample there")
    arguments = parser.parse_args()
    # A terminated comparison takes its servers and its namespace with it, as an interrupted one does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    results = []
    print(f"{'case':<26}{'netperf':>18}{'engine':>18}  {'unit':<6}{'engine : netperf':>17}{'netperf again':>15}")
    with servers(arguments.seconds) as bench:
        for case in (case for case in cases() if arguments.only in case.name):
            result = compare(bench, case, arguments.rounds)
            results.append(result)
            print(
                f"{case.name:<26}{result['netperf']:>18,.0f}{result['engine']:>18,.0f}  {case.unit:<6}"
                f"{result['ratio']:>17.3f}{result['noise']:>15.3f}",
                flush=True,
            )
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
