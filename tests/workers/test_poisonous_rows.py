"""The tick's steps over many rows: one that can't be done doesn't stop the others, and isn't tried for ever."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError

from benchweb.common.in_parts import in_parts
from benchweb.hosts.models import Endpoint
from benchweb.results import nightly_summaries as nights
from benchweb.results.models import EnvironmentNights
from benchweb.runs.models import Campaign, Run, State
from benchweb.runs.queueing import dispatch, endings, queues
from benchweb.runs.queueing import occupancy as occupancies
from benchweb.schedules import services
from benchweb.schedules.models import Schedule, Slot
from benchweb.schedules.slots import claiming, launching, settling, turns
from tests.factories import make_pair, make_run, make_schedule
from tests.runs.test_break_offs import executed
from workers import ticking

pytestmark = pytest.mark.django_db(transaction=True)
NOW = datetime(2030, 1, 1, 2, tzinfo=UTC)


def test_all_rows_but_the_poisonous_ones_are_done() -> None:
    done: list[int] = []
    failed: list[tuple[int, str]] = []

    def do(rows: Sequence[int]) -> int:
        if 3 in rows or 6 in rows:
            raise ValueError("poison")
        done.extend(rows)
        return len(rows)

    assert in_parts(list(range(8)), do, lambda row, error: failed.append((row, str(error)))) == 6
    assert (done, failed) == ([0, 1, 2, 4, 5, 7], [(3, "poison"), (6, "poison")])


def test_a_database_in_trouble_is_no_rows_fault() -> None:
    calls = []

    def away(rows: Sequence[int]) -> int:
        calls.append(rows)
        raise OperationalError("the server closed the connection")

    with pytest.raises(OperationalError):
        in_parts([1, 2, 3], away)
    assert calls == [[1, 2, 3]]


def test_a_schedule_that_cannot_be_advanced_loses_its_slot_after_three_tries_and_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    poisonous, good = make_schedule(name="poisonous"), make_schedule(name="good", target={"pairs": [make_pair().pk]})
    Schedule.objects.update(next_at=NOW)
    advance = claiming.advance

    def broken(schedule: Schedule, now: datetime) -> Any:
        if schedule.pk == poisonous.pk:
            raise LookupError("no such pair")
        return advance(schedule, now)

    monkeypatch.setattr(claiming, "advance", broken)
    for second in range(3):
        assert Slot.objects.filter(schedule=poisonous).count() == 0
        services.claim_due(NOW + timedelta(seconds=second))
    assert Slot.objects.filter(schedule=good).count() == 1
    slot = Slot.objects.get(schedule=poisonous)
    assert (slot.at, slot.state) == (NOW, State.FAILED)
    assert slot.reason == "Could not be launched: LookupError: no such pair"
    poisonous.refresh_from_db()
    assert (poisonous.next_at, poisonous.break_offs) == (NOW + timedelta(days=1), 0)


def test_a_schedule_whose_rule_cannot_be_followed_stops_and_says_so() -> None:
    schedule = make_schedule()
    Schedule.objects.update(next_at=NOW, cron="not a rule")
    for _ in range(3):
        services.claim_due(NOW)
    schedule.refresh_from_db()
    assert schedule.next_at is None
    assert "save the schedule again" in Slot.objects.get().reason


def test_a_slot_that_cannot_be_settled_fails_and_the_others_are_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    slots = []
    for _ in range(3):
        run = make_run()
        endings.end_pending({run.pk: "gone"}, State.NONSTART)
        slots.append(Slot.objects.create(schedule=make_schedule(), at=NOW, claimed_at=NOW, campaign=run.campaign))
    said = settling._reason

    def poisonous(slot: Slot, counts: Mapping[str, int]) -> Any:
        if slot.pk == slots[1].pk:
            raise ValueError("poison")
        return said(slot, counts)

    monkeypatch.setattr(settling, "_reason", poisonous)
    # Three began, two of them were settled.
    assert settling.settle_slots() == 5
    found = {slot.pk: slot for slot in Slot.objects.all()}
    assert [found[slot.pk].state for slot in slots] == ["nonstart", "failed", "nonstart"]
    assert found[slots[1].pk].reason == "Its runs ended, but could not be counted: ValueError: poison"


def test_a_late_run_that_cannot_be_ended_leaves_the_others_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [make_run() for _ in range(3)]
    Campaign.objects.update(start_before=datetime(2020, 1, 1, tzinfo=UTC))
    end = endings.end_pending

    def poisonous(reasons: Mapping[int, str], state: State, **named: Any) -> Any:
        if runs[1].pk in reasons:
            raise ValueError("poison")
        return end(reasons, state, **named)

    monkeypatch.setattr(endings, "end_pending", poisonous)
    assert endings.expire() == 2
    assert list(Run.objects.order_by("pk").values_list("state", flat=True)) == ["nonstart", "pending", "nonstart"]
    assert endings.expire() == 0
    assert Run.objects.get(pk=runs[1].pk).break_offs == 2
    assert endings.expire() == 0
    ended = Run.objects.get(pk=runs[1].pk)
    assert (ended.state, ended.break_offs, ended.reservations.count()) == (State.NONSTART, 0, 0)
    assert ended.reason.startswith("not started by ")
    assert ended.reason.endswith("; could not be ended: ValueError: poison")
    assert set(ended.trials.values_list("state", "reason")) == {(State.NONSTART, ended.reason)}


@pytest.mark.parametrize("way", ["late", "silent"])
def test_a_run_that_cannot_be_ended_in_any_way_is_tried_three_times(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    row = make_run()
    Campaign.objects.update(retries=1, retry_pause_seconds=0)
    if way == "late":
        Campaign.objects.update(start_before=datetime(2020, 1, 1, tzinfo=UTC))
    else:
        Endpoint.objects.filter(pk=row.pair.source_id).update(unreachable_since=datetime(2020, 1, 1, tzinfo=UTC))
    tries = []

    def poisonous(*_: object, **__: object) -> None:
        tries.append(1)
        raise ValueError("poison\0")

    monkeypatch.setattr(endings, "end_pending", poisonous)
    monkeypatch.setattr(endings, "_end_barely", poisonous)
    step = endings.expire if way == "late" else endings.give_up_unreachable
    for _ in range(5):
        assert step() == 0
    # The last resort was tried once.
    assert len(tries) == 4
    assert Run.objects.get().break_offs == 3


def test_a_waiting_slot_that_cannot_be_launched_fails_after_three_tries_and_the_next_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    poisonous, good = make_schedule(name="poisonous"), make_schedule(name="good", target={"pairs": [make_pair().pk]})
    first, second = (
        Slot.objects.create(schedule=poisonous, at=NOW + timedelta(minutes=n), claimed_at=NOW) for n in range(2)
    )
    Slot.objects.create(schedule=good, at=NOW, claimed_at=NOW)
    give = turns.turn_give

    def broken(schedule: Schedule, now: datetime, **named: Any) -> Any:
        if schedule.pk == poisonous.pk:
            raise LookupError("no such pair\0")
        return give(schedule, now, **named)

    monkeypatch.setattr(turns, "turn_give", broken)
    assert [services.begin_waiting(NOW) for _ in range(3)] == [1, 0, 0]
    first.refresh_from_db()
    assert (first.state, first.break_offs) == (State.FAILED, 3)
    assert first.reason == "Could not be launched: LookupError: no such pair\ufffd"
    second.refresh_from_db()
    assert (second.state, second.break_offs) == (State.PENDING, 0)
    monkeypatch.setattr(turns, "turn_give", give)
    services.begin_waiting(NOW)
    second.refresh_from_db()
    assert second.state != State.FAILED


def test_a_slot_whose_launch_tells_a_reason_that_cannot_be_stored_fails_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Slot.objects.create(schedule=make_schedule(), at=NOW, claimed_at=NOW)

    def broken(*_: object, **__: object) -> None:
        raise LookupError("no\0")

    monkeypatch.setattr(launching, "_launched_campaign", broken)
    services.begin_waiting(NOW)
    assert Slot.objects.get().reason == "Could not be launched: LookupError: no\ufffd"


def test_a_database_in_trouble_costs_a_waiting_slot_no_try(monkeypatch: pytest.MonkeyPatch) -> None:
    Slot.objects.create(schedule=make_schedule(), at=NOW, claimed_at=NOW)

    def away(*_: object, **__: object) -> None:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(turns, "turn_give", away)
    for _ in range(5):
        services.begin_waiting(NOW)
    assert (Slot.objects.get().state, Slot.objects.get().break_offs) == (State.PENDING, 0)


def test_a_run_whose_length_cannot_be_told_holds_up_no_other_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    poisonous, good = make_run(), make_run()
    occupancy = occupancies.occupancy

    def broken(version_id: int) -> Any:
        if version_id == poisonous.plan_version_id:
            raise KeyError("kind")
        return occupancy(version_id)

    monkeypatch.setattr(queues, "occupancy", broken)
    monkeypatch.setattr("benchweb.runs.queueing.reservations.occupancy", broken)
    assert dispatch.dispatch() == 2
    assert executed(poisonous, times=3).reason == "3 workers broke off on this run: KeyError: 'kind'"
    good.refresh_from_db()
    assert good.state == State.PENDING


def test_nights_that_cannot_be_made_hold_up_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = make_pair().environment
    for kind in ("tcp_stream", "udp_stream"):
        EnvironmentNights.objects.create(
            environment=environment, kind=kind, metric="throughput_bps", identity_digest="", identity={},
            stale_from=NOW.date(), nights=[], medians=[], pairs=[], most_pairs=0,
        )  # fmt: skip
    make = nights._make

    def poisonous(row: EnvironmentNights) -> None:
        if row.kind == "tcp_stream":
            raise ValueError("poison")
        make(row)

    monkeypatch.setattr(nights, "_make", poisonous)
    assert nights.make() == 1
    assert not EnvironmentNights.objects.exclude(stale_from=None).exists()


def test_a_step_of_the_tick_that_fails_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    done = []

    def broken() -> None:
        raise RuntimeError("unforeseen")

    monkeypatch.setattr(ticking, "STEPS", (broken, lambda: done.append(1)))
    ticking.tick()
    assert done == [1]


def test_an_hourly_step_is_done_once_an_hour_though_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []
    now = [0.0]

    def step() -> int:
        done.append(1)
        raise RuntimeError("unforeseen")

    monkeypatch.setattr(ticking, "STEPS", (ticking.hourly(step, clock=lambda: now[0]),))
    counts = []
    for seconds in (0.0, 3_599.0, 3_600.0):
        now[0] = seconds
        ticking.tick()
        counts.append(len(done))
    assert counts == [1, 1, 2]
