"""http_load beside wrk on one nginx: same threads, connections and CPUs, interleaved; prints ratios of medians.

Further: 10,000 connections held, seen by nginx's own counter, and a server that stalls 100 ms once a second, where a
closed loop hides what a fixed rate shows. Needs nginx, wrk and a release build; everything runs on loopback.
"""

import argparse
import asyncio
import json
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ENGINE = Path(__file__).resolve().parents[2] / "engine" / "target" / "release" / "benchweb-engine"
SERVER_CPU, CLIENT_CPU = "1", "0"
STALL_SECONDS, STALL_EVERY_SECONDS = 0.1, 1.0
MANY_CONNECTIONS = 10_000


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def nginx(folder: Path) -> Iterator[str]:
    port = free_port()
    (folder / "page").write_bytes(b"x" * 612)
    (folder / "nginx.conf").write_text(
        f"""daemon off; worker_processes 1; worker_rlimit_nofile 20000; pid {folder}/pid;
        error_log {folder}/error.log; events {{ worker_connections 16000; multi_accept on; }}
        http {{ access_log off; keepalive_requests 1000000000; client_body_temp_path {folder};
          proxy_temp_path {folder}; fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};
          server {{ listen 127.0.0.1:{port} backlog=4096; root {folder};
            location = /status {{ stub_status; }} }} }}"""
    )
    server = subprocess.Popen(
        ["taskset", "-c", SERVER_CPU, "nginx", "-c", folder / "nginx.conf", "-e", folder / "error.log"]
    )
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


@contextmanager
def engine(folder: Path) -> Iterator[list[str]]:
    """Yield the arguments that name the sink, which has nothing to do where a URL is loaded."""
    token = folder / "token"
    token.write_text("a-token-of-this-bench-of-the-engine\n")
    listening = ["--listen", "127.0.0.1:0", "--data-port", "0"]
    server = subprocess.Popen(
        [str(ENGINE), "serve", *listening, "--state-dir", str(folder / "state"), "--token-file", str(token)],
        stdout=subprocess.PIPE,
    )
    try:
        assert server.stdout is not None
        control = json.loads(server.stdout.readline())["control"]
        yield ["--peer", control, "--token-file", str(token)]
    finally:
        server.terminate()
        server.wait()


def wait_for(port: int) -> None:
    for _ in range(200):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
    raise SystemExit(f"nothing listens on port {port}")


def http_load(peer: list[str], url: str, cpu: str = CLIENT_CPU, **params: float) -> dict[str, Any]:
    settings = {"url": url, "source_cpus": cpu, **params}
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    ran = subprocess.run(
        [ENGINE, "run", "http_load", *peer, "--json", *words], capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise SystemExit(ran.stderr)
    result: dict[str, Any] = json.loads(ran.stdout)
    return result


def wrk(url: str, threads: int, connections: int, seconds: float, cpu: str = CLIENT_CPU) -> str:
    return subprocess.run(
        ["taskset", "-c", cpu, "wrk", "--latency", f"-t{threads}", f"-c{connections}", f"-d{seconds:g}s", url],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def wrk_rate(text: str) -> float:
    found = re.search(r"Requests/sec:\s+([\d.]+)", text)
    assert found, text
    return float(found[1])


def wrk_p99(text: str) -> str:
    found = re.search(r"99%\s+(\S+)", text)
    assert found, text
    return found[1]


def compare(peer: list[str], url: str, threads: int, connections: int, rounds: int, seconds: float) -> None:
    """Print the ratio of the medians, and wrk's to itself in the same interleaving."""
    rates: dict[str, list[float]] = {"http_load": [], "wrk": [], "wrk again": []}
    sides: dict[str, Callable[[], float]] = {
        "http_load": lambda: float(
            http_load(peer, url, threads=threads, connections=connections, duration_seconds=seconds)["metrics"][
                "requests_per_second"
            ]
        ),
        "wrk": lambda: wrk_rate(wrk(url, threads, connections, seconds)),
        "wrk again": lambda: wrk_rate(wrk(url, threads, connections, seconds)),
    }
    for turn in range(rounds):
        order = list(sides)
        for name in order[turn % 3 :] + order[: turn % 3]:
            rates[name].append(sides[name]())
    medians = {name: statistics.median(values) for name, values in rates.items()}
    print(
        f"{threads} threads, {connections} connections: http_load {medians['http_load']:,.0f}/s, "
        f"wrk {medians['wrk']:,.0f}/s; http_load : wrk {medians['http_load'] / medians['wrk']:.3f}, "
        f"wrk : wrk {medians['wrk again'] / medians['wrk']:.3f}",
        flush=True,
    )


def hold_many(peer: list[str], base: str, seconds: float) -> bool:
    """Print how many connections nginx itself counts at most while http_load holds 10,000."""
    most = 0
    is_over = threading.Event()

    def watch() -> None:
        nonlocal most
        while not is_over.wait(0.2):
            with urllib.request.urlopen(f"{base}/status", timeout=10) as answer:
                most = max(most, int(answer.readline().split()[-1]))

    watcher = threading.Thread(target=watch)
    watcher.start()
    metrics = http_load(peer, f"{base}/page", connections=MANY_CONNECTIONS, duration_seconds=seconds)["metrics"]
    is_over.set()
    watcher.join()
    print(
        f"{MANY_CONNECTIONS:,} connections: nginx counted {most:,} at once, {metrics['requests_per_second']:,.0f} "
        f"requests/s, {metrics['errors']:.0f} errors, p99 {metrics['latency_p99_seconds'] * 1e3:.1f} ms"
    )
    return most >= MANY_CONNECTIONS and metrics["connect_errors"] == 0


class Stalling(asyncio.Protocol):
    """Answers each request, but for 100 ms once a second."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        answers = data.count(b"\r\n\r\n")
        self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" * answers)


async def serve_stalling(port: int) -> None:
    loop = asyncio.get_running_loop()
    await loop.create_server(Stalling, "127.0.0.1", port)
    while True:
        await asyncio.sleep(STALL_EVERY_SECONDS - STALL_SECONDS)
        time.sleep(STALL_SECONDS)  # the whole server stalls: that is what is tested


def show_stalls(peer: list[str], seconds: float) -> bool:
    port = free_port()
    server = subprocess.Popen(["taskset", "-c", SERVER_CPU, sys.executable, __file__, "--stall", str(port)])
    try:
        wait_for(port)
        url = f"http://127.0.0.1:{port}/"
        hidden = wrk_p99(wrk(url, 1, 10, seconds))
        closed = http_load(peer, url, threads=1, connections=10, duration_seconds=seconds)["metrics"]
        fixed = http_load(peer, url, threads=1, connections=10, rate_rps=1000, duration_seconds=seconds)["metrics"]
    finally:
        server.terminate()
        server.wait()
    p99 = float(fixed["latency_p99_seconds"])
    print(
        f"a server that stalls 100 ms once a second, p99: http_load at 1,000 requests/s {p99 * 1e3:.1f} ms (a tenth of "
        f"all requests are due in a stall: 90 ms is true), http_load in a closed loop "
        f"{closed['latency_p99_seconds'] * 1e3:.1f} ms, wrk, which fills in samples it did not take, {hidden}"
    )
    return 0.08 <= p99 <= 0.12


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--only", choices=["rates", "many", "stall"])
    parser.add_argument("--stall", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stall:
        asyncio.run(serve_stalling(options.stall))
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    is_held = is_proven = True
    with tempfile.TemporaryDirectory() as name, engine(Path(name)) as peer, nginx(Path(name)) as base:
        # nginx's worker may be another user when this is run as root.
        Path(name).chmod(0o755)
        if options.only in (None, "rates"):
            for threads, connections in ((1, 1), (1, 10), (2, 100), (2, 1000)):
                compare(peer, f"{base}/page", threads, connections, options.rounds, options.seconds)
        if options.only in (None, "many"):
            is_held = hold_many(peer, base, max(options.seconds, 3))
        if options.only in (None, "stall"):
            is_proven = show_stalls(peer, max(options.seconds, 5))
    return 0 if is_held and is_proven else 1


if __name__ == "__main__":
    sys.exit(main())
