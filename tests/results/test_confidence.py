"""A plan that repeats until its figures are sure: rounds, the append, and what the run says at its end."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from benchweb.plans.expansion import PlanError
from benchweb.plans.models import Plan
from benchweb.results.confidence import next_round, run_confidence
from benchweb.results.ingest import ingest, parsed_result
from benchweb.results.selectors import trial_rows
from benchweb.runs.execution import run_end, trials_append
from benchweb.runs.models import OPEN_STATES, Reservation, Run, State
from benchweb.runs.services import run_cancel
from tests.factories import begun, make_plan, make_run

pytestmark = pytest.mark.django_db

STEPS = [{"kind": "tcp_stream", "params": {"message_size_bytes": [64, 1024], "duration_seconds": 1}}]
ASKED = {"level_percent": 99, "width_percent": 5, "max_repetitions": 5}
STEADY = [100.0, 100.0, 100.0]
UNSTEADY = [50.0, 100.0, 150.0, 75.0, 125.0]


def sure_run(**fields: Any) -> Run:
    values: dict[str, Any] = {"steps": STEPS, "repetitions": 3, "confidence": ASKED} | fields
    run = make_run(**values)
    begun(run, "w")
    return run


def finish_open(run: Run, values: dict[int, list[float]]) -> None:
    """Finish every open trial: a size's n-th repetition gets its n-th value, or fails for want of one."""
    for trial in run.trials.filter(state__in=OPEN_STATES):
        of_size = values[trial.params["message_size_bytes"]]
        if trial.repetition > len(of_size):
            run.trials.filter(pk=trial.pk).update(state=State.FAILED, reason="it broke")
            continue
        document = {"kind": trial.kind, "metrics": {"throughput_bps": of_size[trial.repetition - 1]}}
        assert ingest(trial=trial, result=parsed_result(trial.kind, document), state=State.FINISHED)


def append_round(run: Run, owner: str = "w") -> list[tuple[int, int, int]]:
    planned = next_round(run.plan_version, trial_rows(run.pk))
    trials = trials_append(run_id=run.pk, owner=owner, planned=planned)
    return [(trial.index, trial.params["message_size_bytes"], trial.repetition) for trial in trials]


def test_only_what_is_still_too_wide_is_repeated_and_at_most_as_often_as_asked() -> None:
    run = sure_run()
    values = {64: STEADY, 1024: UNSTEADY}
    finish_open(run, values)
    assert append_round(run) == [(7, 1024, 4)]
    finish_open(run, values)
    assert append_round(run) == [(8, 1024, 5)]
    finish_open(run, values)
    assert append_round(run) == []
    found = run_confidence(run.plan_version, trial_rows(run.pk))
    assert found is not None
    assert [(each.repetitions, each.is_reached) for each in found.combinations] == [(3, True), (5, False)]
    # mean 100, s² = 1562.5, t(99 %, 4) = 4.604: 2 · 4.604 · √(1562.5 / 5) %.
    assert found.combinations[1].width_percent == pytest.approx(162.8, abs=0.1)


def test_an_interval_that_has_become_narrow_ends_it() -> None:
    run = sure_run()
    # After three: 2 · 9.925 · √(1/3) = 11.5 %; after four: 2 · 5.841 · √(1/6) = 4.77 %.
    values = {64: STEADY, 1024: [99.0, 100.0, 101.0, 100.0]}
    finish_open(run, values)
    assert append_round(run) == [(7, 1024, 4)]
    finish_open(run, values)
    assert append_round(run) == []
    found = run_confidence(run.plan_version, trial_rows(run.pk))
    assert found is not None and found.is_reached and found.sentence == ""


def test_what_only_fails_is_not_repeated_to_the_maximum() -> None:
    run = sure_run()
    finish_open(run, {64: STEADY, 1024: []})
    assert append_round(run) == []


def test_appending_is_for_the_owner_and_only_when_nothing_is_open() -> None:
    run = sure_run()
    assert append_round(run) == []
    finish_open(run, {64: STEADY, 1024: UNSTEADY})
    assert append_round(run, owner="another") == []
    assert append_round(run) == [(7, 1024, 4)]
    # Whoever comes second, such as a worker that was thought dead, appends nothing twice.
    assert append_round(run) == []
    assert run.trials.count() == 7


def test_a_worker_that_takes_over_goes_on_where_the_other_stopped() -> None:
    run = sure_run()
    finish_open(run, {64: STEADY, 1024: UNSTEADY})
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert begun(run, "next") is not None
    assert append_round(run) == []
    assert append_round(run, owner="next") == [(7, 1024, 4)]


def test_a_run_that_is_to_stop_gets_no_more_trials() -> None:
    run = sure_run()
    finish_open(run, {64: STEADY, 1024: UNSTEADY})
    run_cancel(run=run)
    assert append_round(run) == []
    assert run.trials.count() == 6


def test_a_confidence_that_was_not_reached_is_the_finished_runs_reason() -> None:
    run = sure_run(confidence=ASKED | {"max_repetitions": 3})
    finish_open(run, {64: STEADY, 1024: UNSTEADY})
    assert append_round(run) == []
    found = run_confidence(run.plan_version, trial_rows(run.pk))
    assert found is not None
    run_end(run_id=run.pk, owner="w", remark=found.sentence)
    run.refresh_from_db()
    assert (run.state, run.reason) == (
        State.FINISHED,
        "The confidence asked for was NOT reached for 1 of 2 combinations: "
        "a 99 % interval of the mean at most 5 % wide",
    )


def test_a_remark_stands_behind_the_reason_of_a_failed_run() -> None:
    run = sure_run()
    finish_open(run, {64: STEADY, 1024: []})
    run_end(run_id=run.pk, owner="w", remark="Not sure")
    run.refresh_from_db()
    assert (run.state, run.reason) == (State.FAILED, "3 of 6 trials failed: it broke. Not sure")


def test_the_hosts_are_held_for_as_long_as_the_most_repetitions_take() -> None:
    run = sure_run()
    reservation = Reservation.objects.filter(run=run)[0]
    # Two sizes, five times, each with 1 s of traffic and 1 s around it, and 10 s of margin.
    assert reservation.during.upper - reservation.during.lower == timedelta(seconds=2 * 5 * 2 + 10)


def test_a_plan_without_a_confidence_has_no_further_round() -> None:
    run = sure_run(confidence=None)
    finish_open(run, {64: STEADY, 1024: UNSTEADY})
    assert append_round(run) == []
    assert run_confidence(run.plan_version, trial_rows(run.pk)) is None


@pytest.mark.parametrize(
    ("changes", "repetitions", "field"),
    [
        ({"level_percent": 100}, 3, "confidence.level_percent"),
        ({"level_percent": 49}, 3, "confidence.level_percent"),
        ({"width_percent": 0}, 3, "confidence.width_percent"),
        ({"width_percent": 101}, 3, "confidence.width_percent"),
        ({"max_repetitions": 2}, 3, "confidence.max_repetitions"),
        ({"max_repetitions": 1001}, 3, "confidence.max_repetitions"),
        ({}, 1, "repetitions"),
        # 2 sizes, 6,000 at most: the count of the most repetitions is the plan's.
        ({"max_repetitions": 1000}, 3, "steps"),
    ],
)
def test_a_confidence_that_cannot_be_is_refused_at_its_field(
    changes: dict[str, Any], repetitions: int, field: str
) -> None:
    steps = [{"kind": "tcp_stream", "params": {"message_size_bytes": list(range(1, 12))}}]
    with pytest.raises(PlanError) as refusal:
        make_plan(steps=steps, repetitions=repetitions, confidence=ASKED | changes)
    assert refusal.value.field == field
    assert Plan.objects.count() == 0
