"""A starved generator is no host's fault: what a disturbed run shows confirms nothing."""

import pytest

from benchweb.hosts.models import Pair
from benchweb.regressions.alert_texts import unconfirmed_reason
from benchweb.regressions.judge import judge_run
from benchweb.regressions.judging.disturbance import disturbed_kinds
from benchweb.regressions.models import Alert
from benchweb.results.models import Result
from benchweb.results.run_summaries import write_figures
from benchweb.runs.models import Run
from tests.factories import make_pair
from tests.nights import measured
from tests.regressions.judged import level, night
from tests.regressions.slots import end, slot_of
from tests.regressions.test_confirmation import mesh, mesh_ids

__all__ = ["mesh", "mesh_ids"]
pytestmark = pytest.mark.django_db
State = Alert.State
QUIET = 14


def bear(run: Run, *flags: str) -> None:
    """Let all trials of a run bear these flags."""
    for trial in run.trials.all():
        Result.objects.create(trial=trial, metrics={}, flags=list(flags), document={})


def run_of(pair: Pair, number: int, factor: float, *flags: str, kind: str = "udp_stream") -> Run:
    run = measured(pair, night(number), level(number, factor), kind=kind)
    bear(run, *flags)
    write_figures()
    assert judge_run(run.pk)
    return run


@pytest.mark.parametrize(
    ("kind", "flags", "usual", "state"),
    [
        ("udp_stream", ["rate_not_reached"], [], State.SUSPECT),
        # A path that can't carry it holds a TCP connection up.
        ("tcp_stream", ["rate_not_reached"], [], State.OPEN),
        ("tcp_stream", ["background_cpu"], [], State.SUSPECT),
        ("tcp_stream", ["background_cpu"], ["background_cpu"], State.OPEN),
        ("tcp_stream", ["cpu_frequency"], [], State.OPEN),
    ],
)
def test_a_disturbed_run_confirms_no_suspect(kind: str, flags: list[str], usual: list[str], state: str) -> None:
    pair = make_pair()
    plan_version = run_of(pair, 0, 1.0, *usual, kind=kind).plan_version
    for number in range(1, QUIET):
        run_of(pair, number, 1.0, *usual, kind=kind)
    Run.objects.update(plan_version=plan_version)
    run_of(pair, QUIET, 0.6, *usual, kind=kind)
    Run.objects.update(plan_version=plan_version)
    again = measured(pair, night(QUIET + 1), level(QUIET + 1, 0.6), kind=kind)
    Run.objects.filter(pk=again.pk).update(plan_version=plan_version)
    bear(again, *flags)
    write_figures()
    assert judge_run(again.pk)
    assert Alert.objects.get().state == state
    # Undisturbed, the next one does.
    run_of(pair, QUIET + 2, 0.6, kind=kind)
    assert Alert.objects.get().state == State.OPEN


def test_a_rerun_whose_hosts_were_disturbed_says_so_and_the_next_run_decides(mesh: list[Pair]) -> None:
    end(slot_of(mesh), {mesh[0]: 0.7}, 20)
    alert = Alert.objects.get()
    assert alert.confirmation is not None
    end(alert.confirmation, {mesh[0]: 0.7}, 21, disturbed=[mesh[0]])
    alert.refresh_from_db()
    assert (alert.state, alert.unconfirmed_code) == (State.SUSPECT, "disturbed")
    assert unconfirmed_reason(alert) == "Not confirmed: its hosts were disturbed while they measured again."
    end(slot_of(mesh), {mesh[0]: 0.7}, 22)
    alert.refresh_from_db()
    assert alert.state == State.OPEN


@pytest.mark.parametrize(("disturbed", "expected"), [(2, {"udp_stream"}), (1, set())])
def test_a_run_is_disturbed_where_most_trials_of_a_kind_are(disturbed: int, expected: set[str]) -> None:
    run = measured(make_pair(), night(0), 1e9, 1e9, 1e9, kind="udp_stream")
    for number, trial in enumerate(run.trials.filter(kind="udp_stream").order_by("pk")):
        flags = ["rate_not_reached"] if number < disturbed else []
        Result.objects.create(trial=trial, metrics={}, flags=flags, document={})
    assert disturbed_kinds(run) == expected
