"""What pairs gave last: exact values, failures and gaps."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.models import Pair
from benchweb.plans.models import Plan
from benchweb.results.latest_medians import (
    HISTORY_RUNS,
    SeriesTest,
    ended_runs,
    last_values,
    measured_tests,
    metrics_of_test,
    newest_values,
)
from benchweb.results.models import Point
from benchweb.runs.models import State
from tests.factories import make_pair, make_plan
from tests.measured import ended, failed_run, measured_run, pending_run

pytestmark = pytest.mark.django_db
STEP = [{"kind": "tcp_stream", "params": {"message_size_bytes": 64, "duration_seconds": 1}}]


def plan_of(repetitions: int = 3, steps: list[dict[str, Any]] | None = None) -> Plan:
    return make_plan(steps=steps or STEP, repetitions=repetitions)


def the_test(pair: Pair) -> SeriesTest:
    (found,) = measured_tests([pair.pk])
    return found


def values_of(pair: Pair, **asked: Any) -> list[tuple[int, list[float]]]:
    newest = newest_values(pairs=[pair.pk], test=the_test(pair), metric="throughput_bps", **asked)
    return [(run.run, sorted(run.values)) for run in newest[pair.pk].runs] if newest else []


def test_the_newest_runs_come_first_each_with_all_its_repetitions() -> None:
    plan, pair = plan_of(), make_pair()
    older, newer = measured_run(plan, pair, [1.0, 2.0, 3.0]), measured_run(plan, pair, [4.0, 5.0, 6.0])
    assert values_of(pair) == [(newer.pk, [4.0, 5.0, 6.0]), (older.pk, [1.0, 2.0, 3.0])]


def test_a_run_of_more_repetitions_than_are_read_at_once_is_whole() -> None:
    pair = make_pair()
    run = measured_run(plan_of(45), pair, [float(value) for value in range(45)])
    assert values_of(pair) == [(run.pk, [float(value) for value in range(45)])]


def test_of_runs_behind_the_limit_none_is_told_in_part() -> None:
    plan, pair = plan_of(15), make_pair()
    runs = [measured_run(plan, pair, [float(number)] * 15) for number in range(3)]
    assert values_of(pair) == [(runs[2].pk, [2.0] * 15), (runs[1].pk, [1.0] * 15)]


def test_a_history_has_so_many_runs_at_most() -> None:
    plan, pair = plan_of(1), make_pair()
    runs = [measured_run(plan, pair, [float(number)]) for number in range(HISTORY_RUNS + 2)]
    assert [run for run, _ in values_of(pair)] == [run.pk for run in runs[:1:-1]]


def test_until_leaves_out_what_came_later() -> None:
    plan, pair = plan_of(1), make_pair()
    older, newer = measured_run(plan, pair, [1.0]), measured_run(plan, pair, [2.0])
    then = timezone.now() - timedelta(days=9)
    Point.objects.filter(run=older).update(at=then)
    assert values_of(pair, until=timezone.now() - timedelta(days=1)) == [(older.pk, [1.0])]
    assert values_of(pair, until=then - timedelta(days=1)) == []
    assert values_of(pair)[0] == (newer.pk, [2.0])


def test_tests_are_told_apart_by_kind_and_identity_and_sorted_by_size() -> None:
    pair = make_pair()
    steps = [{"kind": "tcp_stream", "params": {"message_size_bytes": [1024, 64], "duration_seconds": 1}}]
    measured_run(plan_of(1, steps), pair, [1.0, 2.0])
    assert [(each.kind, each.identity) for each in measured_tests([pair.pk])] == [
        ("tcp_stream", {"message_size_bytes": 64}),
        ("tcp_stream", {"message_size_bytes": 1024}),
    ]
    assert metrics_of_test([pair.pk], measured_tests([pair.pk])[0]) == ["throughput_bps"]
    assert measured_tests([make_pair(environment="elsewhere").pk]) == []


def test_ended_runs_are_those_of_plans_with_the_test() -> None:
    plan, pair = plan_of(1), make_pair()
    measured = measured_run(plan, pair, [1.0])
    failed = failed_run(plan, pair, "The sink is unreachable.")
    other = [{"kind": "tcp_rr", "params": {"duration_seconds": 1}}]
    ended(pending_run(plan_of(1, other), pair), State.FAILED, "of another test")
    pending_run(plan, pair)
    swept = [{"kind": "tcp_stream", "params": {"message_size_bytes": [1, 64], "duration_seconds": 1}}]
    in_a_sweep = failed_run(plan_of(1, swept), pair, "The source is unreachable.")
    found = ended_runs(pairs=[pair.pk], test=the_test(pair))[pair.pk]
    assert [(run.id, run.state, run.reason) for run in found] == [
        (in_a_sweep.pk, "failed", "The source is unreachable."),
        (failed.pk, "failed", ""),
        (measured.pk, "finished", ""),
    ]


def test_the_last_value_of_every_pair_is_at_its_endpoints() -> None:
    plan, pair = plan_of(2), make_pair()
    measured_run(plan, pair, [1.0, 7.0])
    make_pair(environment="elsewhere")
    found = last_values(environment=pair.environment_id, test=the_test(pair), metric="throughput_bps")
    assert found == [(pair.source_id, pair.sink_id, 7.0)]


def test_many_pairs_cost_no_more_queries_than_one(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    plan, pairs = plan_of(1), [make_pair(environment=f"zone-{number}") for number in range(4)]
    for pair in pairs:
        measured_run(plan, pair, [1.0])
    test = the_test(pairs[0])
    ended_runs(pairs=[pairs[0].pk], test=test)
    with django_assert_num_queries(2):
        ids = [pair.pk for pair in pairs]
        assert len(newest_values(pairs=ids, test=test, metric="throughput_bps")) == 4
        assert len(ended_runs(pairs=ids, test=test)) == 4
