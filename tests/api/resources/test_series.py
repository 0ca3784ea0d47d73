"""Series and their points by REST."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from benchweb.results.ingest import ingest, parsed_result
from benchweb.results.models import Series
from benchweb.results.selectors import points
from benchweb.runs.models import Run, State
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_run

pytestmark = pytest.mark.django_db

START = datetime(2026, 3, 1, 2, 0, 0, 123456, tzinfo=UTC)


@pytest.fixture
def run() -> Run:
    """A run of five repetitions at 64 B and 1,024 B, a minute apart each, 64 B giving 1 to 5 bit/s."""
    steps = [{"kind": "tcp_stream", "params": {"message_size_bytes": [64, 1024], "duration_seconds": 1}}]
    run = make_run(steps=steps, repetitions=5, order="sequential")
    for trial in run.trials.select_related("run__pair"):
        trial.started_at = START + timedelta(minutes=trial.index)
        trial.save(update_fields=["started_at"])
        metrics = {"throughput_bps": float(trial.index), "retransmits": 0}
        document = {"kind": "tcp_stream", "metrics": metrics}
        assert ingest(trial=trial, result=parsed_result("tcp_stream", document), state=State.FINISHED)
    return run


@pytest.fixture
def series(api: ApiClient, run: Run) -> int:
    query = f"pair={run.pair_id}&kind=tcp_stream&metric=throughput_bps"
    found = api.get(f"/series?{query}").json()["items"]
    return int(next(item["id"] for item in found if item["identity"] == {"message_size_bytes": 64}))


def test_series_are_found_by_pair_kind_and_metric_with_label_and_unit(api: ApiClient, run: Run) -> None:
    items = api.get(f"/series?pair={run.pair_id}&kind=tcp_stream&metric=throughput_bps").json()["items"]
    assert [item["identity"] for item in items] == [{"message_size_bytes": 64}, {"message_size_bytes": 1024}]
    assert items[0] == {
        "id": items[0]["id"],
        "pair": run.pair_id,
        "kind": "tcp_stream",
        "metric": "throughput_bps",
        "identity": {"message_size_bytes": 64},
        "label": "Throughput, received",
        "unit": "bit/s",
    }
    assert api.get(f"/series/{items[0]['id']}").json() == items[0]
    assert len(api.get("/series").json()["items"]) == 4
    assert api.get(f"/series?pair={run.pair_id + 1}").json()["items"] == []
    assert api.get("/series?kind=tcp_rr").json()["items"] == []


def test_points_are_a_list_by_time_one_per_trial_to_the_microsecond(api: ApiClient, run: Run, series: int) -> None:
    trials = list(run.trials.filter(index__lte=5).values_list("pk", flat=True))
    assert api.get(f"/series/{series}/points").json() == [
        {"at": f"2026-03-01T02:0{index}:00.123456Z", "value": float(index), "run": run.pk, "trial": trials[index - 1]}
        for index in range(1, 6)
    ]


def test_points_are_limited_to_a_time_with_both_ends_included(api: ApiClient, series: int) -> None:
    def values(query: str) -> list[float]:
        return [point["value"] for point in api.get(f"/series/{series}/points?{query}").json()]

    second, fourth = "2026-03-01T02:02:00.123456Z", "2026-03-01T02:04:00.123456Z"
    assert values(f"from={second}&to={fourth}") == [2.0, 3.0, 4.0]
    assert values(f"from={fourth}") == [4.0, 5.0]
    assert values("to=2026-03-01T02:02:00.123455") == [1.0]
    assert values("from=2026-03-01T10:03:00%2B08:00") == [3.0, 4.0, 5.0]
    assert values("from=2026-03-01T19:33:00%2B17:30") == [3.0, 4.0, 5.0]
    assert values("from=2026-03-02") == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("from=yesterday", "from"),
        ("to=2026-13-01", "to"),
        ("since=2026-01-01", "since"),
        ("from=1%00", "from"),
        ("to=9999-12-31T23:59:59-23:59", "to"),
    ],
)
def test_a_time_that_cannot_be_is_refused(
    api: ApiClient, refused: Refused, series: int, query: str, field: str
) -> None:
    refused(api.get(f"/series/{series}/points?{query}"), 422, field)


@pytest.mark.parametrize("series_id", ["999999", "x", str(10**30)])
def test_a_series_that_is_not_there_is_404(api: ApiClient, refused: Refused, series_id: str) -> None:
    refused(api.get(f"/series/{series_id}"), 404)
    refused(api.get(f"/series/{series_id}/points"), 404)


def test_a_series_whose_metric_left_the_catalog_is_still_listed(api: ApiClient, run: Run) -> None:
    Series.objects.create(pair=run.pair, kind="retired", metric="speed", identity={}, identity_digest="x")
    (item,) = api.get("/series?kind=retired").json()["items"]
    assert (item["label"], item["unit"]) == ("speed", "")


def test_series_and_points_cost_the_same_however_many(
    api: ApiClient, run: Run, series: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(2):
        api.get("/series")
    with django_assert_num_queries(3):
        api.get(f"/series/{series}/points")


def test_points_are_read_from_the_index_alone(series: int) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert len(points(series_id=series, from_time=START)) == 5
    (query,) = queries.captured_queries
    with connection.cursor() as cursor:
        # On a handful of rows the planner would read the whole table instead.
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
        cursor.execute(f"EXPLAIN {query['sql']}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "Index Only Scan using point_by_series" in plan


def test_points_come_in_pages_that_the_link_header_leads_through(api: ApiClient, series: int) -> None:
    whole = api.get(f"/series/{series}/points")
    assert "Link" not in whole.headers
    url, found, sizes = f"/series/{series}/points?limit=2&from=2026-03-01", [], []
    while url:
        answer = api.get(url)
        sizes.append(len(answer.json()))
        found += answer.json()
        link = answer.headers.get("Link", "")
        assert not link or link.endswith('>; rel="next"')
        url = link.partition(">")[0].partition("/api/v1")[2]
    assert (found, sizes) == (whole.json(), [2, 2, 1])


@pytest.mark.parametrize("query", ["limit=0", "limit=10001", "cursor=nonsense", "cursor=AAAA", "cursor=%C3%A4"])
def test_pages_of_points_that_cannot_be_are_refused(api: ApiClient, refused: Refused, series: int, query: str) -> None:
    refused(api.get(f"/series/{series}/points?{query}"), 422, query.partition("=")[0])
