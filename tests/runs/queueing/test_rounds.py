"""A campaign in rounds: each pair once, then all again; a run that waits for its next round can be cancelled."""

from collections.abc import Callable

import pytest

from benchweb.common import celery_client
from benchweb.hosts.models import Pair
from benchweb.runs.execution import end_cancelled, trial_end, trial_start
from benchweb.runs.models import Campaign, Reservation, Run, State
from benchweb.runs.queueing import dispatch as module
from benchweb.runs.queueing.claims import Claimed, begin, claim, rest
from benchweb.runs.queueing.dispatch import dispatch
from benchweb.runs.queueing.expectation import expectation
from benchweb.runs.queueing.queues import RESERVATION_MARGIN_SECONDS
from benchweb.runs.services import LaunchError, launch, run_cancel
from tests.factories import make_endpoint, make_pair, make_plan

pytestmark = pytest.mark.django_db
STEPS = [{"kind": "tcp_stream", "params": {"message_size_bytes": [64, 1024], "duration_seconds": 1}}]


@pytest.fixture(autouse=True)
def woken(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[int]]:
    """Return which runs a dispatch wakes, as if each came long after the last."""
    sent: list[int] = []
    monkeypatch.setattr(celery_client, "send", lambda task, run_ids: sent.extend(run_ids))
    monkeypatch.setattr(module, "LOST_AFTER_SECONDS", 0.0)

    def after() -> list[int]:
        sent.clear()
        dispatch()
        return list(sent)

    return after


@pytest.fixture
def campaign() -> Campaign:
    """Return one of three pairs that share a sink, with three repetitions."""
    sink = make_endpoint()
    pairs = [make_pair(sink=sink) for _ in range(3)]
    return in_rounds(pairs, order="sequential")


def in_rounds(pairs: list[Pair], **plan: str) -> Campaign:
    return launch(plan=make_plan(steps=STEPS, repetitions=3, **plan), pairs=pairs, user=None, arrangement="rounds")


def a_round(run_id: int) -> Claimed:
    """Claim a run, go through its next round, and let it rest."""
    claimed = claim(run_id=run_id, owner=f"worker-of-{run_id}")
    assert claimed is not None
    if not claimed.taken_over:
        assert begin(claimed=claimed)
    trials = list(claimed.run.trials.filter(state=State.PENDING))
    for trial in [each for each in trials if each.repetition == trials[0].repetition]:
        assert trial_start(trial=trial, owner=claimed.owner)
        assert trial_end(trial=trial, owner=claimed.owner, state=State.FAILED, reason="of a test")
    return claimed


def test_a_round_is_each_test_once_whatever_the_plans_order(campaign: Campaign) -> None:
    for run in campaign.runs.all():
        assert list(run.trials.values_list("repetition", flat=True)) == [1, 1, 2, 2, 3, 3]
    shuffled = in_rounds([make_pair(), make_pair()], order="shuffled")
    orders = {tuple(run.trials.values_list("repetition", flat=True)) for run in shuffled.runs.all()}
    assert orders == {(1, 1, 2, 2, 3, 3)}


def test_each_pair_has_its_round_before_any_has_its_next(campaign: Campaign, woken: Callable[[], list[int]]) -> None:
    runs = sorted(campaign.runs.values_list("pk", flat=True))
    turns = []
    for _ in range(9):
        (due,) = woken()
        turns.append(due)
        claimed = a_round(due)
        left = claimed.run.trials.filter(state=State.PENDING).exists()
        assert rest(claimed=claimed) or not left
    assert turns == runs * 3


def test_a_run_that_rests_holds_no_host_and_says_what_it_waits_for(
    campaign: Campaign, woken: Callable[[], list[int]]
) -> None:
    first = woken()[0]
    claimed = a_round(first)
    held = Reservation.objects.get(run=first, resource__host=claimed.run.pair.source.host)
    assert held.during is not None
    # A round's slots, and the margin: not those of all three.
    seconds = (held.during.upper - held.during.lower).total_seconds()
    assert seconds == (campaign.planned_seconds or 0) / 9 + RESERVATION_MARGIN_SECONDS
    assert rest(claimed=claimed)
    run = Run.objects.get(pk=first)
    assert (run.state, run.lease_owner) == (State.RUNNING, "")
    assert run.waiting_for == "waits for its next round, while the campaign's other pairs have theirs"
    assert not Reservation.objects.filter(run=first, during__isnull=False).exists()


def test_a_run_that_rests_is_cancelled_by_the_tick(campaign: Campaign, woken: Callable[[], list[int]]) -> None:
    first = woken()[0]
    assert rest(claimed=a_round(first))
    run = Run.objects.get(pk=first)
    assert run_cancel(run=run)
    assert end_cancelled() == 1
    run.refresh_from_db()
    assert (run.state, run.reason) == (State.CANCELLED, "cancelled with 0 of 6 trials finished")
    assert not run.reservations.exists()
    assert end_cancelled() == 0
    assert first not in woken()


def test_one_that_is_to_stop_does_not_rest(campaign: Campaign, woken: Callable[[], list[int]]) -> None:
    claimed = a_round(woken()[0])
    assert run_cancel(run=claimed.run)
    assert not rest(claimed=claimed)
    assert Run.objects.get(pk=claimed.run.pk).lease_owner == claimed.owner


def test_a_waiting_run_is_expected_after_a_round_of_those_before_it(campaign: Campaign) -> None:
    runs = list(campaign.runs.order_by("pk"))
    first, last = (expectation(run) for run in (runs[0], runs[-1]))
    assert first is not None and last is not None and first.starts_at and last.starts_at and last.ends_at
    round_seconds = (campaign.planned_seconds or 0) / 9
    assert (last.starts_at - first.starts_at).total_seconds() == pytest.approx(2 * round_seconds, abs=1)
    assert (last.ends_at - last.starts_at).total_seconds() == campaign.planned_seconds


def test_an_arrangement_that_there_is_not_is_refused() -> None:
    with pytest.raises(LaunchError, match="Choose one of runs, rounds"):
        launch(plan=make_plan(), pairs=[make_pair()], user=None, arrangement="backwards")
    assert not Campaign.objects.exists()
