"""A schedule, a real worker with its beat, two real engines: slots come, run, and end by themselves."""

import subprocess
import time
from collections.abc import Callable
from datetime import timedelta

import pytest

from benchweb.results.models import Point
from benchweb.runs.models import Campaign, Run
from benchweb.schedules.models import Slot
from benchweb.schedules.slots.launching import GRACE
from tests.factories import make_endpoint, make_plan, make_schedule
from tests.processes import Engine

pytestmark = pytest.mark.django_db(transaction=True)

SHORT = [{"kind": "tcp_stream", "params": {"duration_seconds": 0.2}}]


def test_two_slots_of_a_mesh_come_run_and_end(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine_pair: tuple[Engine, Engine]
) -> None:
    ends = [make_endpoint(control_address=engine.control, token=engine.token) for engine in engine_pair]
    schedule = make_schedule(
        plan=make_plan(steps=SHORT),
        target={"mesh": {"endpoints": [end.pk for end in ends]}},
        every="PT3S",
        missed="run_all",
        max_runs=2,
    )
    worker()
    give_up_at = time.monotonic() + 300
    while Slot.objects.filter(state="finished").count() < 2 and time.monotonic() < give_up_at:
        time.sleep(0.2)
    one, two = Slot.objects.order_by("at")
    assert [(slot.state, slot.reason) for slot in (one, two)] == [("finished", "")] * 2
    assert two.at - one.at == timedelta(seconds=3)
    assert all(timedelta(0) <= slot.claimed_at - slot.at <= GRACE for slot in (one, two))
    assert (Campaign.objects.count(), Run.objects.filter(state="finished").count()) == (2, 4)
    assert Point.objects.values("trial").distinct().count() == 4
    schedule.refresh_from_db()
    assert schedule.next_at is None
