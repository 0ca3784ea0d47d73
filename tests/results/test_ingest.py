"""Ingest: at most one result a trial, one transaction, nothing invented."""

from typing import Any

import pytest
from django.db import DatabaseError, connection

from benchweb.hosts.models import Facts
from benchweb.results.ingest import ResultInvalid, ingest, parsed_result
from benchweb.results.models import Point, Result, Series
from benchweb.runs.execution import trial_start
from benchweb.runs.models import State, Trial
from benchweb.runs.services import run_cancel
from tests.factories import begun, make_pair, make_run

pytestmark = pytest.mark.django_db

DOCUMENT = {
    "schema": 1,
    "kind": "tcp_stream",
    "params": {},
    "metrics": {"throughput_bps": 1.5e10, "retransmits": 0},
    "intervals": [],
    "histogram": None,
    "source": {"kernel": "6.1", "boot_id": "a"},
    "sink": {"kernel": "6.1", "boot_id": "b"},
    "flags": ["same_host"],
}


def running_trial(**fields: Any) -> Trial:
    run = make_run(**fields)
    begun(run, "w")
    trial = run.trials.order_by("index")[0]
    assert trial_start(trial=trial, owner="w")
    trial.refresh_from_db()
    return trial


def take_in(trial: Trial, state: State = State.FINISHED, **changes: Any) -> bool:
    return ingest(trial=trial, result=parsed_result("tcp_stream", DOCUMENT | changes), state=state)


def test_a_result_ends_its_trial_and_gives_a_point_per_metric() -> None:
    trial = running_trial()
    assert take_in(trial)
    trial.refresh_from_db()
    assert trial.state == State.FINISHED
    assert dict(Point.objects.values_list("series__metric", "value")) == {"throughput_bps": 1.5e10, "retransmits": 0}
    assert Point.objects.values_list("at", flat=True).distinct().get() == trial.started_at


def test_points_are_at_the_begin_of_their_trial_as_the_database_has_it() -> None:
    trial = running_trial()
    begun_at, trial.started_at = trial.started_at, None
    # As a worker holds it: the begin was written by the database's own clock.
    assert take_in(trial)
    assert Point.objects.values_list("at", flat=True).distinct().get() == begun_at


def test_the_same_result_again_changes_nothing() -> None:
    trial = running_trial()
    assert take_in(trial)
    assert not take_in(trial, metrics={"throughput_bps": 1.0})
    assert Result.objects.get().metrics["throughput_bps"] == 1.5e10
    assert Point.objects.count() == 2


def test_a_late_result_of_a_cancelled_trial_is_not_taken() -> None:
    trial = running_trial()
    run_cancel(run=trial.run)
    Trial.objects.filter(pk=trial.pk).update(state=State.CANCELLED)
    assert not take_in(trial)
    assert (Result.objects.count(), Point.objects.count()) == (0, 0)


def test_a_partial_result_is_kept_but_joins_no_series() -> None:
    trial = running_trial()
    assert take_in(trial, state=State.FAILED, flags=["partial"])
    assert Result.objects.get().flags == ["partial"]
    assert (Series.objects.count(), Point.objects.count()) == (0, 0)


def test_equal_parameters_on_one_pair_share_a_series_and_defaults_do_not_fork_it() -> None:
    pair = make_pair()
    for params in ({"duration_seconds": 1}, {"message_size_bytes": 16384, "flows": 1, "duration_seconds": 2}):
        trial = running_trial(pair=pair, steps=[{"kind": "tcp_stream", "params": params}])
        take_in(trial)
        trial.run.reservations.all().delete()
    assert Series.objects.filter(metric="throughput_bps").count() == 1
    assert Point.objects.filter(series__metric="throughput_bps").count() == 2


def test_other_message_sizes_are_other_series() -> None:
    pair = make_pair()
    for size in (64, 128):
        trial = running_trial(pair=pair, steps=[{"kind": "tcp_stream", "params": {"message_size_bytes": size}}])
        take_in(trial)
        trial.run.reservations.all().delete()
    identities = Series.objects.filter(metric="retransmits").values_list("identity", flat=True)
    assert sorted(identities, key=str) == [{"message_size_bytes": 128}, {"message_size_bytes": 64}]


def test_facts_of_both_ends_are_kept_once_while_they_stay_equal() -> None:
    pair = make_pair()
    for _ in range(2):
        trial = running_trial(pair=pair)
        take_in(trial)
        trial.run.reservations.all().delete()
    assert Facts.objects.count() == 2
    take_in(running_trial(pair=pair), sink={"kernel": "6.2", "boot_id": "c"})
    assert Facts.objects.filter(endpoint=pair.sink).count() == 2


def test_a_failure_in_the_middle_writes_nothing_at_all() -> None:
    trial = running_trial()
    with connection.cursor() as cursor:
        # What a full disk does: the last of the statements is refused.
        cursor.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$"
        )
        cursor.execute("CREATE TRIGGER full_disk BEFORE INSERT ON results_point FOR EACH ROW EXECUTE FUNCTION refuse()")
    with pytest.raises(DatabaseError, match="could not extend"):
        take_in(trial)
    trial.refresh_from_db()
    assert (trial.state, Result.objects.count(), Facts.objects.count()) == (State.RUNNING, 0, 0)
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER full_disk ON results_point")
    assert take_in(trial)


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        "result",
        DOCUMENT | {"kind": "udp_stream"},
        DOCUMENT | {"metrics": None},
        DOCUMENT | {"metrics": {"throughput_bps": "fast"}},
        DOCUMENT | {"metrics": {"throughput_bps": float("nan")}},
        DOCUMENT | {"metrics": {"throughput_bps": True}},
        DOCUMENT | {"flags": "same_host"},
        DOCUMENT | {"histogram": {"data": "%%%"}},
        DOCUMENT | {"source": "host"},
    ],
)
def test_what_is_no_result_is_refused(document: object) -> None:
    with pytest.raises(ResultInvalid):
        parsed_result("tcp_stream", document)


def test_missing_metrics_stay_missing_and_unknown_ones_stay_out_of_the_series() -> None:
    result = parsed_result("tcp_stream", DOCUMENT | {"metrics": {"rtt_seconds": None, "warp": 9, "retransmits": 3}})
    assert result.metrics == {"retransmits": 3.0}
    assert result.document["metrics"]["warp"] == 9
