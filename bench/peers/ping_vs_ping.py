"""The ping kind beside `ping` (iputils) on one path: interleaved rounds, medians of each round's mean, median and mdev.

Across a veth pair between two namespaces of its own; IPv4 and IPv6, each by a ping socket and by a raw one:
a namespace's own net.ipv4.ping_group_range chooses. Needs root, iputils-ping and a release build.
"""

import argparse
import json
import math
import re
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ENGINE = Path(__file__).resolve().parents[2] / "engine" / "target" / "release" / "benchweb-engine"
NEAR, FAR = "bwpingnear", "bwpingfar"
ADDRESSES = {4: ("192.0.2.1", "192.0.2.2", 24), 6: ("2001:db8::1", "2001:db8::2", 64)}
FIGURES = ("mean", "p50", "mdev")


def command(*words: str) -> None:
    subprocess.run(words, check=True)


@contextmanager
def namespaces() -> Iterator[None]:
    for name in (NEAR, FAR):
        command("ip", "netns", "add", name)
    try:
        command("ip", "link", "add", "bw0", "netns", NEAR, "type", "veth", "peer", "name", "bw0", "netns", FAR)
        for index, name in enumerate((NEAR, FAR)):
            for near_far in ADDRESSES.values():
                address = f"{near_far[index]}/{near_far[2]}"
                nodad = ["nodad"] if ":" in address else []
                command("ip", "-n", name, "address", "add", address, "dev", "bw0", *nodad)
            for device in ("lo", "bw0"):
                command("ip", "-n", name, "link", "set", device, "up")
        yield
    finally:
        for name in (NEAR, FAR):
            command("ip", "netns", "delete", name)


def allow_ping_sockets(allowed: bool) -> None:
    groups = "0 2147483647" if allowed else "1 0"
    command("ip", "netns", "exec", NEAR, "sysctl", "-qw", f"net.ipv4.ping_group_range={groups}")


@contextmanager
def engine(folder: Path, address: str) -> Iterator[list[str]]:
    token = folder / "token"
    token.write_text("a-token-of-this-bench-of-the-engine\n")
    listen = f"[{address}]:0" if ":" in address else f"{address}:0"
    words = [str(ENGINE), "serve", "--listen", listen, "--data-port", "0", "--token-file", str(token)]
    words += ["--state-dir", str(folder / "state")]
    server = subprocess.Popen(["ip", "netns", "exec", FAR, *words], stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        control = json.loads(server.stdout.readline())["control"]
        yield [str(ENGINE), "run", "ping", "--json", "--peer", control, "--token-file", str(token)]
    finally:
        server.terminate()
        server.wait()


def output(words: list[str]) -> str:
    done = subprocess.run(["ip", "netns", "exec", NEAR, *words], check=True, capture_output=True, text=True)
    return done.stdout


def of_ping(address: str, count: int, interval: float) -> dict[str, float]:
    text = output(["ping", "-n", "-c", str(count), "-i", str(interval), address])
    times = [float(time) * 1e3 for time in re.findall(r"time=([0-9.]+) ms", text)]
    mean = statistics.fmean(times)
    mdev = math.sqrt(statistics.fmean(time**2 for time in times) - mean**2)
    return {"mean": mean, "p50": statistics.median(times), "mdev": mdev}


def of_engine(run: list[str], count: int, interval: float) -> dict[str, float]:
    text = output([*run, "--set", f"count={count}", "--set", f"probe_interval_seconds={interval}"])
    metrics = json.loads(text)["metrics"]
    return {name: metrics[f"latency_{name}_seconds"] * 1e6 for name in FIGURES}


def compare(family: int, by_ping_socket: bool, arguments: argparse.Namespace) -> None:
    allow_ping_sockets(by_ping_socket)
    address = ADDRESSES[family][1]
    rounds: dict[str, list[dict[str, float]]] = {"ping": [], "ping again": [], "engine": []}
    with tempfile.TemporaryDirectory() as folder, engine(Path(folder), address) as run:
        for _ in range(arguments.rounds):
            rounds["ping"].append(of_ping(address, arguments.count, arguments.interval))
            rounds["engine"].append(of_engine(run, arguments.count, arguments.interval))
            rounds["ping again"].append(of_ping(address, arguments.count, arguments.interval))
    print(f"IPv{family}, the engine by a {'ping' if by_ping_socket else 'raw'} socket, microseconds")
    for name, figures in rounds.items():
        medians = "  ".join(f"{key} {statistics.median(figure[key] for figure in figures):7.2f}" for key in FIGURES)
        print(f"  {name:12} {medians}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--interval", type=float, default=0.01)
    arguments = parser.parse_args()
    with namespaces():
        for family in ADDRESSES:
            for by_ping_socket in (True, False):
                compare(family, by_ping_socket, arguments)


if __name__ == "__main__":
    main()
