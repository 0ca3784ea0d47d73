"""Runs over engines that break: every run ends in a final state with a reason that names the engine."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from django.utils import timezone

from benchweb.hosts.models import Endpoint
from benchweb.runs.models import Campaign, Reservation, Run, State
from tests.factories import make_endpoint, make_pair, make_run
from tests.workers.engine_client.broken_engine import (
    ABOUT,
    Answer,
    BrokenEngine,
    answer_bytes,
    answer_chunks,
    answer_json,
    hang,
)
from workers.checks import check
from workers.engine_client import client
from workers.runs import attempt, run, trial

pytestmark = pytest.mark.django_db(transaction=True)

PREPARED = answer_json({"state": "prepared", "data_port": 7411}, status=201)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "CREATE_SECONDS", 0.5)
    monkeypatch.setattr(client, "EVENT_SILENCE_SECONDS", 0.5)
    monkeypatch.setattr(trial, "REATTACH_SECONDS", 0.6)
    monkeypatch.setattr(trial, "BUSY_SECONDS", 0.6)
    monkeypatch.setattr(attempt, "UNREACHABLE_SECONDS", 0.3)


class Broken:
    """Makes a run over a broken engine, which stands at both ends."""

    def __init__(self, folder: Path) -> None:
        self.engine = BrokenEngine(folder, {})

    def __call__(self, answers: dict[str, Answer]) -> Run:
        made = self.engine
        made._answers = {**made._answers, **answers}
        values = {"control_address": made.address, "token": "t", "fingerprint": made.fingerprint}
        pair = make_pair(
            source=make_endpoint(host_name="alpha", **values), sink=make_endpoint(host_name="beta", **values)
        )
        # It answered at its address before: all is told of it.
        Endpoint.objects.update(answered_address=made.address)
        return make_run(pair=pair, repetitions=2)


@pytest.fixture
def broken(tmp_path: Path) -> Iterator[Broken]:
    made = Broken(tmp_path)
    yield made
    made.engine.close()


def executed(broken_run: Run) -> Run:
    run.execute(broken_run.pk)
    broken_run.refresh_from_db()
    assert broken_run.finished_at is not None and broken_run.lease_owner == ""
    occupied = Reservation.objects.filter(run=broken_run)
    assert all(row.during.upper <= broken_run.finished_at for row in occupied)
    return broken_run


def test_a_run_whose_engine_cannot_be_reached_does_not_start_and_says_which_and_what_to_do() -> None:
    ended = executed(make_run(repetitions=3))
    assert (ended.state, ended.started_at) == (State.NONSTART, None)
    assert ended.reason.startswith("The engine of host-")
    assert "Is benchweb-engine serve running there" in ended.reason
    assert set(ended.trials.values_list("state", "reason")) == {("nonstart", ended.reason)}
    assert ended.reservations.count() == 0


def test_an_engine_that_cannot_be_reached_is_marked_until_it_answers(broken: Broken) -> None:
    unreachable = make_run()
    executed(unreachable)
    marked = {end.pk: end.unreachable_since for end in Endpoint.objects.all()}
    assert marked[unreachable.pair.source_id] is not None
    # Nobody asked the sink: without the source it is of no use.
    assert marked[unreachable.pair.sink_id] is None
    again = broken({})
    Endpoint.objects.update(unreachable_since=timezone.now())
    executed(again)
    answered = Endpoint.objects.filter(pk__in=[again.pair.source_id, again.pair.sink_id])
    assert set(answered.values_list("unreachable_since", flat=True)) == {None}


def test_a_run_with_attempts_left_goes_back_to_its_queue_and_starts_when_the_engine_answers(broken: Broken) -> None:
    waiting = broken({"GET /v1/about": answer_json({"error": {"code": "limit", "message": "full"}}, status=429)})
    Campaign.objects.update(retries=2, retry_pause_seconds=0)
    run.execute(waiting.pk)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.attempts, waiting.lease_owner) == (State.PENDING, 1, "")
    assert "after the first of 3 attempts: The engine of alpha (host) (127.0.0.1:" in waiting.waiting_for
    broken.engine._answers["GET /v1/about"] = answer_json(ABOUT)
    assert executed(waiting).state == State.FAILED
    # It began: what failed were the trials, for this engine has no sessions.
    assert waiting.started_at is not None


@pytest.mark.parametrize(
    ("about", "attempts_left"),
    [
        (answer_json({"error": {"code": "limit", "message": "full"}}, status=429), True),
        (answer_json({"error": {"code": "unavailable", "message": "stopping"}}, status=503), True),
        (answer_json(ABOUT | {"sessions": 4, "limits": {"engine": {"sessions": 4}}}), True),
        (answer_json({"error": {"code": "unauthorized", "message": "no"}}, status=401), False),
        (answer_bytes(b"<html>hello</html>"), False),
    ],
    ids=["busy", "not ready", "full", "wrong token", "garbage"],
)
def test_only_what_may_pass_is_tried_again(broken: Broken, about: Answer, attempts_left: bool) -> None:
    tried = broken({"GET /v1/about": about})
    Campaign.objects.update(retries=1, retry_pause_seconds=0)
    run.execute(tried.pk)
    tried.refresh_from_db()
    assert tried.state == (State.PENDING if attempts_left else State.NONSTART)
    if attempts_left:
        assert executed(tried).state == State.NONSTART


def test_a_session_is_asked_for_again_while_the_engine_is_busy_for_a_moment(broken: Broken) -> None:
    answers = [answer_json({"error": {"code": "limit", "message": "full"}}, status=429)] * 2

    def busy_at_first(handler: BaseHTTPRequestHandler) -> None:
        (answers.pop() if answers else PREPARED)(handler)

    ended = executed(broken({"PUT /v1/sessions": busy_at_first}))
    assert "full" not in ended.reason
    assert answers == []


def test_an_engine_that_hangs_fails_the_run_in_time(broken: Broken) -> None:
    ended = executed(broken({"PUT /v1/sessions": hang(3)}))
    assert ended.state == State.FAILED
    assert "The engine of beta (host) (127.0.0.1:" in ended.reason


@pytest.mark.parametrize(
    "events",
    [
        answer_bytes(b"<html>nginx</html>"),
        answer_chunks(b"no json\n"),
        answer_chunks(b'{"id": 1, "type": "result", "result": {"kind": "udp_stream"}}\n'),
        answer_chunks(b'{"id": 1, "type": "result"}\n'),
    ],
)
def test_an_engine_that_answers_garbage_fails_each_trial_and_invents_nothing(broken: Broken, events: Answer) -> None:
    ended = executed(broken({"PUT /v1/sessions": PREPARED, "GET /v1/sessions": events}))
    assert ended.state == State.FAILED
    assert ended.reason.startswith("2 of 2 trials failed: ")
    assert not ended.trials.exclude(result=None).exists()


def test_an_engine_that_falls_silent_in_the_middle_fails_the_trial_and_says_so(broken: Broken) -> None:
    silent = answer_chunks(b'{"id": 1, "type": "state", "state": "running"}\n', end=False, then_sleep_seconds=1)
    ended = executed(broken({"PUT /v1/sessions": PREPARED, "GET /v1/sessions": silent}))
    assert ended.state == State.FAILED
    assert "fell silent in the middle of a trial" in ended.trials.get(index=1).reason


def test_a_failure_with_a_partial_result_keeps_what_was_measured(broken: Broken) -> None:
    failure = (
        b'{"id": 1, "type": "failure", "state": "failed", "code": "peer_lost", "reason": "the sink fell silent", '
        b'"partial": {"kind": "tcp_stream", "metrics": {"throughput_bps": 5.0}, "flags": []}}\n'
    )
    ended = executed(broken({"PUT /v1/sessions": PREPARED, "GET /v1/sessions": answer_chunks(failure)}))
    assert ended.reason.startswith(
        "2 of 2 trials failed: the sink fell silent; the other end: The engine of beta (host) ("
    )
    assert ended.reason.endswith(") answers.")
    kept = ended.trials.get(index=1).result
    assert (kept.metrics, kept.flags) == ({"throughput_bps": 5.0}, ["partial"])


def test_a_test_of_which_nothing_arrived_fails_with_counts_that_are_whole(broken: Broken) -> None:
    failure = (
        b'{"id": 1, "type": "failure", "state": "failed", "code": "nothing_arrived", "reason": "nothing arrived", '
        b'"partial": {"kind": "tcp_stream", "metrics": {"retransmits": 5.0}, "flags": ["nothing_arrived"]}}\n'
    )
    ended = executed(broken({"PUT /v1/sessions": PREPARED, "GET /v1/sessions": answer_chunks(failure)}))
    assert ended.reason == "2 of 2 trials failed: nothing arrived"
    kept = ended.trials.get(index=1).result
    assert (kept.metrics, kept.flags) == ({"retransmits": 5.0}, ["nothing_arrived"])


def test_a_sink_that_fails_at_once_fails_each_trial_in_its_own_words(broken: Broken) -> None:
    failed = answer_json({"state": "failed", "reason": "no such congestion control"}, status=201)
    ended = executed(broken({"PUT /v1/sessions": failed}))
    assert ended.reason.startswith("2 of 2 trials failed: The engine of beta (host) (127.0.0.1:")
    assert ended.reason.endswith("could not prepare the test: no such congestion control")


def test_a_check_records_what_it_found(broken: Broken) -> None:
    pair = broken({"GET /v1/facts": answer_json({"kernel": "6.1"})}).pair
    check.check(pair.source_id)
    endpoint = Endpoint.objects.get(pk=pair.source_id)
    assert (endpoint.status, endpoint.engine_version) == (Endpoint.Status.ANSWERED, "0.1.0")
    assert endpoint.fingerprint == endpoint.seen_fingerprint != ""
    # The broken engine's clock stands at the start of 2026.
    assert endpoint.clock_offset_seconds is not None
    assert endpoint.clock_offset_seconds < -86400
    assert endpoint.facts.get().document == {"kernel": "6.1"}


def test_a_check_of_a_changed_certificate_is_refused_and_keeps_the_pin(broken: Broken) -> None:
    pair = broken({}).pair
    pinned = "sha256:" + "0" * 64
    Endpoint.objects.filter(pk=pair.source_id).update(fingerprint=pinned)
    check.check(pair.source_id)
    endpoint = Endpoint.objects.get(pk=pair.source_id)
    assert (endpoint.status, endpoint.fingerprint) == (Endpoint.Status.REFUSED, pinned)
    assert "another certificate" in endpoint.status_reason


def test_a_check_of_nobody_is_unreachable() -> None:
    endpoint = make_endpoint()
    check.check(endpoint.pk)
    endpoint.refresh_from_db()
    assert endpoint.status == Endpoint.Status.UNREACHABLE
    assert "could not be used" in endpoint.status_reason
