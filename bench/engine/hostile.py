"""Hostile crowds against one daemon, in network namespaces of its own: after each, the next honest test runs.

Needs root (ip netns, nft). The daemon's namespace has three neighbours: an honest peer, an attacker, and a bystander
whose address the attacker forges. nftables counts every packet that the daemon's side sends to the bystander: it must
be none.
"""

import argparse
import contextlib
import ctypes
import hashlib
import hmac
import os
import resource
import secrets
import socket
import ssl
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.engine.serving import PROGRAM, Serving, serving

PREFIX = "bwh"
DAEMON, PEER, ATTACKER, BYSTANDER = "10.77.0.1", "10.77.0.2", "10.77.0.3", "10.77.0.4"
ADDRESSES = {"daemon": DAEMON, "peer": PEER, "attacker": ATTACKER, "bystander": BYSTANDER}
CROWD = 10_000
CLONE_NEWNET = 0x40000000
IDLE_TLS = 1_200


def run(*words: str) -> str:
    """Run a command that must succeed."""
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


@contextlib.contextmanager
def bridge() -> Iterator[None]:
    """A namespace each, and a bridge between them."""
    run("ip", "netns", "add", f"{PREFIX}-bridge")
    try:
        inside = ("ip", "-n", f"{PREFIX}-bridge")
        run(*inside, "link", "add", "bridge", "type", "bridge")
        run(*inside, "link", "set", "bridge", "up")
        for name, address in ADDRESSES.items():
            space = f"{PREFIX}-{name}"
            run("ip", "netns", "add", space)
            peer = ("peer", "name", name, "netns", f"{PREFIX}-bridge")
            run("ip", "-n", space, "link", "add", "eth0", "type", "veth", *peer)
            run("ip", "-n", space, "addr", "add", f"{address}/24", "dev", "eth0")
            for device in ("eth0", "lo"):
                run("ip", "-n", space, "link", "set", device, "up")
            run(*inside, "link", "set", name, "master", "bridge")
            run(*inside, "link", "set", name, "up")
        yield
    finally:
        for name in (*ADDRESSES, "bridge"):
            subprocess.run(["ip", "netns", "del", f"{PREFIX}-{name}"], check=False, capture_output=True)


def count_what_leaves() -> None:
    """Count what the daemon's host sends, by address and protocol."""
    rules = "\n".join(
        f'ip daddr {address} meta l4proto {protocol} counter comment "{name} {protocol}"'
        for name, address in ADDRESSES.items()
        for protocol in ("udp", "tcp", "icmp")
    )
    table = f"table ip watch {{\nchain out {{\ntype filter hook output priority 0\n{rules}\n}}\n}}\n"
    words = ["ip", "netns", "exec", f"{PREFIX}-daemon", "nft", "-f", "-"]
    subprocess.run(words, input=table, text=True, check=True)


def sent(comment: str) -> tuple[int, int]:
    """Packets and bytes of the rule with this comment."""
    listing = run("ip", "netns", "exec", f"{PREFIX}-daemon", "nft", "list", "table", "ip", "watch")
    line = next(line for line in listing.splitlines() if f'"{comment}"' in line).split()
    return int(line[line.index("packets") + 1]), int(line[line.index("bytes") + 1])


@contextlib.contextmanager
def inside(name: str) -> Iterator[None]:
    """Do what follows in a namespace: sockets made there stay there."""
    with Path("/proc/self/ns/net").open() as home, Path(f"/run/netns/{PREFIX}-{name}").open() as space:
        enter(space.fileno())
        try:
            yield
        finally:
            enter(home.fileno())


def enter(space: int) -> None:
    """Move this thread to a network namespace (os.setns came with Python 3.12)."""
    if ctypes.CDLL(None, use_errno=True).setns(space, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def honest(engine: Serving, kind: str = "tcp_rr") -> float:
    """Run an honest test from the peer; the seconds that it took, or the reason why it failed."""
    words = ["ip", "netns", "exec", f"{PREFIX}-peer", str(PROGRAM), "run", kind, "--peer", f"{DAEMON}:7410"]
    words += ["--token-file", str(engine.token_file), "--set", "duration_seconds=0.2", "--json"]
    begin = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0:
        raise AssertionError(f"the honest test failed: {done.stderr.strip()}")
    return time.monotonic() - begin


def crowd(port: int, count: int) -> list[socket.socket]:
    """Open connections from the attacker and say nothing."""
    sockets = []
    with inside("attacker"):
        for _ in range(count):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex((DAEMON, port))
            sockets.append(one)
            # The daemon accepts meanwhile: more than its backlog would only be the kernel's business.
            if len(sockets) % 500 == 0:
                time.sleep(0.05)
    return sockets


def connected(sockets: list[socket.socket]) -> int:
    """How many of a crowd got through, and close them all."""
    count = 0
    for one in sockets:
        with contextlib.suppress(OSError):
            count += bool(one.getpeername())
        one.close()
    return count


def idle_tls(count: int) -> list[ssl.SSLSocket]:
    """Finish that many handshakes without a token."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    sockets = []
    with inside("attacker"):
        for _ in range(count):
            with contextlib.suppress(OSError):
                sockets.append(context.wrap_socket(socket.create_connection((DAEMON, 7410), timeout=5)))
    return sockets


def silent_data_port(engine: Serving) -> str:
    """10,000 connections to the data port that never bring a preamble."""
    sockets = crowd(7411, CROWD)
    took = honest(engine)
    return f"{CROWD} connections tried, {connected(sockets)} open when counted; the honest test took {took:.2f} s"


def silent_control_port(engine: Serving) -> str:
    """10,000 connections to the control port that never begin TLS."""
    sockets = crowd(7410, CROWD)
    took = honest(engine)
    return f"{CROWD} connections tried, {connected(sockets)} open when counted; the honest test took {took:.2f} s"


def idle_handshakes(engine: Serving) -> str:
    """1,200 TLS connections without a request."""
    sockets = idle_tls(IDLE_TLS)
    took = honest(engine)
    for one in sockets:
        one.close()
    return f"{len(sockets)} idle TLS connections; the honest test took {took:.2f} s"


def slow_requests(engine: Serving) -> str:
    """A hundred clients send a byte of their header a second; the engine ends them."""
    sockets = idle_tls(100)
    begin, closed = time.monotonic(), 0
    request = b"GET /v1/about HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 100
    for index in range(9):
        for one in sockets:
            with contextlib.suppress(OSError):
                one.send(request[index : index + 1])
        time.sleep(1)
    took = honest(engine)
    for one in sockets:
        one.settimeout(0.5)
        with contextlib.suppress(TimeoutError, OSError):
            closed += one.recv(1) == b""
        one.close()
    assert closed == len(sockets), f"only {closed} of {len(sockets)} were closed"
    return f"{closed} slow clients closed within {time.monotonic() - begin:.0f} s; the honest test took {took:.2f} s"


def checksum(data: bytes) -> int:
    """RFC 1071."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def forged(source: str, payload: bytes) -> bytes:
    """An IPv4 UDP datagram with a source address of choice; no UDP checksum, as IPv4 allows."""
    udp = struct.pack("!HHHH", 40_000, 7411, 8 + len(payload), 0) + payload
    head = struct.pack(
        "!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, socket.inet_aton(source), socket.inet_aton(DAEMON)
    )
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + udp


def hello(cookie: bytes, index: int) -> bytes:
    """The UDP hello of docs/reference/engine-protocol.md."""
    head = b"BWU1" + bytes([1, 0, 0, 0]) + struct.pack("!II", index, 0) + hashlib.sha256(cookie).digest()[:16]
    return head + hmac.digest(cookie, head, "sha256")


def forged_sources(engine: Serving) -> str:
    """Datagrams in others' names, garbage and whole hellos of a running session: nothing goes to the bystander."""
    cookie = secrets.token_bytes(32)
    spec = {"role": "sink", "kind": "udp_stream", "params": {"duration_seconds": 5}, "cookie": cookie.hex()}
    spec["peer"] = {"address": PEER, "data_port": 7411}
    with inside("peer"):
        status, answer = engine.call("PUT", "/v1/sessions/forged", spec)
        assert status == 201, answer
        link = socket.create_connection((DAEMON, 7411))
        head = b"BWD1" + bytes(12) + hashlib.sha256(cookie).digest()[:16]
        link.sendall(head + hmac.digest(cookie, head, "sha256"))
        time.sleep(0.2)
        peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        peer.settimeout(1)
        peer.sendto(hello(cookie, 0), (DAEMON, 7411))
        challenge = peer.recv(2048)
    assert len(challenge) == 40, challenge
    count = 0
    response = b"BWUR" + challenge[4:]
    response += hmac.digest(cookie, response, "sha256")
    with inside("attacker"):
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        for source in (BYSTANDER, "224.0.0.1", "255.255.255.255", "10.77.0.255", "0.0.0.0", "127.0.0.1"):
            for payload in (hello(cookie, 0), response, os.urandom(64), os.urandom(72), os.urandom(1400)) * 100:
                with contextlib.suppress(OSError):
                    count += bool(raw.sendto(forged(source, payload), (DAEMON, 0)))
        # In the peer's own name: a replayed hello is answered to the peer alone, with less than it brought.
        before = sent("peer udp")
        for _ in range(100):
            raw.sendto(forged(PEER, hello(cookie, 0)), (DAEMON, 0))
        time.sleep(0.5)
        after = sent("peer udp")
    answers, answer_bytes = after[0] - before[0], after[1] - before[1]
    assert answers <= 100 and answer_bytes <= 100 * 68, (answers, answer_bytes)
    with inside("peer"):
        engine.call("DELETE", "/v1/sessions/forged")
    link.close()
    took = honest(engine, "udp_rr")
    stray = {protocol: sent(f"bystander {protocol}")[0] for protocol in ("udp", "tcp", "icmp")}
    assert not any(stray.values()), f"packets went to the bystander: {stray}"
    return (
        f"{count} forged datagrams; packets to the bystander: {stray}; 100 replayed hellos of 64 B in the peer's name "
        f"gave {answers} challenges of 40 B, to the peer; the honest test took {took:.2f} s"
    )


CASES: list[Callable[[Serving], str]] = [
    silent_data_port,
    silent_control_port,
    idle_handshakes,
    slow_requests,
    forged_sources,
]


def main() -> int:
    """Try every crowd, print a verdict each."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    failed = 0
    options = ("--data-port", "7411")
    with bridge():
        count_what_leaves()
        prefix = ("ip", "netns", "exec", f"{PREFIX}-daemon")
        with serving(*options, prefix=prefix, listen=f"{DAEMON}:7410") as engine:
            process = Path(f"/proc/{engine.process.pid}")
            for case in CASES:
                try:
                    print(f"{case.__name__:22}good  {case(engine)}", flush=True)
                except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
                    failed += 1
                    print(f"{case.__name__:22}BAD   {error}", flush=True)
            time.sleep(3)
            status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
            descriptors = len(list((process / "fd").iterdir()))
            print(f"afterwards the daemon holds {status['VmRSS'].strip()} and {descriptors} descriptors")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
