"""No fault is tried without bound: after three workers what they broke off on is given up, and the rest goes on."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.db.models.functions import Now

from benchweb.results import run_summaries as recents
from benchweb.runs.models import Reservation, Run, State, Trial
from benchweb.runs.queueing import claims, leases
from tests.factories import claim_surely, make_pair, make_run
from tests.results.test_ingest import DOCUMENT
from workers.runs import attempt, conduct
from workers.runs import run as running

pytestmark = pytest.mark.django_db(transaction=True)


def worker_gone(run: Run) -> None:
    """Let the lease run out, as that of a worker that broke off does."""
    Run.objects.filter(pk=run.pk).exclude(lease_owner="").update(lease_until=Now() - leases.LEASE)


def executed(run: Run, times: int) -> Run:
    for _ in range(times):
        running.execute(run.pk)
        worker_gone(run)
    run.refresh_from_db()
    return run


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., object]], None]:
    """Put engines in place that are there, whose trials do what `fault` says."""
    monkeypatch.setattr(running, "ends_of", lambda claimed, stack: object())
    # Looked up when it is called: a test may put another in its place.
    monkeypatch.setattr(running, "_ready_ends", lambda claimed, lease, stack: vars(running)["ends_of"](claimed, stack))
    monkeypatch.setattr(running, "addresses_document", lambda ends: {})
    monkeypatch.setattr(conduct, "with_stored_tokens", lambda claimed, ends, stack: ends)
    monkeypatch.setattr(running, "stop_sessions", lambda trial, ends, reason: None)
    monkeypatch.setattr(conduct, "acknowledge", lambda trial, ends: None)

    def with_fault(fault: Callable[..., object]) -> None:
        monkeypatch.setattr(attempt, "run_trial", fault)

    return with_fault


def finished(*, trial: Trial, ends: object, lease: object) -> None:
    from benchweb.results.ingest import ingest, parsed_result

    ingest(trial=trial, result=parsed_result(trial.kind, DOCUMENT), state=State.FINISHED)


def test_a_trial_that_three_workers_broke_off_on_fails_with_the_reason_and_later_ones_go_on(
    engines: Callable[[Callable[..., object]], None],
) -> None:
    tries = []

    def poisonous(*, trial: Trial, ends: object, lease: object) -> None:
        if trial.index == 2:
            tries.append(1)
            raise RuntimeError("unforeseen\0")
        finished(trial=trial, ends=ends, lease=lease)

    engines(poisonous)
    run = executed(make_run(repetitions=3), times=1)
    assert run.state == State.RUNNING
    assert run.waiting_for == "a worker broke off: RuntimeError: unforeseen\ufffd"
    run = executed(run, times=3)
    assert len(tries) == 3
    assert list(run.trials.values_list("state", flat=True)) == ["finished", "failed", "finished"]
    assert run.trials.get(index=2).reason == "3 workers broke off on this trial: RuntimeError: unforeseen\ufffd"
    assert (run.state, run.lease_owner, run.waiting_for) == (State.FAILED, "", "")
    assert all(row.during.upper <= run.finished_at for row in Reservation.objects.filter(run=run))


def test_a_worker_that_is_gone_without_a_word_counts_and_one_that_hands_over_does_not(
    engines: Callable[[Callable[..., object]], None],
) -> None:
    run = make_run(repetitions=2)
    owner = "first"
    assert claims.begin(claimed=claim_surely(run, owner))
    for number in range(5):
        leases.leases_give_up(owners=[owner])
        owner = f"given {number}"
        assert claim_surely(run, owner).broken_off is None
    for number in range(3):
        worker_gone(run)
        owner = f"gone {number}"
        taken = claims.claim(run_id=run.pk, owner=owner)
    assert taken is not None and taken.broken_off
    assert taken.broken_off.reason == "3 workers broke off on this trial: the last one was gone without a word"
    assert list(run.trials.values_list("state", flat=True)) == ["failed", "pending"]


def test_a_run_that_three_workers_broke_off_on_before_its_first_trial_does_not_start(
    engines: Callable[[Callable[..., object]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(claimed: object, stack: object) -> None:
        raise RuntimeError("unforeseen")

    monkeypatch.setattr(running, "ends_of", broken)
    pair = make_pair()
    run = executed(make_run(pair=pair), times=1)
    assert (run.state, run.waiting_for) == (State.PENDING, "a worker broke off: RuntimeError: unforeseen")
    run = executed(run, times=3)
    assert (run.state, run.break_offs) == (State.NONSTART, 0)
    assert run.reason == "3 workers broke off on this run: RuntimeError: unforeseen"
    assert not Reservation.objects.filter(run=run).exists()


def test_a_claim_that_fails_three_times_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(run_id: int) -> None:
        raise LookupError("no such kind")

    monkeypatch.setattr(claims, "_loaded", broken)
    run = executed(make_run(), times=3)
    assert (run.state, run.reason) == (State.NONSTART, "3 workers broke off on this run: LookupError: no such kind")


def test_a_running_run_whose_claim_fails_three_times_ends_and_frees_its_hosts(
    engines: Callable[[Callable[..., object]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run()
    assert claims.begin(claimed=claim_surely(run, "first"))
    worker_gone(run)

    def broken(run_id: int) -> None:
        raise LookupError("no such kind")

    monkeypatch.setattr(claims, "_loaded", broken)
    run = executed(run, times=3)
    assert (run.state, run.lease_owner) == (State.FAILED, "")
    assert run.trials.get().reason == "3 workers broke off on this run: LookupError: no such kind"
    assert all(row.during.upper <= run.finished_at for row in Reservation.objects.filter(run=run))


def test_a_run_whose_end_fails_three_workers_ends_all_the_same_and_keeps_its_results(
    engines: Callable[[Callable[..., object]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(claimed: object) -> None:
        raise RuntimeError("unforeseen")

    engines(finished)
    monkeypatch.setattr(conduct, "_confidence_remark", broken)
    run = executed(make_run(), times=4)
    assert run.state == State.FAILED
    assert run.reason == "3 workers broke off on this run: RuntimeError: unforeseen"
    assert run.trials.get().state == State.FINISHED


def test_a_run_that_cannot_be_summed_up_does_not_hold_up_the_others(
    engines: Callable[[Callable[..., object]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    engines(finished)
    runs = [executed(make_run(), times=1) for _ in range(4)]
    medians = recents._medians

    def poisonous(statement: str, values: Mapping[str, Any]) -> dict[int, Any]:
        if any(run.pk in values["runs"] for run in runs[1:]):
            raise ValueError("poison")
        return medians(statement, values)

    monkeypatch.setattr(recents, "_medians", poisonous)
    for _ in range(4):
        recents.sum_up()
    assert set(Run.objects.values_list("has_figures", flat=True)) == {True}
    assert runs[0].figures.count() > 0
    last = runs[3].events.last()
    assert last is not None and "can't be summed up" in last.text


def test_a_step_that_hangs_loses_its_lease() -> None:
    from workers.runs.leases import Keeper, Lease

    moving, stuck = Lease("a", 1), Lease("b", 2)
    moving.expect(60)
    stuck.expect(-1)
    assert Keeper._moving_leases(Keeper.__new__(Keeper), [moving, stuck]) == [moving]
    assert (moving.lost, stuck.lost) == (False, True)
