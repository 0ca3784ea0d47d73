"""The overview's pictures: gaps are gaps, each link leads to the same figure, and no environment costs a query."""

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from html import unescape
from statistics import median
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchweb.hosts.models import Pair
from benchweb.ops.setup.steps import FRONTEND
from benchweb.regressions.models import Alert
from benchweb.results import nightly_summaries as nights
from benchweb.results import run_summaries as recents
from benchweb.results.nightly_summaries import night_of
from benchweb.web.overview.night import EnvironmentRow
from tests.factories import make_alert, make_endpoint, make_environment, make_pair
from tests.nights import DAY, add_values, measured

SIZES = [64, 1024, 16384, 65536]
NIGHTS = 8
Chart = dict[str, Any]


def summed_up() -> None:
    while recents.sum_up():
        pass
    while nights.make():
        pass


def last_evening() -> datetime:
    """Return a time of the latest night, hours from its noon and over by now."""
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(hours=2)


def measured_nights(pair: Pair, *, factor: float = 1.0, missing: int = 0, nights_ago: int = NIGHTS) -> None:
    """Measure every size once a night; the last night by `factor`; `missing` nights ago nothing."""
    for ago in range(nights_ago, -1, -1):
        if missing and ago == missing:
            continue
        wobble = (1 + ago % 3 / 1000) * (factor if ago == 0 else 1.0)
        run = measured(pair, last_evening() - ago * DAY)
        for size in SIZES:
            identity = {} if size == 16384 else {"message_size_bytes": size}
            rate = 1e9 * size**0.25 * wobble
            add_values(run, pair, last_evening() - ago * DAY, rate, rate * 1.01, identity=identity)


def charts_of(client: Client) -> dict[str, Chart]:
    """Return the charts that the page carries, by their ids."""
    page = client.get("/").content.decode()
    found = re.search(r'<div id="charts-data" hidden>(.*?)</div>', page, re.DOTALL)
    assert found is not None
    return {chart["id"]: chart for chart in json.loads(found[1])}


def mesh(hosts: int = 3, **nights_of: Any) -> list[Pair]:
    """Make an environment in which each of some hosts measures each other."""
    environment = make_environment("mesh")
    endpoints = [make_endpoint(host_name=f"host {number}") for number in range(hosts)]
    pairs = [make_pair(source=one, sink=other) for one in endpoints for other in endpoints if one is not other]
    Pair.objects.filter(pk__in=[pair.pk for pair in pairs]).update(environment=environment)
    found = list(Pair.objects.filter(environment=environment).order_by("pk"))
    for pair in found:
        measured_nights(pair, **nights_of)
    return found


def only_row(client: Client) -> EnvironmentRow:
    [row] = client.get("/").context["night"].environments
    assert isinstance(row, EnvironmentRow)
    return row


def href_of(client: Client, chart: str) -> str:
    """Return where a chart's link leads."""
    page = client.get("/").content.decode()
    found = re.search(rf'<a class="picture" href="([^"]*)" data-chart="{chart}"', page)
    assert found is not None
    return unescape(found[1])


def test_a_night_without_a_result_is_a_gap_and_none_before_the_first(signed_in: Client) -> None:
    pair = make_pair(environment="zone")
    measured_nights(pair, missing=3)
    summed_up()
    chart = charts_of(signed_in)[f"night-{pair.environment_id}-throughput_bps"]
    [line] = chart["series"]
    assert len(line["measured"]) == NIGHTS
    [gap] = line["points"]
    assert (gap["y"], gap["reason"]) == (None, "no result in this night")
    assert gap["x"][:10] == str(night_of(last_evening() - 3 * DAY))
    # The gap stands between the nights beside it, and the axis has thirty nights.
    times = [point[0] for point in line["measured"]]
    assert sum(time < gap["x"] for time in times) == NIGHTS - 3
    begin, end = (datetime.fromisoformat(chart[name]) for name in ("x_from", "x_to"))
    assert end - begin == 30 * DAY
    # Each night has its range and the repetitions of its one pair.
    assert all(low <= value <= high and n == 2 for _at, value, n, low, high, _run in line["measured"])


def test_a_night_that_stands_out_is_ringed_and_a_told_change_flagged(signed_in: Client) -> None:
    pair = make_pair(environment="zone")
    measured_nights(pair, factor=0.8)
    alert = make_alert(pair=pair, at=last_evening())
    params = {"kind": "tcp_stream", "metric": "throughput_bps", "series": 1, "pairs": 1, "ratio": -0.2}
    Alert.objects.filter(pk=alert.pk).update(
        kind=Alert.Kind.CHANGE, code="change", params=params, environment=pair.environment
    )
    summed_up()
    chart = charts_of(signed_in)[f"night-{pair.environment_id}-throughput_bps"]
    assert [(ring["kind"], ring["y"]) for ring in chart["rings"]] == [("change", chart["series"][0]["measured"][-1][1])]
    assert [(mark["kind"], mark["href"]) for mark in chart["marks"]] == [("alert", f"/alerts/{alert.pk}")]


def test_the_last_night_by_size_lies_over_what_is_usual_at_each(signed_in: Client) -> None:
    pair = make_pair(environment="zone")
    measured_nights(pair, factor=0.8)
    summed_up()
    chart = charts_of(signed_in)[f"sizes-{pair.environment_id}"]
    [line] = chart["series"]
    assert [point["x"] for point in line["points"]] == SIZES
    [band] = line["bands"]
    for point, low, high in zip(line["points"], band["low"], band["high"], strict=True):
        usual = 1e9 * point["x"] ** 0.25 * 1.006
        assert point["y"] == pytest.approx(0.8 * usual, rel=0.01)
        assert low < usual < high and point["y"] < low


def test_a_nights_chart_leads_to_the_history_of_the_same_pairs_and_figure(signed_in: Client) -> None:
    pairs = mesh()
    summed_up()
    row = only_row(signed_in)
    assert row.main is not None
    url = href_of(signed_in, row.main.chart_id)
    assert "over=30d" in url
    assert signed_in.get(url).status_code == 200
    drawn = signed_in.get(url.replace("/history?", "/history/charts.json?")).json()["charts"]
    last = [line["measured"][-1][1] for chart in drawn for line in chart["series"]]
    assert len(last) == len(pairs)
    assert median(last) == row.main.median


def test_the_chart_by_size_leads_to_the_same_night_by_size(signed_in: Client) -> None:
    mesh()
    summed_up()
    row = only_row(signed_in)
    here = charts_of(signed_in)[row.sizes_id]["series"][0]["points"]
    url = href_of(signed_in, row.sizes_id)
    assert signed_in.get(url).status_code == 200
    [there] = signed_in.get(url.replace("/history?", "/history/charts.json?")).json()["charts"]
    [line] = there["series"]
    assert [(point["x"], point["y"]) for point in line["points"]] == [
        (point["x"], pytest.approx(point["y"])) for point in here
    ]


def test_the_pairs_lead_to_the_matrix_with_the_same_verdicts(signed_in: Client) -> None:
    pairs = mesh()
    later = last_evening() + timedelta(minutes=30)
    summed_up()
    main = only_row(signed_in).main
    assert main is not None
    # Of several sizes the one whose figure stands first is judged.
    measured(pairs[0], later, 8e8, identity=main.row.identity)
    summed_up()
    row = only_row(signed_in)
    assert row.mesh is not None
    assert row.mesh.counts == {"worse": 1, "same": len(pairs) - 1}
    page = signed_in.get(row.mesh_url)
    view = page.context["view"]
    assert (view.test.kind, view.metric.key, view.query.compared) == ("tcp_stream", "throughput_bps", "usual")
    cells = [cell for table in view.tables for line in table.rows for cell in line.cells if cell.figure]
    assert Counter("worse" if "level-down" in cell.css else "same" for cell in cells) == row.mesh.counts
    assert "1 worse, 5 without a significant change" in page.content.decode()
    assert f'href="{row.mesh_url}"'.replace("&", "&amp;") in signed_in.get("/").content.decode()


def test_a_pair_without_a_result_in_the_last_day_is_missing_in_the_mesh(signed_in: Client) -> None:
    first, second = make_pair(environment="zone"), make_pair()
    Pair.objects.filter(pk=second.pk).update(environment=first.environment)
    measured_nights(first)
    measured(second, timezone.now() - 3 * DAY, 1e10)
    summed_up()
    found = only_row(signed_in).mesh
    assert found is not None
    assert found.counts == {"same": 1, "missing": 1}


def environments(count: int) -> None:
    for number in range(count):
        measured_nights(make_pair(environment=f"zone {number}"), nights_ago=1)
    summed_up()


@pytest.fixture
def queries(signed_in: Client) -> Callable[[], int]:
    def count() -> int:
        signed_in.get("/")
        with CaptureQueriesContext(connection) as found:
            signed_in.get("/")
        return len(found)

    return count


def test_no_environment_costs_a_query(queries: Callable[[], int]) -> None:
    environments(2)
    few = queries()
    environments(10)
    assert queries() == few


@pytest.mark.parametrize("count", [0, 2, 12])
@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_few_environments_are_cards_and_many_are_rows(signed_in: Client, count: int, language: str) -> None:
    environments(count)
    page = signed_in.get("/", headers={"Accept-Language": language}).content.decode()
    cards, rows = page.count('class="environment-card"'), page.count('<th scope="row" class="environment-name">')
    assert (cards, rows) == {0: (0, 0), 2: (2, 0), 12: (0, 12)}[count]
    details = {chart["detail"] for chart in charts_of(signed_in).values()} if count else set()
    assert details == {0: set(), 2: {"small"}, 12: {"row"}}[count]


def test_the_page_stays_small_with_twelve_environments(signed_in: Client) -> None:
    for number in range(12):
        pair = make_pair(environment=f"zone {number}")
        measured_nights(pair, nights_ago=30)
        for ago in range(31):
            at = last_evening() - ago * DAY
            measured(pair, at, 7.28e5 + ago / 7, kind="udp_stream", metric="packets_per_second")
            measured(pair, at, 3.4e-5 + ago * 1e-9 / 7, kind="tcp_rr", metric="latency_p99_seconds")
    summed_up()
    page = signed_in.get("/").content
    assert page.count(b'"detail":"row"') == 12 * 4
    scripts = [FRONTEND / "dist" / name for name in ("early.js", "app.js", "charts.js", "app.css")]
    assert sum(len(gzip.compress(each)) for each in [page, *(script.read_bytes() for script in scripts)]) <= 200_000
