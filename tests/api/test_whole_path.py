"""The newcomer's path by REST alone: real engines, a real worker, the real web server."""

import http.client
import json
import subprocess
import time
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User

from benchweb.accounts.services import token_create
from tests.processes import Engine

pytestmark = pytest.mark.django_db(transaction=True)

FINAL = {"finished", "failed", "cancelled", "missed", "nonstart"}
STEPS = [
    {"kind": "tcp_stream", "params": {"message_size_bytes": [64, 1024, 16384], "duration_seconds": 0.2}},
    {"kind": "tcp_rr", "params": {"request_size_bytes": 1, "response_size_bytes": 1, "duration_seconds": 0.2}},
]
Call = Callable[..., Any]
T = TypeVar("T")


@pytest.fixture
def call(web: str, worker: Callable[[], "subprocess.Popen[bytes]"]) -> Call:
    """A script's view of the API: method, path, body; gives the answer's JSON or text."""
    worker()
    _, secret = token_create(user=User.objects.create_user("ada"), name="scripts")
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}

    def send(method: str, path: str, body: Any = None, *, status: int = 200) -> Any:
        connection = http.client.HTTPConnection(urlsplit(web).netloc, timeout=60)
        connection.request(method, f"/api/v1{path}", json.dumps(body) if body is not None else None, headers)
        response = connection.getresponse()
        content = response.read().decode()
        connection.close()
        assert response.status == status, content
        return content if path.endswith(".csv") else json.loads(content)

    return send


def until(condition: Callable[[], T | None], seconds: float = 120) -> T:
    give_up_at = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < give_up_at, "not within the time"
        time.sleep(0.1)
    return found


def defined_pair(call: Call, engines: tuple[Engine, Engine]) -> int:
    """Define both hosts, their endpoints, an environment and the pair; return the pair's id."""
    endpoints = []
    for name, engine in zip(("a", "b"), engines, strict=True):
        host = call("POST", "/hosts", {"name": name}, status=201)["id"]
        body = {"host": host, "control_address": engine.control, "token": engine.token}
        endpoints.append(call("POST", "/endpoints", body, status=201)["id"])
    environment = call("POST", "/environments", {"name": "one machine"}, status=201)["id"]
    body = {"source": endpoints[0], "sink": endpoints[1], "environment": environment}
    return int(call("POST", "/pairs", body, status=201)["id"])


def ended(call: Call, run_id: int) -> dict[str, Any]:
    def final() -> dict[str, Any] | None:
        run: dict[str, Any] = call("GET", f"/runs/{run_id}")
        return run if run["state"] in FINAL else None

    try:
        return until(final)
    except AssertionError:
        # What it waited for is what somebody who reads of it needs to know.
        raise AssertionError(call("GET", f"/runs/{run_id}")) from None


def test_from_hosts_to_numbers_and_again_without_a_trace_on_the_first(
    call: Call, engine_pair: tuple[Engine, Engine]
) -> None:
    pair = defined_pair(call, engine_pair)
    sink = call("GET", f"/pairs/{pair}")["sink"]
    checked = until(lambda: (row := call("GET", f"/endpoints/{sink}"))["checked_at"] and row)
    assert (checked["status"], checked["fingerprint"]) == ("answered", engine_pair[1].fingerprint)

    plan = call("POST", "/plans", {"name": "sizes", "repetitions": 3, "steps": STEPS}, status=201)["id"]
    first_id = call("POST", "/runs", {"plan": plan, "pair": pair}, status=201)["id"]
    first = ended(call, first_id)
    assert (first["state"], first["reason"], len(first["trials"])) == ("finished", "", 12)
    for trial in first["trials"]:
        expected = "throughput_bps" if trial["kind"] == "tcp_stream" else "transactions_per_second"
        assert trial["state"] == "finished", trial
        assert trial["metrics"][expected] > 0
        assert "same_host" in trial["flags"]

    query = f"pair={pair}&kind=tcp_stream&metric=throughput_bps"
    series = call("GET", f"/series?{query}")["items"]
    # 16,384 bytes is the default, which a series' identity leaves out.
    sizes = [item["identity"].get("message_size_bytes") for item in series]
    assert sorted(sizes, key=str) == [1024, 64, None]
    points = call("GET", f"/series/{series[0]['id']}/points")
    assert [point["run"] for point in points] == [first_id] * 3
    assert [point["at"] for point in points] == sorted(point["at"] for point in points)

    second_id = call("POST", "/runs", {"plan": plan, "pair": pair}, status=201)["id"]
    assert ended(call, second_id)["state"] == "finished"
    assert call("GET", f"/runs/{first_id}") == first
    assert len(call("GET", f"/series/{series[0]['id']}/points")) == 6
    assert call("GET", f"/runs/{first_id}/results.csv").count("\r\n") == 13


def test_a_running_run_is_cancelled_at_once_and_keeps_what_it_has(
    call: Call, engine_pair: tuple[Engine, Engine]
) -> None:
    pair = defined_pair(call, engine_pair)
    steps = [
        {"kind": "tcp_stream", "params": {"duration_seconds": 0.2}},
        {"kind": "tcp_stream", "params": {"duration_seconds": 60}},
    ]
    plan = call("POST", "/plans", {"name": "long", "steps": steps}, status=201)["id"]
    run_id = call("POST", "/runs", {"plan": plan, "pair": pair}, status=201)["id"]
    until(lambda: call("GET", f"/runs/{run_id}")["trials"][1]["state"] == "running")
    requested_at = time.monotonic()
    call("POST", f"/runs/{run_id}/cancel", status=202)
    run = ended(call, run_id)
    # The trial alone would have taken a minute.
    assert time.monotonic() - requested_at < 40
    assert run["state"] == "cancelled"
    assert [trial["state"] for trial in run["trials"]] == ["finished", "cancelled"]
    assert run["trials"][0]["metrics"]["throughput_bps"] > 0
