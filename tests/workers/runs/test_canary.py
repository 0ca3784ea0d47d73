"""A scheduled run has its hosts measured alone, once a night: by real engines, and by what only says that it is one."""

import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from benchweb.hosts.models import CanaryFigure, CanaryTurn, Host, Pair
from benchweb.runs.models import Run, State
from benchweb.runs.queueing.claims import Claimed, claim
from benchweb.schedules.models import Slot
from tests.factories import make_endpoint, make_pair, make_run, make_schedule
from tests.processes import Engine
from tests.workers.engine_client.broken_engine import BrokenEngine, answer_json
from tests.workers.runs.real_runs import ended, pair_of
from workers.engines.ends import Ends, ends_of
from workers.runs.canary import canaries_take

pytestmark = pytest.mark.django_db(transaction=True)
STREAM = {"kind": "tcp_stream", "params": {"duration_seconds": 0.3}}
METRICS = ["loopback_round_trip_seconds", "memory_copy_bytes_per_second", "spin_seconds"]


@transaction.atomic
def scheduled(pair: Pair, **fields: Any) -> Run:
    """Launch a run as a schedule's slot does."""
    now = timezone.now()
    run = make_run(pair=pair, steps=[STREAM])
    Slot.objects.create(
        schedule=make_schedule(name=f"nightly {run.pk}"),
        at=now,
        claimed_at=now,
        campaign=run.campaign,
        state=State.RUNNING,
        **fields,
    )
    return run


def held(run: Run, stack: ExitStack) -> tuple[Claimed, Ends]:
    """Claim a run, and return it with its engines."""
    claimed = claim(run_id=run.pk, owner="here")
    assert claimed is not None
    return claimed, ends_of(claimed, stack)


def told(run: Run) -> list[str]:
    """Return what the run's events say of canaries."""
    return [event.text for event in run.events.all() if "once a night" in event.text]


def old_pair(folder: Path, answer: Any, made: list[BrokenEngine]) -> Pair:
    """Return a pair whose engines answer so when they are to measure their hosts."""
    ends = []
    for name in ("alpha", "beta"):
        (folder / name).mkdir()
        old = BrokenEngine(folder / name, {"POST /v1/canary": answer})
        made.append(old)
        ends.append(make_endpoint(host_name=name, control_address=old.address, token="t", fingerprint=old.fingerprint))
    return make_pair(source=ends[0], sink=ends[1])


def test_scheduled_runs_measure_each_host_once_and_say_what_it_took(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine: Callable[..., Engine]
) -> None:
    worker()
    pair = pair_of(engine(), engine())
    said: list[str] = []
    measured: set[int] = set()
    # Both are one machine, as the worker finds out: so one is measured at a time. Where it stands still for seconds the
    # engine is asked again, here at once.
    for _ in range(8):
        run = ended(scheduled(pair))
        assert (run.state, run.reason) == (State.FINISHED, "")
        said += told(run)
        measured = set(CanaryFigure.objects.values_list("endpoint_id", flat=True))
        if measured == {pair.source_id, pair.sink_id}:
            break
        CanaryTurn.objects.exclude(endpoint__in=measured).update(due_at=timezone.now())
    assert measured == {pair.source_id, pair.sink_id}
    assert said
    assert all(" s: " in text and ("alpha (host)" in text or "beta (host)" in text) for text in said)
    figures = list(CanaryFigure.objects.all())
    assert {figure.metric for figure in figures} <= set(METRICS)
    assert all(0 < figure.least <= figure.median <= figure.most and figure.n >= 3 for figure in figures)
    assert told(ended(scheduled(pair))) == []
    assert CanaryFigure.objects.count() == len(figures)


def test_none_is_taken_in_a_run_that_somebody_launched_or_where_the_host_wants_none(
    engine: Callable[..., Engine],
) -> None:
    pair = pair_of(engine(), engine())
    Host.objects.filter(pk=pair.sink.host_id).update(has_canary=False)
    with ExitStack() as stack:
        canaries_take(*held(make_run(pair=pair, steps=[STREAM]), stack))
    assert not CanaryTurn.objects.exists()
    Run.objects.update(state=State.CANCELLED, lease_owner="")
    Pair.objects.get().runs.get().reservations.all().delete()
    with ExitStack() as stack:
        canaries_take(*held(scheduled(pair, is_extra=True), stack))
    assert not CanaryTurn.objects.exists()
    # Where the machine stands still for seconds the engine is asked again, here at once.
    for _ in range(8):
        Run.objects.update(state=State.CANCELLED, lease_owner="")
        for run in pair.runs.all():
            run.reservations.all().delete()
        run = scheduled(pair)
        with ExitStack() as stack:
            canaries_take(*held(run, stack))
        if CanaryFigure.objects.exists():
            break
        CanaryTurn.objects.update(due_at=timezone.now())
    assert {figure.endpoint_id for figure in CanaryFigure.objects.all()} == {pair.source_id}
    assert len(told(run)) == 1


def test_an_engine_of_before_the_call_is_asked_again_the_next_night_and_nothing_is_said(tmp_path: Path) -> None:
    made: list[BrokenEngine] = []
    unknown = answer_json({"error": {"code": "not_found", "message": "there is no POST"}}, 404)
    run = scheduled(old_pair(tmp_path, unknown, made))
    try:
        with ExitStack() as stack:
            canaries_take(*held(run, stack))
    finally:
        for each in made:
            each.close()
    assert (CanaryFigure.objects.count(), told(run)) == (0, [])
    turns = [turn.due_at - timezone.now() for turn in CanaryTurn.objects.all()]
    assert len(turns) == 2
    assert all(wait > timedelta(hours=19) for wait in turns)


@pytest.mark.parametrize(
    "answer",
    [
        answer_json({"error": {"code": "limit", "message": "busy"}}, 429),
        answer_json({"figures": [{"metric": "spin_seconds", "median": -1, "least": 0, "most": 1, "n": 3}]}),
        answer_json({"figures": "three"}),
    ],
)
def test_an_engine_that_is_busy_or_tells_nonsense_is_asked_again_by_a_later_run(tmp_path: Path, answer: Any) -> None:
    made: list[BrokenEngine] = []
    run = scheduled(old_pair(tmp_path, answer, made))
    try:
        with ExitStack() as stack:
            canaries_take(*held(run, stack))
    finally:
        for each in made:
            each.close()
    assert (CanaryFigure.objects.count(), told(run)) == (0, [])
    turns = [turn.due_at - timezone.now() for turn in CanaryTurn.objects.all()]
    assert len(turns) == 2
    assert all(timedelta(minutes=50) < wait < timedelta(minutes=70) for wait in turns)


def test_of_two_endpoints_on_one_machine_one_is_measured_at_a_time(engine: Callable[..., Engine]) -> None:
    source, sink = engine(), engine()
    pair = pair_of(source, sink)
    Host.objects.filter(pk=pair.sink.host_id).update(machine=pair.source.host_id)
    with ExitStack() as stack:
        claimed, ends = held(scheduled(Pair.objects.get(pk=pair.pk)), stack)
        canaries_take(claimed, ends)
        assert {turn.endpoint_id for turn in CanaryTurn.objects.all()} == {pair.source_id}
        canaries_take(claimed, ends)
    assert {turn.endpoint_id for turn in CanaryTurn.objects.all()} == {pair.source_id, pair.sink_id}
