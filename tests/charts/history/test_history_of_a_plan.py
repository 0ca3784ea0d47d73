"""A look at one plan's history: in every view and file, nothing of what another plan measured the same way."""

import csv
from datetime import timedelta

import pytest
from django.utils import timezone

from benchweb.catalog import catalog
from benchweb.charts.history.charts import history
from benchweb.charts.history.export import history_csv
from benchweb.charts.history.heat.maps import heat_maps
from benchweb.charts.history.lines import chosen_lines, selection_of
from benchweb.charts.history.query import HistoryQuery, history_query
from benchweb.hosts.models import Pair
from benchweb.plans.models import Plan
from benchweb.runs.models import Run, State
from tests.charts.history.test_history_views import histogram
from tests.charts.history_rows import DAY, NIGHT, past_run
from tests.charts.rows import as_read
from tests.factories import make_pair, make_plan
from tests.reports.scene import finished_run

pytestmark = pytest.mark.django_db
RR = [{"kind": "tcp_rr", "params": {"request_size_bytes": 1}}]
FIGURES = {"transactions_per_second": 9e3, "latency_p50_seconds": 1e-4}


def measured(plan: Plan, pair: Pair, night: int) -> Run:
    return past_run(plan, pair, NIGHT + night * DAY, FIGURES, histogram=histogram(100))


def asked(**values: object) -> HistoryQuery:
    texts = {name: str(value) for name, value in values.items()}
    return history_query({"kind": "tcp_rr", "over": "1y", **texts}, now=NIGHT + timedelta(days=60))


@pytest.fixture
def plans() -> tuple[Plan, Plan]:
    """Return two plans of the same test: one ran on 14 pairs, the other on the last of them only, a night later."""
    usual, other = make_plan(name="usual", steps=RR), make_plan(name="other", steps=RR)
    pairs = [make_pair() for _ in range(14)]
    for pair in pairs:
        measured(usual, pair, 1)
    measured(other, pairs[-1], 2)
    return usual, other


def test_its_lines_are_those_of_the_pairs_that_it_ran_on_however_new_they_are(plans: tuple[Plan, Plan]) -> None:
    found = history(asked(plan=plans[1].pk), catalog().kinds["tcp_rr"])
    (line,) = found.charts[0].series
    assert (found.total, [median for _at, median, *_rest in line.measured]) == (1, [9e3])


def test_its_heat_map_has_its_runs_only(plans: tuple[Plan, Plan]) -> None:
    query, latency = asked(plan=plans[1].pk), selection_of(catalog().kinds["tcp_rr"], "latency")
    (chart,) = heat_maps(query, latency, chosen_lines(query, latency).lines)
    assert chart.heat is not None
    assert chart.heat.starts == ["2026-03-03T02:00:01.000000Z"]


def test_its_file_has_its_points_only(plans: tuple[Plan, Plan]) -> None:
    query, rate = asked(plan=plans[1].pk), selection_of(catalog().kinds["tcp_rr"], "transactions_per_second")
    text = "".join(history_csv(query, rate, chosen_lines(query, rate).lines))
    rows = csv.DictReader(text.splitlines())
    assert [row["run"] for row in rows] == [str(Run.objects.get(plan_version__plan=plans[1]).pk)]


def test_disks_measured_by_fio_are_the_plans_own_and_a_failed_run_is_their_gap() -> None:
    pair, disk = make_pair(), [{"kind": "disk_io", "params": {"pattern": "randread"}}]
    run = finished_run(pair, disk, {"iops": 100.0}, host_test={"variant": "fio 3.33"})
    plan = run.plan_version.plan
    failed = past_run(plan, pair, timezone.now() + timedelta(minutes=1), state=State.FAILED)
    query = history_query({"kind": "disk_io", "plan": str(plan.pk)}, now=timezone.now() + timedelta(hours=1))
    found = history(query, catalog().kinds["disk_io"])
    assert [line.identity["tool"] for line in found.lines] == ["fio"]
    (line,) = as_read(found.charts[0]).series
    assert [(point.y, point.href) for point in line.points] == [
        (100.0, f"/runs/{run.pk}"),
        (None, f"/runs/{failed.pk}"),
    ]
