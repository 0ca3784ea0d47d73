"""From rows in the database to charts, and a kind that no file here knows."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from benchweb.catalog import catalog
from benchweb.charts.run.charts import run_charts
from benchweb.charts.run.verdict import verdict
from benchweb.documents.charts import charts_text
from benchweb.results.ingest import ingest, parsed_result
from benchweb.results.selectors import trial_rows
from benchweb.runs.models import Run, State
from benchweb.runs.selectors import runs_named
from tests.charts.rows import places
from tests.factories import SIZES, make_run

pytestmark = pytest.mark.django_db

OVERLAY = {
    "parameters": {
        "queue_depth": {
            "label": "Queue depth",
            "help": "Requests in flight.",
            "schema": {"type": "integer", "minimum": 1, "maximum": 64, "default": 1},
            "unit": "",
            "identity": True,
            "advanced": False,
        }
    },
    "metrics": {
        "reads_per_second": {
            "label": "Reads",
            "unit": "reads/s",
            "better": "higher",
            "combine": "median",
            "quantity": "read rate",
        }
    },
    "kinds": {
        "drum_read": {
            "label": "Drum read",
            "summary": "Reads from a drum memory.",
            "protocol": "none",
            "roles": ["source"],
            "exclusivity": "normal",
            "slot": {"products_seconds": [["duration_seconds"]], "overhead_seconds": 1.0},
            "parameters": ["queue_depth", "duration_seconds"],
            "parameter_overrides": {},
            "metrics": ["reads_per_second"],
            "headline": "reads_per_second",
            "live": "reads_per_second",
            "charts": [
                {
                    "id": "reads",
                    "title": "Reads by queue depth",
                    "form": "sweep",
                    "x": "queue_depth",
                    "x_scale": "log2",
                    "y_from_zero": True,
                    "metrics": ["reads_per_second"],
                }
            ],
        }
    },
}


@pytest.fixture
def drum_catalog(tmp_path: Path, settings: Settings) -> Iterator[None]:
    overlay = tmp_path / "overlay.json"
    overlay.write_text(json.dumps(OVERLAY), encoding="utf-8")
    settings.CATALOG_OVERLAY = str(overlay)
    catalog.cache_clear()
    yield
    catalog.cache_clear()


def take_in(run: Run, metric: str, values: dict[int, float]) -> None:
    """Give the trials at these indexes results, as the workers do."""
    for trial in run.trials.filter(index__in=values).select_related("run__pair"):
        document = {"kind": trial.kind, "metrics": {metric: values[trial.index]}}
        assert ingest(trial=trial, result=parsed_result(trial.kind, document), state=State.FINISHED)


def test_a_kind_from_an_overlay_gets_its_chart_and_verdict_without_code(drum_catalog: None) -> None:
    run = make_run(steps=[{"kind": "drum_read", "params": {"queue_depth": [1, 8]}}], repetitions=2)
    take_in(run, "reads_per_second", {1: 10.0, 2: 70.0, 3: 12.0, 4: 90.0})
    (chart,) = run_charts(run)
    assert (chart.id, chart.title, chart.y.label) == ("drum_read-reads", "Reads by queue depth", "Read rate")
    assert places(chart.series[0]) == [(1.0, 11.0), (8.0, 80.0)]
    (headline,) = verdict(trial_rows(run.pk)).headlines
    assert (headline.value, headline.unit, headline.n, headline.extremes) == (80.0, "reads/s", 2, (70.0, 90.0))


def test_the_charts_and_the_verdict_cost_a_query_each_however_many_trials(
    connection_queries: Callable[[], CaptureQueriesContext],
) -> None:
    run = make_run(steps=SIZES, repetitions=20)
    take_in(run, "throughput_bps", {index: float(index) for index in range(1, 4)})
    named = runs_named().get(pk=run.pk)
    with connection_queries() as charts:
        run_charts(named)
    with connection_queries() as trials:
        verdict(trial_rows(run.pk))
    assert (len(charts), len(trials)) == (1, 1)


def test_an_open_run_shows_what_is_to_come_and_a_final_one_does_not() -> None:
    run = make_run(steps=SIZES)
    assert [chart.id for chart in run_charts(run)] == [
        "tcp_stream-throughput",
        "tcp_stream-packet_rate",
        "tcp_stream-cpu",
        "tcp_rr-latency",
    ]
    take_in(run, "throughput_bps", {1: 5.0})
    run.state = State.CANCELLED
    assert [chart.id for chart in run_charts(run)] == ["tcp_stream-throughput"]


def test_a_chart_is_a_json_document() -> None:
    run = make_run(steps=SIZES)
    take_in(run, "throughput_bps", {1: 5.0, 2: 6.0, 3: 7.0})
    document = json.loads(charts_text(run_charts(run)))[0]
    assert document["id"] == "tcp_stream-throughput"
    assert [point["y"] for point in document["series"][0]["points"]] == [5.0, 6.0, 7.0]
    assert document["series"][0]["ids"]["pair_id"] == run.pair_id
    assert document["series"][0]["ids"]["sink_endpoint_id"] == run.pair.sink_id


@pytest.fixture
def connection_queries() -> Callable[[], CaptureQueriesContext]:
    from django.db import connection

    return lambda: CaptureQueriesContext(connection)
