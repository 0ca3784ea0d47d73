"""Network namespaces to compare in, and the processes in them, with the CPU time that they take."""

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

ENGINE_FOLDER = Path(__file__).resolve().parent.parent.parent / "engine/target/release"
ENGINE = ENGINE_FOLDER / "benchweb-engine"
BARE_LOOP = ENGINE_FOLDER / "examples/bare_loop"
CONTROL_PORT, DATA_PORT, NETSERVER_PORT, IPERF_PORT, BARE_PORT = 7410, 7411, 12865, 5201, 7420
START_LIMIT_SECONDS = 10
TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")


@dataclass
class Lab:
    """Two places, which are one on loopback, with a server of each tool at the sink's."""

    source: str
    sink: str
    sink_address: str
    token: Path
    seconds: float
    servers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def run(self, *words: str) -> tuple[str, float]:
        """Run a client at the source's place; its output and its CPU seconds."""
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(inside(self.source, *words), stdout=output, stderr=subprocess.PIPE)
            assert process.stderr is not None
            errors = process.stderr.read().decode()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            process.stderr.close()
            output.seek(0)
            text = output.read().decode()
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(words)} failed:\n{text}{errors}")
        return text, usage.ru_utime + usage.ru_stime

    def run_with_server(self, name: str, *words: str) -> tuple[str, float]:
        """Run a client; its output, and the CPU seconds of both ends."""
        before = cpu_seconds(self.servers[name].pid)
        text, seconds = self.run(*words)
        return text, seconds + settled_cpu_seconds(self.servers[name].pid) - before

    @contextmanager
    def sink_process(self, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        process = subprocess.Popen(
            inside(self.sink, *words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=10)


def inside(namespace: str, *words: str) -> list[str]:
    return ["ip", "netns", "exec", namespace, *words]


def cpu_seconds(process: int) -> float:
    """What a process has taken, with the children that it has waited for."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(int(ticks) for ticks in fields[11:15]) * TICK_SECONDS


def settled_cpu_seconds(process: int) -> float:
    """As above, once the children that served the last client have ended."""
    children = Path(f"/proc/{process}/task/{process}/children")
    deadline = time.monotonic() + START_LIMIT_SECONDS
    while any(is_alive(child) for child in all_children(process)) and children.exists():
        if time.monotonic() > deadline:
            break
        time.sleep(0.01)
    return cpu_seconds(process)


def all_children(process: int) -> list[int]:
    tasks = Path(f"/proc/{process}/task")
    return [int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split()]


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


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
        for name, words in commands.items():
            made.servers[name] = stack.enter_context(made.sink_process(*words))
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
