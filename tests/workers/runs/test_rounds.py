"""Campaigns in rounds on real engines: pairs take turns round by round, also when a worker dies in between."""

import subprocess
from collections.abc import Callable

import pytest

from benchweb.runs.models import State, Trial
from benchweb.runs.services import launch
from tests.factories import make_pair, make_plan
from tests.processes import Engine, killed
from tests.workers.runs.real_runs import ended, pair_of, wait_for

pytestmark = pytest.mark.django_db(transaction=True)
STEPS = [{"kind": "tcp_stream", "params": {"message_size_bytes": [1024, 16384], "duration_seconds": 0.3}}]


def test_pairs_take_turns_round_by_round_though_a_worker_dies(
    worker: Callable[[], "subprocess.Popen[bytes]"], engine: Callable[..., Engine]
) -> None:
    first = worker()
    one = pair_of(engine("one"), engine("sink"), names=("one", "sink"))
    other = make_pair(source=pair_of(engine("two"), engine("spare"), names=("two", "spare")).source, sink=one.sink)
    plan = make_plan(steps=STEPS, repetitions=3, order="sequential")
    campaign = launch(plan=plan, pairs=[one, other], user=None, arrangement="rounds")
    trials = Trial.objects.filter(run__campaign=campaign)
    wait_for(lambda: trials.filter(repetition=2, state=State.RUNNING).exists(), "the second round")
    killed(first)
    worker()
    for run in campaign.runs.all():
        assert (ended(run).state, run.reason) == (State.FINISHED, "")
    turns = list(trials.order_by("started_at").values_list("repetition", "run"))
    assert [repetition for repetition, _run in turns] == [1] * 4 + [2] * 4 + [3] * 4
    # Within a round each pair's tests stand together.
    for begin in (0, 4, 8):
        runs = [run for _repetition, run in turns[begin : begin + 4]]
        assert runs[0] == runs[1] != runs[2] == runs[3]
