"""Results that other systems push, of their own kinds and of the catalog's, through the API on PostgreSQL."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from benchweb.catalog import catalog
from benchweb.charts.main_figures import figures_of_runs
from benchweb.imports.models import Import, OwnKind, OwnMetric
from benchweb.regressions.alert_texts import alert_title
from benchweb.regressions.judge import judge_run
from benchweb.regressions.models import Alert
from benchweb.results.models import Point, Series
from benchweb.results.run_summaries import sum_up, write_figures
from benchweb.runs.models import Run
from tests.api.conftest import ApiClient
from tests.factories import make_pair
from tests.regressions.judged import NOISE

pytestmark = pytest.mark.django_db
AT = "2026-09-20T10:00:00Z"


def boot(pair: int, **changes: Any) -> dict[str, Any]:
    """Return a body of a kind of one's own."""
    metrics = [{"name": "boot_seconds", "unit": "s", "better": "lower", "label": "Boot time", "values": [12.5, 12.7]}]
    body: dict[str, Any] = {"key": "night-1", "tool": "bootlab", "pair": pair, "kind": "boot", "label": "Boot"}
    return body | {"metrics": metrics, "params": {"image": "debian-12"}, "at": AT} | changes


def test_a_kind_of_ones_own_has_series_history_and_figures(api: ApiClient, signed_in: Client) -> None:
    pair = make_pair()
    made = api.post("/results", boot(pair.pk))
    assert (made.status_code, made.json()["kind"]) == (201, "own.boot")
    run = Run.objects.get(pk=made.json()["run"])
    assert (run.state, run.started_at) == ("finished", parse_datetime(AT))
    series = Series.objects.get(pair=pair)
    assert (series.kind, series.metric) == ("own.boot", "boot_seconds")
    assert series.identity == {"image": "debian-12", "tool": "bootlab"}
    assert sorted(Point.objects.filter(series=series).values_list("value", flat=True)) == [12.5, 12.7]
    while sum_up():
        pass
    [figure] = figures_of_runs([run.pk]).values()
    assert (figure.metric.unit, figure.metric.better, figure.median, figure.n) == ("s", "lower", 12.6, 2)
    for address in (
        f"/runs/{run.pk}",
        f"/runs/{run.pk}?published=1",
        f"/runs/{run.pk}/trials/1",
        f"/history?pair={pair.pk}&kind=own.boot&over=all",
        f"/history?pair={pair.pk}&kind=own.boot&view=sizes&over=all",
        f"/history/charts.json?pair={pair.pk}&kind=own.boot&over=all",
        f"/compare?runs={run.pk}",
        "/matrix?kind=own.boot",
        f"/pairs/{pair.pk}",
        f"/plans/{run.plan_version.plan_id}",
        "/runs",
        "/thresholds/new",
        "/plans/new",
        "/",
    ):
        assert signed_in.get(address).status_code == 200, address
    chart = signed_in.get(f"/history/charts.json?pair={pair.pk}&kind=own.boot&over=all").json()["charts"]
    assert chart[0]["y"]["unit"] == "s"
    assert "Boot time" in signed_in.get(f"/runs/{run.pk}").content.decode()
    assert api.get("/catalog").json()["own_kinds"]["own.boot"] == {
        "label": "Boot",
        "metrics": {"boot_seconds": {"label": "Boot time", "unit": "s", "better": "lower"}},
        "parameters": {"image": "string"},
    }


def test_the_same_key_is_taken_once(api: ApiClient) -> None:
    pair = make_pair()
    first = api.post("/results", boot(pair.pk)).json()
    reordered = dict(reversed(boot(pair.pk).items()))
    again = api.post("/results", reordered)
    assert (again.status_code, again.json()) == (200, first)
    other = api.post("/results", boot(pair.pk, at="2026-09-21T10:00:00Z"))
    assert (other.status_code, other.json()["id"]) == (409, first["id"])
    assert f"run {first['run']}" in other.json()["detail"]
    assert Import.objects.count() == Run.objects.count() == 1


def test_unit_and_direction_are_needed_once_and_stay(api: ApiClient) -> None:
    pair = make_pair()
    api.post("/results", boot(pair.pk))
    later = boot(pair.pk, key="night-2", metrics=[{"name": "boot_seconds", "values": [13]}], params={})
    assert api.post("/results", later).status_code == 201
    assert OwnMetric.objects.count() == OwnKind.objects.count() == 1
    frames = {"name": "frames", "unit": "frame/s", "better": "higher", "values": [60]}
    assert api.post("/results", boot(pair.pk, key="night-3", metrics=[frames])).status_code == 201
    assert list(catalog().kinds["own.boot"].metrics) == ["boot_seconds", "frames"]


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"metrics": [{"name": "idle_watts", "values": [3]}]}, "metrics.0.unit", "idle_watts is new: give its unit"),
        (
            {"metrics": [{"name": "boot_seconds", "unit": "ms", "better": "lower", "values": [3]}]},
            "metrics.0.unit",
            "defined already with unit 's'",
        ),
        (
            {"metrics": [{"name": "throughput_bps", "unit": "bit/s", "better": "lower", "values": [3]}]},
            "metrics.0.better",
            "defined already with better 'higher'",
        ),
        ({"params": {"image": 12}}, "params.image", "image is a string in this kind, not a number"),
        ({"params": {"Image": "x"}}, "params.Image", "pattern"),
        ({"at": "2100-01-01T00:00:00Z"}, "at", "in the future"),
        ({"tool": "benchweb"}, "tool", "the engine's own"),
        ({"kind": "tcp_stream"}, "metrics.0.name", "tcp_stream has no metric boot_seconds"),
        (
            {
                "metrics": [
                    {"name": "a", "unit": "s", "better": "lower", "values": [1]},
                    {"name": "b", "values": [1, 2]},
                ]
            },
            "metrics",
            "as many values",
        ),
        ({"metrics": [{"name": "a", "unit": "s", "better": "lower", "values": [1e300]}]}, "metrics.0.values", "2^63"),
        ({"metrics": [{"name": "a", "unit": "s", "better": "lower", "values": []}]}, "metrics.0.values", "at least 1"),
        ({"pair": 999_999}, "pair", "no pair"),
    ],
)
def test_what_cant_be_taken_is_refused_with_nothing_written(
    api: ApiClient, change: dict[str, Any], field: str, words: str
) -> None:
    pair = make_pair()
    api.post("/results", boot(pair.pk, key="before"))
    refused = api.post("/results", boot(pair.pk) | change)
    assert refused.status_code == 422
    [error] = refused.json()["errors"]
    assert error["field"].startswith(field), error
    assert words in error["message"] + refused.json()["detail"]
    assert (Run.objects.count(), OwnKind.objects.count(), OwnMetric.objects.count()) == (1, 1, 1)
    assert list(catalog().kinds["own.boot"].metrics) == ["boot_seconds"]


def test_a_kind_of_the_catalog_stands_beside_the_engines_by_its_tool(api: ApiClient) -> None:
    pair = make_pair()
    body = {"key": "a", "tool": "ntttcp", "pair": pair.pk, "kind": "tcp_stream", "params": {"message_size_bytes": 64}}
    made = api.post("/results", body | {"metrics": [{"name": "throughput_bps", "values": [9.4e9]}]})
    assert (made.status_code, made.json()["kind"]) == (201, "tcp_stream")
    assert Series.objects.get(pair=pair).identity == {"message_size_bytes": 64, "tool": "ntttcp"}
    wrong = body | {"key": "b", "params": {"message_size_bytes": -1}}
    refused = api.post("/results", wrong | {"metrics": [{"name": "throughput_bps", "values": [1]}]})
    assert refused.json()["errors"][0]["field"] == "params.message_size_bytes"


def test_no_plan_has_an_own_kind_and_no_engine_is_asked_for_one(api: ApiClient, signed_in: Client) -> None:
    pair = make_pair()
    run = api.post("/results", boot(pair.pk)).json()["run"]
    refused = api.post("/plans", {"name": "boots", "steps": [{"kind": "own.boot", "params": {}}]})
    assert refused.status_code == 422
    assert "There is no test kind 'own.boot'" in refused.json()["detail"]
    again = signed_in.post(f"/runs/{run}/again", follow=True)
    assert "no engine can measure it" in again.content.decode()
    assert Run.objects.count() == 1


def test_a_change_of_an_own_metric_becomes_an_alert(api: ApiClient) -> None:
    pair, now = make_pair(), timezone.now()
    for number in range(26):
        value = (12.0 if number < 20 else 18.0) * (1 + NOISE[number % 12])
        metrics = [{"name": "boot_seconds", "unit": "s", "better": "lower", "label": "Boot time", "values": [value]}]
        body = boot(pair.pk, key=f"night {number}", metrics=metrics, at=(now - timedelta(days=27 - number)).isoformat())
        run = api.post("/results", body).json()["run"]
        write_figures()
        assert judge_run(run)
    alert = Alert.objects.get()
    assert alert.series.get().series.metric == "boot_seconds"
    assert "Boot time" in alert_title(alert)
