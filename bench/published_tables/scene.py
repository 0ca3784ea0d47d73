"""Three machines with three network modes each, as namespaces: two in one zone, the third behind a slower link.

A mode is what its packets go through: `host` a plain veth with offloads, `terway-eni` the same without segmentation
offload, `terway` a further bridge of the machine's besides. No claim about the real ones' speed: only the shape.
"""

import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.truth.ground.topology import ENGINE, PROJECT, Namespace, command, namespace, process, wait_for_port

MODES = ("host", "terway", "terway-eni")
# Machine and zone; the last octets follow their order.
MACHINES = (("machine-a", "near"), ("machine-b", "near"), ("machine-c", "far"))
LAB_ADDRESS = "10.86.0.254"
ENGINE_PORT = 7410
# What the zones have between them.
BETWEEN_ZONES = ("tbf", "rate", "2gbit", "burst", "512kb", "latency", "20ms")
BETWEEN_ZONES_BPS = 2e9
READY_LIMIT_SECONDS = 180


@dataclass(frozen=True)
class Served:
    """An engine that listens."""

    machine: str
    zone: str
    mode: str
    address: str


@dataclass(frozen=True)
class Scene:
    """The dashboard's namespace and all engines."""

    lab: Namespace
    endpoints: list[Served]
    token: str
    folder: Path


@contextmanager
def scene() -> Iterator[Scene]:
    """Build everything; engines are stopped and namespaces deleted afterwards."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bwpub-")))
        token = secrets.token_hex(32)
        (folder / "token").touch(mode=0o600)
        (folder / "token").write_text(token)
        lab = stack.enter_context(namespace("lab"))
        _zones(lab)
        endpoints = []
        for number, (machine, zone) in enumerate(MACHINES):
            for index, mode in enumerate(MODES):
                address = f"10.86.0.{number * 10 + index + 1}"
                space = stack.enter_context(namespace(f"{number}{index}"))
                _joined(lab, space, f"e{number}{index}", zone, mode, address)
                serve = [str(ENGINE), "serve", "--listen", f"{address}:{ENGINE_PORT}"]
                serve += ["--state-dir", str(folder / f"{machine}-{mode}"), "--token-file", str(folder / "token")]
                # Of the machine that all of them are, whatever its files stand on.
                serve += ["--disk-dir", f"{folder},size=1G,any-filesystem"]
                quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
                stack.enter_context(process(space.words(*serve), **quiet))
                wait_for_port(space, ENGINE_PORT)
                endpoints.append(Served(machine, zone, mode, address))
        yield Scene(lab, endpoints, token, folder)


@contextmanager
def dashboard(built: Scene, port: int) -> Iterator[tuple[str, str]]:
    """Start a dashboard beside the engines; its URL and a token, once it is ready."""
    token, home = secrets.token_hex(20), built.folder / "home"
    environment = {**os.environ, "BENCHWEB_HOME": str(home), "BENCHWEB_DEMO_TOKEN": token, "BENCHWEB_SET_UP": "1"}
    for name in ("BENCHWEB_DATABASE_URL", "BENCHWEB_REDIS_URL"):
        environment.pop(name, None)
    words = built.lab.words(sys.executable, "manage.py", "up", "--port", str(port))
    with process(words, env=environment, cwd=PROJECT, stdout=subprocess.DEVNULL):
        url = f"http://127.0.0.1:{port}"
        _wait_until_ready(built.lab, url)
        yield url, token


def _zones(lab: Namespace) -> None:
    for zone in ("near", "far"):
        lab.run("ip", "link", "add", zone, "type", "bridge")
        lab.run("ip", "link", "set", zone, "up")
    lab.run("ip", "address", "add", f"{LAB_ADDRESS}/24", "dev", "near")
    lab.run("ip", "link", "add", "tofar", "type", "veth", "peer", "name", "tonear")
    for device, zone in (("tofar", "near"), ("tonear", "far")):
        lab.run("ip", "link", "set", device, "master", zone, "up")
        lab.run("tc", "qdisc", "add", "dev", device, "root", *BETWEEN_ZONES)


def _joined(lab: Namespace, space: Namespace, device: str, zone: str, mode: str, address: str) -> None:
    """Join an endpoint to its zone's bridge, by what its mode goes through."""
    # fmt: off
    command("ip", "link", "add", "data", "netns", space.name, "type", "veth",
            "peer", "name", device, "netns", lab.name)
    # fmt: on
    master = zone
    if mode == "terway":
        master = f"{device}b"
        lab.run("ip", "link", "add", master, "type", "bridge")
        lab.run("ip", "link", "set", master, "up")
        lab.run("ip", "link", "add", f"{device}u", "type", "veth", "peer", "name", f"{device}v")
        lab.run("ip", "link", "set", f"{device}u", "master", master, "up")
        lab.run("ip", "link", "set", f"{device}v", "master", zone, "up")
    if mode != "host":
        space.run("ethtool", "-K", "data", "tso", "off", "gso", "off", "gro", "off")
    lab.run("ip", "link", "set", device, "master", master, "up")
    space.run("ip", "address", "add", f"{address}/24", "dev", "data")
    space.run("ip", "link", "set", "data", "up")
    space.run("sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno")


def _wait_until_ready(lab: Namespace, url: str) -> None:
    deadline = time.monotonic() + READY_LIMIT_SECONDS
    ask = lab.words("python3", "-c", f"import urllib.request; urllib.request.urlopen({url + '/healthz'!r}, timeout=3)")
    while subprocess.run(ask, capture_output=True, check=False).returncode != 0:
        if time.monotonic() > deadline:
            raise SystemExit("the dashboard did not become ready")
        time.sleep(1)
