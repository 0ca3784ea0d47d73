"""A test of a day: its result is stored in parts, its pages are as small as others', its exports have all of it."""

import csv
import io
import json
import time
import tracemalloc
from collections.abc import Iterator
from statistics import median
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from benchweb.charts.run.export import run_json
from benchweb.charts.run.trial.export import intervals_csv
from benchweb.results.course import MOST_DISPLAYED, MOST_INTERVALS, joined
from benchweb.results.ingest import ingest, parsed_result
from benchweb.results.models import IntervalPart, Result
from benchweb.runs.models import Run, State
from benchweb.runs.selectors import run_detail
from tests.factories import make_run

pytestmark = pytest.mark.django_db
PARTS = 24
SECONDS = 3_600 * PARTS
PAGE_QUERIES = 12
# Of a day's trial; a page is to take 50 ms, and the list takes some 20.
MOST_TIMES_THE_LIST = 4.0
PAGE_BYTES = 2_000_000


def interval(number: int) -> dict[str, Any]:
    """Return one of the engine's, which joins as many as it does of a day of seconds."""
    metrics = {
        "throughput_bps": 9.1e8 + number,
        "packets_per_second": 8.1e4 + number / 7,
        "sent_packets": 1_000_000.0 + number,
        "lost_packets": float(number % 7),
        "jitter_seconds": 3.1e-5 / (number + 1),
    }
    return {
        "start_seconds": float(number * PARTS),
        "end_seconds": float((number + 1) * PARTS),
        "metrics": metrics,
        "warmup": False,
        "counts": {"bytes": 2_730_000_000 + number, "units": 1_950_000 + number},
        "interfaces": {
            end: {"name": "eth0", "rx_packets": number, "tx_packets": 7, "rx_bytes": 10**9 + number, "tx_bytes": 9}
            for end in ("source", "sink")
        },
        "parts": PARTS,
        "extremes": {key: [value * 0.5, value * 2] for key, value in metrics.items()},
    }


INTERVALS = [interval(number) for number in range(MOST_INTERVALS)]


@pytest.fixture
def reader(client: Client, django_user_model: Any) -> Client:
    client.force_login(django_user_model.objects.create_user("reader"))
    return client


@pytest.fixture
def day() -> Run:
    run = make_run(repetitions=3)
    document = {"kind": "tcp_stream", "metrics": {"throughput_bps": 9.1e8}, "intervals": INTERVALS}
    for trial in run.trials.all():
        assert ingest(trial=trial, result=parsed_result("tcp_stream", document), state=State.FINISHED)
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED)
    return run


def test_the_document_has_the_course_alone_and_the_parts_have_all_intervals(day: Run) -> None:
    result = Result.objects.filter(trial__run=day).earliest("pk")
    assert result.interval_count == MOST_INTERVALS
    shown = result.document["intervals"]
    assert MOST_DISPLAYED / 2 < len(shown) <= MOST_DISPLAYED
    assert shown[0] == json.loads(json.dumps(joined(INTERVALS[: -(-MOST_INTERVALS // len(shown))])))
    parts = IntervalPart.objects.filter(trial=result.trial_id).order_by("number")
    assert [interval for part in parts for interval in part.intervals] == INTERVALS


def test_its_pages_are_within_the_budgets(
    reader: Client, day: Run, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for page in ("/runs", f"/runs/{day.pk}", f"/runs/{day.pk}/trials/1", f"/runs/{day.pk}/trials/1/charts.json"):
        reader.get(page)
        with django_assert_max_num_queries(PAGE_QUERIES):
            answer = reader.get(page)
        assert answer.status_code == 200
        assert len(answer.content) < PAGE_BYTES, page
        # In turn: a machine may run at half its speed.
        seconds, of_list = [], []
        for _ in range(9):
            seconds.append(cpu_seconds(reader, page))
            of_list.append(cpu_seconds(reader, "/runs"))
        times = median(seconds) / median(of_list)
        print(f"{page}: {times:.1f} times the CPU of the list of runs, {len(answer.content):,} B")
        assert times < MOST_TIMES_THE_LIST, page


def cpu_seconds(reader: Client, page: str) -> float:
    """Return how much CPU a page takes."""
    begun = time.process_time()
    reader.get(page)
    return time.process_time() - begun


def test_its_chart_has_a_point_for_some_of_them_with_the_extremes_of_all(reader: Client, day: Run) -> None:
    charts = reader.get(f"/runs/{day.pk}/trials/1/charts.json").json()["charts"]
    line = charts[0]["series"][0]
    points = line["points"]
    assert len(points) <= MOST_DISPLAYED
    assert [band["label"] for band in line["bands"]] == ["lowest to highest"]
    assert max(point["high"] for point in points) == 2 * INTERVALS[-1]["metrics"]["throughput_bps"]
    assert points[0]["low"] == 0.5 * INTERVALS[0]["metrics"]["throughput_bps"]
    packets = next(chart for chart in charts if chart["series"][0]["id"] == "sent_packets")["series"][0]
    assert packets["bands"] == [] and packets["points"][0]["low"] == packets["points"][0]["y"]
    joined_in_one = PARTS * MOST_INTERVALS // len(points)
    assert f"up to {joined_in_one} intervals; shaded" in charts[0]["subtitle"]


def test_its_table_has_the_first_and_says_where_the_others_are(reader: Client, day: Run) -> None:
    page = reader.get(f"/runs/{day.pk}/trials/1").content.decode()
    assert "more are in the CSV." in page
    assert f'href="/runs/{day.pk}/trials/1/intervals.csv"' in page


def gone_through(parts: Iterator[str]) -> tuple[str, int]:
    """Take all parts, one after the other; return their text and the most memory that was held but for it."""
    texts = []
    tracemalloc.start()
    try:
        for part in parts:
            texts.append(part)
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    whole = "".join(texts)
    return whole, held - len(whole)


def test_its_csv_has_all_intervals_and_is_made_in_parts(reader: Client, day: Run) -> None:
    text, held = gone_through(intervals_csv(day.trials.get(index=1).pk))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == MOST_INTERVALS
    assert sum(int(row["source_interface_rx_bytes"]) for row in rows) == sum(10**9 + each for each in range(3_600))
    assert (rows[9]["parts"], rows[9]["lost_packets"], rows[9]["lost_packets_highest"]) == ("24", "2.0", "4.0")
    assert rows[9]["source_interface_name"] == "eth0"
    # Ten times a part.
    assert held < 6_000_000
    answer = reader.get(f"/runs/{day.pk}/trials/1/intervals.csv")
    assert answer["Content-Disposition"] == f'attachment; filename="run-{day.pk}-trial-1-intervals.csv"'
    assert answer.getvalue().decode() == text


def test_the_runs_json_has_all_intervals_and_is_made_in_parts(reader: Client, day: Run) -> None:
    found = run_detail(day.pk)
    assert found is not None
    text, held = gone_through(run_json(found))
    assert all(trial["result"]["intervals"] == INTERVALS for trial in json.loads(text)["trials"])
    assert held < 8_000_000
    answer = reader.get(f"/runs/{day.pk}/trials/1/document.json")
    assert json.loads(answer.getvalue())["intervals"] == INTERVALS


def test_a_short_trials_csv_is_that_of_its_document(reader: Client) -> None:
    run = make_run()
    first = {"start_seconds": 0.0, "end_seconds": 1.0, "metrics": {"throughput_bps": 5.5}, "warmup": True}
    document = {"kind": "tcp_stream", "metrics": {}, "intervals": [first, {**first, "metrics": None, "drain": True}]}
    assert ingest(trial=run.trials.get(), result=parsed_result("tcp_stream", document), state=State.FINISHED)
    text = reader.get(f"/runs/{run.pk}/trials/1/intervals.csv").getvalue().decode()
    assert text.splitlines() == [
        "start_seconds,end_seconds,warmup,drain,parts,throughput_bps",
        "0.0,1.0,true,false,1,5.5",
        "0.0,1.0,true,true,1,",
    ]
    assert reader.get(f"/runs/{make_run().pk}/trials/1/intervals.csv").status_code == 404
