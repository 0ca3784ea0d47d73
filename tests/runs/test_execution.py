"""The state machine: claims, leases, final states; every write fenced by the lease."""

from datetime import timedelta

import pytest
from django.utils import timezone, translation

from benchweb.catalog.reasons import Reason, reason_fields
from benchweb.catalog.translation import reason_text
from benchweb.runs.execution import run_end, trial_end, trial_start
from benchweb.runs.models import Run, State
from benchweb.runs.queueing.claims import begin, claim
from benchweb.runs.queueing.leases import extend_leases, leases_give_up
from benchweb.runs.services import campaign_cancel, run_cancel
from tests.factories import begun, make_run

pytestmark = pytest.mark.django_db


def expire(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_a_pending_run_is_claimed_once() -> None:
    run = make_run()
    claimed = begun(run, "w1")
    assert claimed is not None and not claimed.taken_over
    assert claim(run_id=run.pk, owner="w2") is None
    run.refresh_from_db()
    assert (run.state, run.lease_owner) == (State.RUNNING, "w1")


def test_a_run_whose_worker_fell_silent_is_taken_over_and_its_old_owner_can_write_nothing_more() -> None:
    run = make_run()
    begun(run, "w1")
    expire(run)
    claimed = begun(run, "w2")
    assert claimed is not None and claimed.taken_over
    trial = run.trials.get()
    assert not trial_start(trial=trial, owner="w1")
    assert not trial_end(trial=trial, owner="w1", state=State.FAILED, reason="late")
    assert not run_end(run_id=run.pk, owner="w1")
    assert extend_leases(owners=["w1", "w2"]) == {"w2": False}
    trial.refresh_from_db()
    assert trial.state == State.PENDING


def test_a_claimed_run_is_pending_until_its_engines_have_answered() -> None:
    run = make_run()
    claimed = claim(run_id=run.pk, owner="w1")
    assert claimed is not None
    assert claim(run_id=run.pk, owner="w2") is None
    run.refresh_from_db()
    assert (run.state, run.lease_owner, run.started_at) == (State.PENDING, "w1", None)
    assert run.reservations.exclude(during=None).count() == 2
    assert begin(claimed=claimed)
    assert not begin(claimed=claimed)
    run.refresh_from_db()
    assert (run.state, run.started_at is not None) == (State.RUNNING, True)


def test_a_run_whose_worker_fell_silent_before_it_began_is_claimed_by_the_next_one() -> None:
    run = make_run()
    first = claim(run_id=run.pk, owner="w1")
    assert first is not None
    expire(run)
    second = claim(run_id=run.pk, owner="w2")
    assert second is not None and not second.taken_over
    assert not begin(claimed=first)
    assert begin(claimed=second)


def test_a_claim_loses_to_a_cancellation_that_comes_before_the_begin() -> None:
    run = make_run()
    claimed = claim(run_id=run.pk, owner="w1")
    assert claimed is not None
    assert run_cancel(run=run)
    assert not begin(claimed=claimed)
    run.refresh_from_db()
    assert (run.state, run.reason, run.started_at) == (State.CANCELLED, "cancelled before it started", None)
    assert run.reservations.count() == 0


def test_leases_given_up_are_the_next_workers_at_once() -> None:
    run = make_run()
    begun(run, "w1")
    assert claim(run_id=run.pk, owner="w2") is None
    leases_give_up(owners=["w1"])
    # A heartbeat of the worker that stops may still be under way.
    assert extend_leases(owners=["w1"]) == {}
    claimed = claim(run_id=run.pk, owner="w2")
    assert claimed is not None and claimed.taken_over


def test_a_lease_from_before_the_clock_was_set_back_counts_as_out() -> None:
    run = make_run()
    begun(run, "w1")
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() + timedelta(hours=1))
    assert claim(run_id=run.pk, owner="w2") is not None


def test_a_run_of_finished_trials_is_finished() -> None:
    run = make_run(repetitions=2)
    begun(run, "w")
    run.trials.update(state=State.FINISHED)
    assert run_end(run_id=run.pk, owner="w")
    run.refresh_from_db()
    assert (run.state, run.reason, run.lease_owner) == (State.FINISHED, "", "")


def test_a_run_with_a_failed_trial_fails_and_says_how_many_and_why() -> None:
    run = make_run(repetitions=12)
    begun(run, "w")
    run.trials.update(state=State.FINISHED)
    run.trials.filter(index=5).update(state=State.FAILED, reason="the peer fell silent")
    run_end(run_id=run.pk, owner="w")
    run.refresh_from_db()
    assert (run.state, run.reason) == (State.FAILED, "1 of 12 trials failed: the peer fell silent")


def test_a_trial_that_ended_with_its_engine_is_counted_and_nobody_is_said_to_have_cancelled_the_run() -> None:
    run = make_run(repetitions=3)
    begun(run, "w")
    run.trials.update(state=State.FINISHED)
    run.trials.filter(index=3).update(state=State.CANCELLED, **reason_fields("reason", Reason("says_stopped")))
    run_end(run_id=run.pk, owner="w")
    run.refresh_from_db()
    assert (run.state, run.reason) == (State.FAILED, "1 of 3 trials cancelled: the engine was stopped")
    with translation.override("zh-hans"):
        assert reason_text(run.why) == "3 个测试项中 1 个已取消：引擎已停止"


def test_trials_that_could_not_be_started_are_nonstart_with_the_reason() -> None:
    run = make_run(repetitions=3)
    begun(run, "w")
    run.trials.filter(index=1).update(state=State.FAILED, reason="unreachable")
    run_end(run_id=run.pk, owner="w", nonstart_reason="host b can't be reached")
    run.refresh_from_db()
    assert run.reason == "1 of 3 trials failed, 2 of 3 trials not started: unreachable"
    assert set(run.trials.filter(index__gt=1).values_list("state", "reason")) == {
        ("nonstart", "host b can't be reached")
    }


def test_cancelling_a_pending_run_ends_it_at_once_and_only_once() -> None:
    run = make_run(repetitions=2)
    assert run_cancel(run=run)
    assert not run_cancel(run=run)
    run.refresh_from_db()
    assert run.state == State.CANCELLED
    assert set(run.trials.values_list("state", flat=True)) == {State.CANCELLED}
    assert claim(run_id=run.pk, owner="w") is None


def test_cancelling_a_running_run_is_told_to_its_worker_and_is_sticky() -> None:
    run = make_run(repetitions=2)
    begun(run, "w")
    assert run_cancel(run=run)
    assert extend_leases(owners=["w"]) == {"w": True}
    run.trials.filter(index=1).update(state=State.FINISHED)
    run_end(run_id=run.pk, owner="w")
    run.refresh_from_db()
    assert (run.state, run.reason) == (State.CANCELLED, "cancelled with 1 of 2 trials finished")
    assert run.trials.get(index=2).state == State.CANCELLED


def test_cancelling_a_final_run_changes_nothing() -> None:
    run = make_run()
    begun(run, "w")
    run.trials.update(state=State.FINISHED)
    run_end(run_id=run.pk, owner="w")
    assert not run_cancel(run=run)
    assert campaign_cancel(campaign=run.campaign) == 0
    run.refresh_from_db()
    assert (run.state, run.cancel_requested_at) == (State.FINISHED, None)
