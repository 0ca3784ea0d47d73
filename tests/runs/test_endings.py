"""Runs that never begin: each ends with its reason, and takes nothing with it that has begun."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.models import Endpoint
from benchweb.runs.models import Campaign, Reservation, Run, State
from benchweb.runs.queueing.claims import claim, end_unbegun, postpone
from benchweb.runs.queueing.endings import expire, give_up_unreachable
from benchweb.runs.services import campaign_cancel, launch
from tests.factories import begun, claim_surely, make_endpoint, make_pair, make_plan, make_run

pytestmark = pytest.mark.django_db


def launched(count: int = 1, *, sink: str = "shared", **fields: Any) -> list[Run]:
    shared = make_endpoint(host_name=sink)
    pairs = [make_pair(sink=shared) for _ in range(count)]
    return list(launch(plan=make_plan(repetitions=2), pairs=pairs, user=None, **fields).runs.order_by("pk"))


def states(runs: list[Run]) -> list[str]:
    return [Run.objects.get(pk=run.pk).state for run in runs]


def away(endpoint_id: int, **since: float) -> None:
    Endpoint.objects.filter(pk=endpoint_id).update(unreachable_since=timezone.now() - timedelta(**since))


def test_runs_past_their_time_end_as_nonstart_and_say_what_they_waited_for() -> None:
    closes = timezone.now() - timedelta(seconds=1)
    running, held, waited, unheard = launched(4, start_before=closes)
    begun(running, "w1")
    run_ids = Run.objects.filter(pk=waited.pk)
    run_ids.update(waiting_for="waiting for host shared: run 812 until 02:14 UTC")
    Reservation.objects.filter(run=running).update(during=None)
    assert claim(run_id=held.pk, owner="w2") is not None
    assert expire() == 2
    assert states([running, held, waited, unheard]) == ["running", "pending", "nonstart", "nonstart"]
    waited.refresh_from_db()
    assert waited.reason == (f"not started by {closes:%H:%M} UTC: waiting for host shared: run 812 until 02:14 UTC")
    unheard.refresh_from_db()
    assert unheard.reason == (
        f"not started by {closes:%H:%M} UTC: others were before it in the queues of "
        f"host {unheard.pair.source.host.name} and host shared"
    )
    assert (unheard.waiting_for, unheard.finished_at is not None) == ("", True)
    assert set(unheard.trials.values_list("state", "reason")) == {("nonstart", unheard.reason)}
    assert unheard.reservations.count() == 0
    assert expire() == 0


def test_runs_with_time_left_or_without_a_limit_go_on_waiting() -> None:
    runs = [*launched(start_before=timezone.now() + timedelta(minutes=1)), make_run()]
    assert expire() == 0
    assert states(runs) == ["pending", "pending"]


def test_a_run_whose_engine_does_not_answer_waits_and_lets_its_hosts_go() -> None:
    (run,) = launched(retries=2, retry_pause_seconds=60)
    assert postpone(claimed=claim_surely(run, "w"), reason="the engine of b can't be reached")
    run.refresh_from_db()
    assert (run.state, run.attempts, run.lease_owner, run.lease_until) == (State.PENDING, 1, "", None)
    assert run.not_before is not None
    assert 59 < (run.not_before - timezone.now()).total_seconds() <= 60
    assert run.waiting_for == (
        f"trying again at {run.not_before:%H:%M:%S} UTC after the first of 3 attempts: the engine of b can't be reached"
    )
    assert list(run.reservations.values_list("during", flat=True)) == [None, None]
    assert claim(run_id=run.pk, owner="w2") is None


def test_after_its_last_attempt_a_run_is_nonstart_with_the_reason() -> None:
    (run,) = launched(retries=1, retry_pause_seconds=0)
    assert postpone(claimed=claim_surely(run, "w1"), reason="no answer")
    assert not postpone(claimed=claim_surely(run, "w2"), reason="still no answer")
    run.refresh_from_db()
    assert (run.state, run.reason, run.attempts, run.lease_owner) == (State.NONSTART, "still no answer", 2, "")
    assert set(run.trials.values_list("state", "reason")) == {("nonstart", "still no answer")}
    assert run.reservations.count() == 0
    assert claim(run_id=run.pk, owner="w3") is None


def test_a_bug_is_never_tried_again() -> None:
    (run,) = launched(retries=5)
    end_unbegun(claimed=claim_surely(run, "w"), reason="the engine of b doesn't answer as an engine does")
    run.refresh_from_db()
    assert (run.state, run.attempts) == (State.NONSTART, 1)


def test_a_worker_that_lost_its_claim_neither_postpones_nor_ends_the_run() -> None:
    (run,) = launched(retries=1)
    old = claim(run_id=run.pk, owner="w1")
    assert old is not None
    Run.objects.filter(pk=run.pk).update(lease_owner="w2")
    postpone(claimed=old, reason="late")
    end_unbegun(claimed=old, reason="late")
    run.refresh_from_db()
    assert (run.state, run.attempts, run.lease_owner, run.waiting_for) == (State.PENDING, 0, "w2", "")


def test_runs_that_are_due_end_when_a_host_is_silent_for_longer_than_they_would_try() -> None:
    due, later = launched(2, retries=2, retry_pause_seconds=60)
    Run.objects.filter(pk=later.pk).update(planned_at=timezone.now() + timedelta(hours=1))
    shared = due.pair.sink_id
    away(shared, seconds=119)
    assert give_up_unreachable() == 0
    away(shared, seconds=121)
    since = Endpoint.objects.get(pk=shared).unreachable_since
    assert give_up_unreachable() == 1
    assert states([due, later]) == ["nonstart", "pending"]
    due.refresh_from_db()
    assert due.reason == f"host shared has given no valid answer since {since:%H:%M} UTC"


def test_a_silence_of_days_is_told_with_its_date() -> None:
    (run,) = launched(retries=1)
    away(run.pair.source_id, days=3)
    give_up_unreachable()
    run.refresh_from_db()
    since = Endpoint.objects.get(pk=run.pair.source_id).unreachable_since
    assert run.reason.endswith(f"has given no valid answer since {since:%Y-%m-%d %H:%M} UTC")


def test_a_manual_launch_tries_however_long_its_host_was_silent() -> None:
    (run,) = launched(retries=0)
    away(run.pair.sink_id, days=3)
    assert give_up_unreachable() == 0
    assert states([run]) == ["pending"]


def test_cancelling_a_campaign_is_a_fixed_number_of_queries_however_many_runs(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for count in (2, 60):
        runs = launched(count, sink=f"sink of {count}")
        campaign = Campaign.objects.get(pk=runs[0].campaign_id)
        begun(runs[0], f"w{count}")
        with django_assert_num_queries(14):
            assert campaign_cancel(campaign=campaign) == count
        assert states(runs) == ["running"] + ["cancelled"] * (count - 1)
        runs[0].refresh_from_db()
        assert runs[0].cancel_requested_at is not None
        assert campaign_cancel(campaign=campaign) == 0
