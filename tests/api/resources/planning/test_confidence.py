"""A plan's confidence by REST: asked for, previewed, and what the run answers."""

import csv
import io
import json
from typing import Any

import pytest

from benchweb.results.ingest import ingest, parsed_result
from benchweb.runs.models import Run, State
from tests.api.conftest import ApiClient
from tests.factories import make_run

pytestmark = pytest.mark.django_db

STEPS = [{"kind": "tcp_stream", "params": {"message_size_bytes": [64, 1024], "duration_seconds": 1}}]
ASKED = {"level_percent": 99, "width_percent": 5, "max_repetitions": 10}
BODY = {"name": "sure", "steps": STEPS, "confidence": ASKED}


def finished_run(*, width_percent: float) -> Run:
    confidence = ASKED | {"width_percent": width_percent, "max_repetitions": 3}
    run = make_run(steps=STEPS, repetitions=3, confidence=confidence)
    for trial in run.trials.all():
        value = 98.0 + trial.repetition if trial.params["message_size_bytes"] == 1024 else 100.0
        document = {"kind": trial.kind, "metrics": {"throughput_bps": value}}
        assert ingest(trial=trial, result=parsed_result(trial.kind, document), state=State.FINISHED)
    return run


def test_a_plan_with_a_confidence_repeats_at_least_three_times_and_at_most_thirty(api: ApiClient) -> None:
    confidence = {"level_percent": 95, "width_percent": 2.5}
    plan = api.post("/plans", BODY | {"confidence": confidence}).json()
    assert (plan["repetitions"], plan["confidence"]) == (3, confidence | {"max_repetitions": 30})
    assert api.get(f"/plans/{plan['id']}").json() == plan


def test_asking_for_another_confidence_is_a_new_version_and_the_same_is_none(api: ApiClient) -> None:
    plan = api.post("/plans", BODY).json()
    assert api.put(f"/plans/{plan['id']}", BODY).json()["version"] == 1
    assert api.put(f"/plans/{plan['id']}", BODY | {"confidence": None}).json()["version"] == 2


def test_the_preview_tells_the_time_of_the_most_repetitions(api: ApiClient) -> None:
    body = {"steps": STEPS, "confidence": ASKED, "pause_seconds": 1}
    preview = api.post("/plans/preview", body).json()
    # 20 trials of 1 s and 1 s around each, and 19 pauses.
    assert (preview["count"], preview["maximum_count"], preview["total_seconds"]) == (6, 20, 59.0)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"confidence": ASKED | {"level_percent": 100}}, "confidence.level_percent"),
        ({"confidence": {"level_percent": 99}}, "confidence.width_percent"),
        ({"confidence": ASKED | {"sure": True}}, "confidence.sure"),
        ({"confidence": ASKED, "repetitions": 1}, "repetitions"),
    ],
)
def test_a_confidence_that_cannot_be_is_a_422_at_its_field(api: ApiClient, change: dict[str, Any], field: str) -> None:
    answer = api.post("/plans", BODY | change)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)


def test_a_run_tells_each_combinations_interval_and_whether_it_was_reached(api: ApiClient) -> None:
    run = finished_run(width_percent=5)
    confidence = api.get(f"/runs/{run.pk}").json()["confidence"]
    combinations = confidence.pop("combinations")
    assert confidence == {"level_percent": 99, "width_percent": 5, "max_repetitions": 3, "is_reached": False}
    assert [each["is_reached"] for each in combinations] == [True, False]
    missed = combinations[1]
    assert (missed["kind"], missed["metric"], missed["repetitions"], missed["failed"], missed["mean"]) == (
        "tcp_stream",
        "throughput_bps",
        3,
        0,
        100.0,
    )
    # Values 99, 100, 101 and t(99 %, 2) = 9.925: ± 5.73.
    assert missed["width_percent"] == pytest.approx(11.46, abs=0.01)
    assert (missed["low"], missed["high"]) == (pytest.approx(94.27, abs=0.01), pytest.approx(105.73, abs=0.01))


def test_a_run_without_one_says_null(api: ApiClient) -> None:
    assert api.get(f"/runs/{make_run().pk}").json()["confidence"] is None


def test_the_exports_tell_the_same(api: ApiClient) -> None:
    run = finished_run(width_percent=5)
    exported = json.loads(api.get(f"/runs/{run.pk}/results.json").getvalue())
    assert exported["confidence"] == api.get(f"/runs/{run.pk}").json()["confidence"]
    assert exported["plan"]["confidence"] == {"level_percent": 99, "width_percent": 5, "max_repetitions": 3}
    text = api.get(f"/runs/{run.pk}/results.csv").getvalue().decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["confidence_reached"] for row in rows] == ["true", "false"] * 3
    assert rows[0]["confidence_width_percent"] == "0.0"
