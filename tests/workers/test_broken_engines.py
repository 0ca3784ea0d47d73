"""Runs over engines that break: every run ends in a final state with a reason that names the engine."""

import pytest

from benchweb.hosts.models import Endpoint
from benchweb.runs.models import Reservation, Run, State
from tests.factories import make_endpoint, make_pair, make_run
from tests.workers.broken_engine import BrokenEngine, answer_bytes, answer_chunks, answer_json, hang
from workers import check, run, trial
from workers.engine_client import client

pytestmark = pytest.mark.django_db(transaction=True)

PREPARED = answer_json({"state": "prepared", "data_port": 7411}, status=201)


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(client, "CREATE_SECONDS", 0.5)
    monkeypatch.setattr(client, "EVENT_SILENCE_SECONDS", 0.5)
    monkeypatch.setattr(trial, "REATTACH_SECONDS", 0.6)
    monkeypatch.setattr(run, "UNREACHABLE_SECONDS", 0.3)


@pytest.fixture
def broken(tmp_path):
    made = BrokenEngine(tmp_path, {})

    def with_answers(answers):
        made._answers = {**made._answers, **answers}
        return make_run(
            pair=make_pair(
                source=make_endpoint(host_name="alpha", control_address=made.address, token="t"),
                sink=make_endpoint(host_name="beta", control_address=made.address, token="t"),
            ),
            repetitions=2,
        )

    yield with_answers
    made.close()


def executed(broken_run: Run) -> Run:
    run.execute(broken_run.pk)
    broken_run.refresh_from_db()
    assert broken_run.finished_at is not None and broken_run.lease_owner == ""
    assert all(row.during.upper <= broken_run.finished_at for row in Reservation.objects.filter(run=broken_run))
    return broken_run


def test_a_run_whose_engine_cannot_be_reached_fails_with_which_and_what_to_do():
    ended = executed(make_run(repetitions=3))
    assert ended.state == State.FAILED
    assert ended.reason.startswith("3 of 3 trials not started: The engine of host-")
    assert "Is benchweb-engine serve running there" in ended.reason


def test_an_engine_that_hangs_fails_the_run_in_time(broken):
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
def test_an_engine_that_answers_garbage_fails_each_trial_and_invents_nothing(broken, events):
    ended = executed(broken({"PUT /v1/sessions": PREPARED, "GET /v1/sessions": events}))
    assert ended.state == State.FAILED
    assert ended.reason.startswith("2 of 2 trials failed: ")
    assert not ended.trials.exclude(result=None).exists()


def test_an_engine_that_falls_silent_in_the_middle_fails_the_trial_and_says_so(broken):
    silent = answer_chunks(b'{"id": 1, "type": "state", "state": "running"}\n', end=False, then_sleep_seconds=1)
    ended = executed(broken({"PUT /v1/sessions": PREPARED, "GET /v1/sessions": silent}))
    assert ended.state == State.FAILED
    assert "fell silent in the middle of a trial" in ended.trials.get(index=1).reason


def test_a_failure_with_a_partial_result_keeps_what_was_measured(broken):
    failure = (
        b'{"id": 1, "type": "failure", "state": "failed", "code": "peer_lost", "reason": "the sink fell silent", '
        b'"partial": {"kind": "tcp_stream", "metrics": {"throughput_bps": 5.0}, "flags": []}}\n'
    )
    ended = executed(broken({"PUT /v1/sessions": PREPARED, "GET /v1/sessions": answer_chunks(failure)}))
    assert ended.reason == "2 of 2 trials failed: the sink fell silent"
    kept = ended.trials.get(index=1).result
    assert (kept.metrics, kept.flags) == ({"throughput_bps": 5.0}, ["partial"])


def test_a_sink_that_fails_at_once_fails_each_trial_in_its_own_words(broken):
    failed = answer_json({"state": "failed", "reason": "no such congestion control"}, status=201)
    ended = executed(broken({"PUT /v1/sessions": failed}))
    assert ended.reason.startswith("2 of 2 trials failed: The engine of beta (host) (127.0.0.1:")
    assert ended.reason.endswith("could not prepare the test: no such congestion control")


def test_a_check_records_what_it_found(broken):
    pair = broken({"GET /v1/facts": answer_json({"kernel": "6.1"})}).pair
    check.check(pair.source_id)
    endpoint = Endpoint.objects.get(pk=pair.source_id)
    assert (endpoint.status, endpoint.engine_version) == (Endpoint.Status.ANSWERED, "0.1.0")
    assert endpoint.fingerprint == endpoint.seen_fingerprint != ""
    # The broken engine's clock stands at the start of 2026.
    assert endpoint.clock_offset_seconds < -86400
    assert endpoint.facts.get().document == {"kernel": "6.1"}


def test_a_check_of_a_changed_certificate_is_refused_and_keeps_the_pin(broken):
    pair = broken({}).pair
    pinned = "sha256:" + "0" * 64
    Endpoint.objects.filter(pk=pair.source_id).update(fingerprint=pinned)
    check.check(pair.source_id)
    endpoint = Endpoint.objects.get(pk=pair.source_id)
    assert (endpoint.status, endpoint.fingerprint) == (Endpoint.Status.REFUSED, pinned)
    assert "another certificate" in endpoint.status_reason


def test_a_check_of_nobody_is_unreachable():
    endpoint = make_endpoint()
    check.check(endpoint.pk)
    endpoint.refresh_from_db()
    assert endpoint.status == Endpoint.Status.UNREACHABLE
    assert "can't be reached" in endpoint.status_reason
