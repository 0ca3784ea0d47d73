"""Looks at real paths between two engines on a wire: what passes, what vanishes, and how fast."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import pytest

from bench.truth.ground.attempt import attempt
from bench.truth.ground.topology import ENGINE, SINK_ADDRESS, Link, Namespace, process, wait_for_port
from bench.truth.ground.wire import build, wired

pytestmark = pytest.mark.needs("Rust", "network namespaces")

COOKIE = "5a" * 32
# One call of the control API, from within a namespace.
ASK = """
import http.client, ssl, sys
context = ssl._create_unverified_context()
connection = http.client.HTTPSConnection(sys.argv[1], 7410, context=context, timeout=60)
connection.request("POST", "/v1/path-checks", sys.argv[3], {"Authorization": "Bearer " + sys.argv[2]})
answer = connection.getresponse()
body = answer.read().decode()
assert answer.status == 200, body
print(body)
"""


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    build()


@contextmanager
def source_engine(between: Link, folder: Path) -> Iterator[None]:
    words = between.source.words(
        str(ENGINE), "serve", "--listen", "127.0.0.1:7410", "--state-dir", str(folder / "source"),
        "--token-file", str(between.token),
    )  # fmt: skip
    with process(words, stdout=DEVNULL, stderr=DEVNULL):
        wait_for_port(between.source, 7411)
        yield


def ask(space: Namespace, address: str, token: Path, body: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(
        space.run(sys.executable, "-c", ASK, address, token.read_text(), json.dumps(body))
    )
    return answer


def look(between: Link) -> tuple[dict[str, Any], dict[str, int]]:
    """Have the source look, and return what it found, and how much the sink saw come."""
    opening = {"role": "sink", "cookie": COOKIE}
    before = ask(between.sink, between.control, between.token, opening)["arrived"]
    peer = {"address": SINK_ADDRESS, "data_port": 7411}
    body = {"role": "source", "cookie": COOKIE, "peer": peer}
    found = ask(between.source, "127.0.0.1", between.token, body)
    after = ask(between.sink, between.control, between.token, opening)["arrived"]
    return found, {name: after[name] - before[name] for name in after}


def size(mtu_bytes: int, *, is_silent: bool = False) -> dict[str, Any]:
    return {"mtu_bytes": mtu_bytes, "is_silent": is_silent}


def test_what_passes_on_a_wire_is_what_the_check_says(tmp_path: Path) -> None:
    with wired(both="delay=5ms", is_control_apart=True) as (between, wire), source_engine(between, tmp_path):
        found, arrived = look(between)
        for protocol in ("tcp", "udp"):
            assert found[protocol]["passes"]
            assert 0.010 <= found[protocol]["round_trip_seconds"] < 0.030
        assert (found["forward"], found["backward"]) == (size(1_500), size(1_500))
        assert arrived["tcp"] == 1

        wire.change("block=udp", "forward")
        found, arrived = look(between)
        assert (found["tcp"]["passes"], found["udp"]["fault"], arrived["udp"]) == (True, "timed_out", 0)
        assert (found["forward"], found["backward"]) == (None, None)

        wire.change("block=none", "forward")
        wire.change("block=udp", "backward")
        found, arrived = look(between)
        assert (found["tcp"]["passes"], found["udp"]["fault"]) == (True, "timed_out")
        assert arrived["udp"] >= 4

        wire.change("block=tcp", "forward")
        wire.change("block=none", "backward")
        found, arrived = look(between)
        assert (found["tcp"]["fault"], found["udp"]["passes"], arrived["tcp"]) == ("timed_out", True, 0)

        wire.change("block=none", "forward")
        wire.change("mtu=1400,too_big=silent", "backward")
        found, _ = look(between)
        assert (found["forward"], found["backward"]) == (size(1_500), size(1_400, is_silent=True))

        wire.change("mtu=1300,too_big=silent", "forward")
        wire.change("mtu=0", "backward")
        found, _ = look(between)
        assert (found["forward"], found["backward"]) == (size(1_300, is_silent=True), size(1_500))

        wire.change("mtu=1400,too_big=told")
        found, _ = look(between)
        assert (found["forward"], found["backward"]) == (size(1_400), size(1_400))


def test_tests_over_paths_that_lose_large_packets_or_udp_on_the_way_back_are_flagged() -> None:
    settings = {"duration_seconds": 1, "request_size_bytes": 37, "response_size_bytes": 37}
    with wired(both="delay=1ms", is_control_apart=True) as (between, wire):
        wire.change("mtu=1400,too_big=silent", "backward")
        tried = attempt(between, "tcp_rr", settings)
        assert (tried.code, tried.result["largest_reverse_payload_bytes"]) == (0, 1_372), tried.stderr
        assert "reverse_black_hole" in tried.flags
        assert "black_hole" not in tried.flags

        wire.change("mtu=0,block=udp", "backward")
        tried = attempt(between, "tcp_rr", settings)
        assert tried.code == 0, tried.stderr
        assert "udp_blocked" in tried.flags
        assert tried.result["path_fault"] == f"none of {tried.result['unanswered_hellos']} UDP hellos was answered"

        tried = attempt(between, "udp_rr", settings)
        assert tried.code != 0
        assert "no answer to UDP hellos" in tried.stderr
