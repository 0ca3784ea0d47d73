"""Network namespaces to compare in, and the tools in them, each in a control group of its own."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.peers.control_group import ControlGroup, control_group

ENGINE_FOLDER = Path(__file__).resolve().parent.parent.parent / "engine/target/release"
ENGINE = ENGINE_FOLDER / "benchweb-engine"
BARE_LOOP = ENGINE_FOLDER / "examples/bare_loop"
CONTROL_PORT, DATA_PORT, NETSERVER_PORT, IPERF_PORT, BARE_PORT = 7410, 7411, 12865, 5201, 7420
START_LIMIT_SECONDS = 10
# What a server's part of a run still does once the client has ended.
SETTLE_SECONDS = 0.05


@dataclass
class Lab:
    """Two places, which are one on loopback, with a server of each tool at the sink's."""

    source: str
    sink: str
    sink_address: str
    token: Path
    seconds: float
    groups: dict[str, ControlGroup] = field(default_factory=dict)

    def run(self, name: str, *words: str) -> tuple[str, float]:
        """Run a tool's client at the source's place; its output, and the CPU seconds of both ends."""
        group = self.groups[name]
        before = group.cpu_seconds()
        done = subprocess.run(group.joined(*inside(self.source, *words)), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")
        time.sleep(SETTLE_SECONDS)
        return done.stdout, group.cpu_seconds() - before

    @contextmanager
    def sink_process(self, name: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        command = self.groups[name].joined(*inside(self.sink, *words))
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=10)


def inside(namespace: str, *words: str) -> list[str]:
    return ["ip", "netns", "exec", namespace, *words]


@contextmanager
def namespaces(is_veth: bool) -> Iterator[tuple[str, str, str]]:
    """Names of the source's and the sink's place, and the sink's address."""
    base = f"bwpeers-{os.getpid()}-{secrets.token_hex(2)}"
    names = [f"{base}-a", f"{base}-b"] if is_veth else [base]
    made = []
    try:
        for name in names:
            subprocess.run(["ip", "netns", "add", name], check=True)
            made.append(name)
            subprocess.run(inside(name, "ip", "link", "set", "lo", "up"), check=True)
            reno = "/proc/sys/net/ipv4/tcp_congestion_control"
            subprocess.run(inside(name, "sh", "-c", f"echo reno > {reno}"), check=True)
        if is_veth:
            connect(*names)
            yield names[0], names[1], "192.0.2.2"
        else:
            # netperf resolves names with AI_ADDRCONFIG, which finds nothing where only 127.0.0.1 is configured.
            subprocess.run(inside(base, "ip", "address", "add", "192.0.2.1/32", "dev", "lo"), check=True)
            yield base, base, "127.0.0.1"
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "del", name], check=False)


def connect(source: str, sink: str) -> None:
    pair = ["ip", "link", "add", "bw0", "netns", source, "type", "veth", "peer", "name", "bw0", "netns", sink]
    subprocess.run(pair, check=True)
    for name, address in ((source, "192.0.2.1/24"), (sink, "192.0.2.2/24")):
        subprocess.run(inside(name, "ip", "address", "add", address, "dev", "bw0"), check=True)
        subprocess.run(inside(name, "ip", "link", "set", "bw0", "up"), check=True)


@contextmanager
def lab(is_veth: bool, seconds: float) -> Iterator[Lab]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchweb-bench-")))
        source, sink, address = stack.enter_context(namespaces(is_veth))
        token = folder / "token"
        token.touch(mode=0o600)
        token.write_text(secrets.token_hex(32))
        token.chmod(0o600)
        made = Lab(source, sink, address, token, seconds)
        commands = {
            "netperf": ("netserver", "-D", "-p", str(NETSERVER_PORT)),
            "iperf3": ("iperf3", "-s", "-p", str(IPERF_PORT)),
            "engine": (
                str(ENGINE), "serve", "--listen", f"{address}:{CONTROL_PORT}", "--data-port", str(DATA_PORT),
                "--state-dir", str(folder / "state"), "--token-file", str(token),
            ),
        }  # fmt: skip
        for name in (*commands, "bare"):
            made.groups[name] = stack.enter_context(control_group(name))
        for name, words in commands.items():
            stack.enter_context(made.sink_process(name, *words))
        for port in (NETSERVER_PORT, IPERF_PORT, DATA_PORT):
            wait_for_port(sink, port)
        yield made


def wait_for_port(namespace: str, port: int) -> None:
    deadline = time.monotonic() + START_LIMIT_SECONDS
    listening = inside(namespace, "ss", "-Hltn")
    while f":{port} " not in subprocess.run(listening, capture_output=True, text=True, check=True).stdout:
        if time.monotonic() > deadline:
            raise SystemExit(f"nothing listens on port {port} after {START_LIMIT_SECONDS} s")
        time.sleep(0.05)
