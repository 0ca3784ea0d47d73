"""Engines that send what can't be stored: every message type, and each costs its own trial or endpoint at most."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from django.contrib.auth.models import User
from django.db import DataError, IntegrityError, OperationalError
from django.test import Client

from benchweb.hosts.models import AvailabilitySpan, Endpoint, Pair, ProbeHour
from benchweb.hosts.probing.probes import ProbedLoad
from benchweb.results import ingest as ingesting
from benchweb.runs.models import OPEN_STATES, Reservation, Run, State
from tests.factories import make_endpoint, make_pair, make_run
from tests.workers.engine_client.broken_engine import (
    ABOUT,
    Answer,
    BrokenEngine,
    answer_bytes,
    answer_chunks,
    answer_json,
)
from workers.checks import check, probe
from workers.runs import attempt, run, trial

pytestmark = pytest.mark.django_db(transaction=True)

PREPARED = answer_json({"state": "prepared", "data_port": 7411}, status=201)
RESULT = {"kind": "tcp_stream", "metrics": {"throughput_bps": 5.0}, "intervals": [], "source": {}, "sink": {}}
DAY = 86_400
DEEP = json.loads("[" * 200 + "]" * 200)


def event(**body: Any) -> bytes:
    return json.dumps({"id": 1, **body}).encode() + b"\n"


class Hostile:
    """Makes a run over an engine that sends these lines as events, at both ends."""

    def __init__(self, folder: Path) -> None:
        self.engine = BrokenEngine(folder, {"PUT /v1/sessions": PREPARED})

    def __call__(self, *lines: bytes, answers: dict[str, Answer] | None = None, **fields: Any) -> Run:
        made = self.engine
        made._answers = {**(answers or {}), **made._answers, "GET /v1/sessions": answer_chunks(*lines)}
        return make_run(pair=pair(made), **fields)


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hostile]:
    monkeypatch.setattr(trial, "REATTACH_SECONDS", 0.6)
    monkeypatch.setattr(attempt, "UNREACHABLE_SECONDS", 0.3)
    made = Hostile(tmp_path)
    yield made
    made.engine.close()


def pair(engine: BrokenEngine) -> Pair:
    ends = [make_endpoint(control_address=engine.address, token="t") for _ in range(2)]
    return make_pair(source=ends[0], sink=ends[1])


def executed(row: Run) -> Run:
    run.execute(row.pk)
    row.refresh_from_db()
    assert row.state not in OPEN_STATES and row.lease_owner == ""
    assert all(each.during.upper <= row.finished_at for each in Reservation.objects.filter(run=row))
    return row


@pytest.mark.parametrize(
    "changes",
    [
        {"note": "a\0b"},
        {"no\0te": 1},
        {"note": "\ud800"},
        {"note": math.nan},
        {"note": [math.inf, -math.inf]},
        {"note": 2**200},
        {"note": 10**4000},
        {"flags": ["a\0b"]},
        {"source": {"kernel": "6.1\0", "cpu": {"model": "\udfff"}}},
        {"metrics": {"throughput_bps": 5.0, "retransmits": math.nan}},
        {"metrics": {"throughput_bps": 5.0, "retransmits": 10**400, "send_throughput_bps": 1e300}},
        {"limits": [{"direction": "forward\0", "by": "x", "summary": "\ud800"}]},
        {"params": {"x" * 100_000: "y" * 100_000}},
    ],
    ids=lambda changes: next(iter(changes)).replace("\0", ""),
)
def test_a_result_with_what_cannot_be_stored_is_kept_without_it(
    hostile: Hostile, changes: dict[str, Any], client: Client, django_user_model: type[User]
) -> None:
    ended = executed(hostile(event(type="result", result=RESULT | changes)))
    assert (ended.state, ended.reason) == (State.FINISHED, "")
    assert ended.trials.get().result.metrics == {"throughput_bps": 5.0}
    client.force_login(django_user_model.objects.create(username="reader"))
    for page in (f"/runs/{ended.pk}", f"/runs/{ended.pk}/trials/1"):
        assert client.get(page).status_code == 200


def test_a_result_of_a_day_is_taken_in_and_its_pages_are_small(
    hostile: Hostile, client: Client, django_user_model: type[User]
) -> None:
    intervals = [
        {"start_seconds": each, "end_seconds": each + 1, "metrics": {"throughput_bps": 1e9 + each}}
        for each in range(DAY)
    ]
    ended = executed(hostile(event(type="result", result=RESULT | {"intervals": intervals})))
    assert (ended.state, ended.reason) == (State.FINISHED, "")
    result = ended.trials.get().result
    assert (result.interval_count, len(result.document["intervals"])) == (2_700, 675)
    kept = ended.trials.get().interval_parts.latest("number").intervals
    assert kept[-1]["extremes"] == {"throughput_bps": [1e9 + DAY - 32, 1e9 + DAY - 1]}


def test_a_result_over_the_bound_fails_its_trial_with_the_bound(hostile: Hostile) -> None:
    ended = executed(hostile(event(type="result", result=RESULT | {"intervals": [], "note": ["x" * 9_000] * 2_000})))
    trial_row = ended.trials.get()
    assert trial_row.state == State.FAILED
    assert "sent a result or event of more than 16 MiB, the most that is taken in." in trial_row.reason


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"metrics": {"throughput_bps": "fast"}}, "no finite number"),
        ({"intervals": 5}, "intervals"),
        ({"intervals": [{"start_seconds": "0"}]}, "intervals.0.start_seconds"),
        ({"flows": [7]}, "flows.0"),
        ({"hosts": {"source": {"cores": 3}}}, "hosts.source.cores"),
        ({"flags": {"a": 1}}, "flags"),
        ({"limits": [{"direction": 1}]}, "limits.0"),
        ({"source": {"interfaces": ["eth0"]}}, "interfaces.0"),
        ({"histogram": {"data": "é"}}, "histogram"),
        ({"note": DEEP}, "nested"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_a_result_that_pages_could_not_read_fails_its_trial_and_the_next_goes_on(
    hostile: Hostile, changes: dict[str, Any], what: str
) -> None:
    ended = executed(hostile(event(type="result", result=RESULT | changes), repetitions=2))
    assert ended.state == State.FAILED
    reasons = list(ended.trials.values_list("state", "reason"))
    assert len(reasons) == 2
    assert all(state == State.FAILED and what in reason for state, reason in reasons), reasons


def test_a_refusal_and_a_failure_with_nul_are_told_without_it(hostile: Hostile) -> None:
    failure = event(type="failure", state="failed", reason="no\0 \ud800" + "x" * 50_000, partial=[1])
    ended = executed(hostile(failure))
    assert ended.trials.get().reason.startswith("no\ufffd \ufffdxxx")
    assert len(ended.trials.get().reason) == 2_000
    refusal = answer_json({"error": {"code": "invalid\0", "message": "a\0b\ud800"}}, status=422)
    hostile.engine._answers["PUT /v1/sessions"] = refusal
    assert executed(hostile()).reason.endswith("refused: a\ufffdb\ufffd")


def test_intervals_that_are_none_cost_nothing(hostile: Hostile) -> None:
    odd = [[], "x", {"start_seconds": math.nan}, {"start_seconds": 0, "end_seconds": 1, "metrics": {"a": "\0"}}]
    lines = [json.dumps({"id": n, "type": "interval", "interval": each}).encode() + b"\n" for n, each in enumerate(odd)]
    ended = executed(hostile(*lines, json.dumps({"id": 9, "type": "result", "result": RESULT}).encode() + b"\n"))
    assert ended.state == State.FINISHED


@pytest.mark.parametrize("refusal", [DataError("no"), IntegrityError("no"), ValueError("no"), RecursionError("no")])
def test_what_the_database_refuses_as_data_fails_the_trial_at_once(
    hostile: Hostile, monkeypatch: pytest.MonkeyPatch, refusal: DataError | IntegrityError | RecursionError | ValueError
) -> None:
    tries = []

    def refused(**_: object) -> None:
        tries.append(1)
        raise refusal

    monkeypatch.setattr(trial, "ingest", refused)
    ended = executed(hostile(event(type="result", result=RESULT)))
    assert (ended.state, len(tries)) == (State.FAILED, 1)
    assert ended.trials.get().reason.startswith("The result can't be stored: no")


def test_a_database_in_trouble_is_asked_again(hostile: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def away_at_first(**values: Any) -> bool:
        tries.append(1)
        if len(tries) == 1:
            raise OperationalError("the disk is full")
        return ingesting.ingest(**values)

    monkeypatch.setattr(trial, "ingest", away_at_first)
    assert executed(hostile(event(type="result", result=RESULT))).state == State.FINISHED


def test_an_engine_that_never_comes_to_an_end_is_given_up(hostile: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "ENDLESS_SECONDS", -1_000.0)
    ended = executed(hostile(b"\n" * 20))
    assert "came to no end within" in ended.reason


@pytest.mark.parametrize("address", ["[fe80::1%eth0]:7410", "no address at all", f"{'a' * 70}.example:7410"])
def test_a_control_address_that_cannot_be_used_ends_the_run_with_a_reason(hostile: Hostile, address: str) -> None:
    pending = hostile()
    Endpoint.objects.filter(pk=pending.pair.source_id).update(control_address=address, fingerprint="sha256:" + "0" * 64)
    ended = executed(pending)
    assert ended.state == State.NONSTART
    assert "host" in ended.reason
    assert ended.reservations.count() == 0
    check.check(pending.pair.source_id)
    endpoint = Endpoint.objects.get(pk=pending.pair.source_id)
    assert endpoint.status in (Endpoint.Status.REFUSED, Endpoint.Status.UNREACHABLE)
    assert endpoint.status_reason


@pytest.mark.parametrize(
    "about",
    [
        ABOUT | {"time": "2026-01-01T00:00:00"},
        ABOUT | {"engine_version": "9\0" + "9" * 500},
        ABOUT | {"boot_id": "\ud800", "kinds": ["a\0"]},
    ],
)
def test_a_check_keeps_what_it_can_of_an_odd_answer(hostile: Hostile, about: dict[str, Any]) -> None:
    endpoint_id = hostile(answers={}).pair.source_id
    hostile.engine._answers["GET /v1/about"] = answer_json(about)
    hostile.engine._answers["GET /v1/facts"] = answer_json({"kernel": "6\0", "x": math.nan, "y": 2**100})
    check.check(endpoint_id)
    endpoint = Endpoint.objects.get(pk=endpoint_id)
    assert (endpoint.status, endpoint.status_reason) == (Endpoint.Status.ANSWERED, "")
    assert endpoint.facts.get().document == {"kernel": "6\ufffd", "x": None, "y": None}


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("about", answer_json(ABOUT | {"catalog_version": 2**40})),
        ("about", answer_json(ABOUT | {"data_port": -1})),
        ("about", answer_json(ABOUT | {"time": 5})),
        ("about", answer_json(ABOUT | {"sessions": math.inf})),
        ("facts", answer_json({"interfaces": 5})),
        ("facts", answer_json({"memory_bytes": "much"})),
        ("facts", answer_bytes(b"[" * 100 + b"]" * 100)),
    ],
)
def test_a_check_of_what_is_no_engine_is_refused_with_a_reason(hostile: Hostile, path: str, answer: Answer) -> None:
    endpoint_id = hostile().pair.source_id
    hostile.engine._answers[f"GET /v1/{path}"] = answer
    # It answered at its address before: all is told of it.
    Endpoint.objects.update(answered_address=hostile.engine.address)
    check.check(endpoint_id)
    endpoint = Endpoint.objects.get(pk=endpoint_id)
    assert endpoint.status == Endpoint.Status.REFUSED
    assert endpoint.status_reason


@pytest.mark.parametrize(
    "host",
    [
        {"seconds": math.nan},
        {"seconds": 60, "cpu_ratio": 1e18},
        {"seconds": 60, "cpu_ratio": -1},
        {"seconds": 60, "interface": {"rx_bps": 5e18, "tx_bps": 5e18}},
        {"seconds": 60, "interface": {"rx_bps": 10**400, "tx_bps": "\0"}},
        {"seconds": 60, "interface": [1]},
        ["\0"],
    ],
)
def test_one_hostile_endpoint_leaves_the_others_of_its_batch_alone(
    hostile: Hostile, tmp_path: Path, host: dict[str, Any] | list[str]
) -> None:
    hostile.engine._answers["GET /v1/host"] = answer_json(host)
    (tmp_path / "good").mkdir()
    good = BrokenEngine(tmp_path / "good", {"GET /v1/host": answer_json({"seconds": 60, "cpu_ratio": 0.5})})
    rows = [
        make_endpoint(control_address=each.address, token="t", fingerprint=each.fingerprint)
        for each in (good, hostile.engine, good)
    ]
    probe.probe([row.pk for row in rows])
    good.close()
    states = dict(AvailabilitySpan.objects.values_list("endpoint_id", "state"))
    assert [states[row.pk] for row in rows] == ["answered", "engine_down", "answered"]
    assert "can't be read" in AvailabilitySpan.objects.get(endpoint=rows[1]).reason


def test_a_probe_that_breaks_off_or_cannot_be_kept_is_its_own_fault(
    hostile: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile.engine._answers["GET /v1/host"] = answer_json({"seconds": 60, "cpu_ratio": 0.5})
    rows = [
        make_endpoint(control_address=hostile.engine.address, token="t", fingerprint=hostile.engine.fingerprint)
        for _ in range(5)
    ]
    asked = probe._answer_of

    def poisonous(endpoint: Endpoint) -> tuple[float, ProbedLoad] | None:
        if endpoint.pk == rows[1].pk:
            raise RuntimeError("unforeseen\0")
        if endpoint.pk == rows[3].pk:
            return 0.1, ProbedLoad(cpu_ratio=math.inf, received_bps=1e309, sent_bps=cast(float, "\0"))
        return asked(endpoint)

    monkeypatch.setattr(probe, "_answer_of", poisonous)
    probe.probe([row.pk for row in rows])
    states = dict(AvailabilitySpan.objects.values_list("endpoint_id", "state"))
    assert [states.get(row.pk) for row in rows] == ["answered", "engine_down", "answered", None, "answered"]
    assert ProbeHour.objects.filter(answered=1).count() == 3
    assert AvailabilitySpan.objects.get(endpoint=rows[1]).reason == (
        "The probe broke off: RuntimeError: unforeseen\ufffd"
    )


def test_a_check_that_breaks_off_says_so(hostile: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint_id = hostile().pair.source_id

    def broken(_: object) -> None:
        raise RuntimeError("unforeseen")

    monkeypatch.setattr(check, "_probed", broken)
    check.check(endpoint_id)
    endpoint = Endpoint.objects.get(pk=endpoint_id)
    assert endpoint.status_reason == "The check broke off: RuntimeError: unforeseen"
