"""The pages of a pair, host and environment: their pictures, then what changed in sentences, and the rest counted."""

import json
import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.models import Host, Pair
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.results.models import Series
from tests.factories import make_alert, make_endpoint, make_environment, make_pair
from tests.nights import DAY, add_values, measured
from tests.web.overview.test_pictures import SIZES, last_evening, measured_nights, mesh, summed_up

pytestmark = pytest.mark.django_db
# As everywhere.
MOST_QUERIES = 12
Chart = dict[str, Any]


def addresses(pair: Pair) -> dict[str, str]:
    """Return the pages that a pair is on."""
    return {
        "pair": f"/pairs/{pair.pk}",
        "host": f"/hosts/{pair.source.host_id}",
        "environment": f"/environments/{pair.environment_id}",
    }


def pictures_of(client: Client, url: str) -> dict[str, Chart]:
    """Return the charts that a page begins with, by the part of their id behind the number."""
    page = client.get(url).content.decode()
    found = re.search(r'<div id="pictures-data" hidden>(.*?)</div>', page, re.DOTALL)
    return {chart["id"]: chart for chart in json.loads(found[1])} if found else {}


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html))).strip()


def sentences(client: Client, url: str) -> list[str]:
    """Return what a page says of its series: the sentences, then the count of the rest."""
    page = client.get(url).content.decode()
    section = page.partition('<ul class="standing-lines')[2].partition("</section>")[0]
    lines = re.findall(r"<li>(.*?)</li>", section, re.DOTALL)
    rest = re.findall(r'<p class="standing-rest meta">(.*?)</p>', section, re.DOTALL)
    return [text_of(line) for line in [*lines, *rest]]


def all_figures(pair: Pair, *, factor: float = 1.0) -> None:
    """Measure throughput by size, packets and latency each night; the last night by `factor`."""
    measured_nights(pair, factor=factor)
    for ago in range(8, -1, -1):
        at, wobble = last_evening() - ago * DAY, 1 + ago % 3 / 1000
        by = factor if ago == 0 else 1.0
        run = measured(pair, at, 4e5 * wobble * by, kind="udp_stream", metric="packets_per_second")
        add_values(run, pair, at, 3e-5 * wobble / by, kind="tcp_rr", metric="latency_p99_seconds")
        add_values(run, pair, at, 3e4 * wobble * by, kind="tcp_rr", metric="transactions_per_second")


@pytest.mark.parametrize("name", ["pair", "host", "environment"])
def test_a_page_begins_with_its_pictures_and_they_are_the_same_figures(signed_in: Client, name: str) -> None:
    pair = make_pair(environment="zone")
    all_figures(pair, factor=0.8)
    summed_up()
    number = {"pair": pair.pk, "host": pair.source.host_id, "environment": pair.environment_id}[name]
    url = addresses(pair)[name]
    charts = pictures_of(signed_in, url)
    metrics = ("throughput_bps", "packets_per_second", "latency_p99_seconds")
    assert list(charts) == [*(f"night-{number}-{metric}" for metric in metrics), f"sizes-{number}"]
    assert {chart["detail"] for chart in charts.values()} == {"small"}
    for metric in metrics:
        assert len(charts[f"night-{number}-{metric}"]["series"][0]["measured"]) == 9
    [line] = charts[f"sizes-{number}"]["series"]
    assert [point["x"] for point in line["points"]] == SIZES
    [band] = line["bands"]
    assert all(point["y"] < low for point, low in zip(line["points"], band["low"], strict=True))
    page = signed_in.get(url).content.decode()
    main = page.partition("<main")[2]
    assert main.index('class="pictures"') < main.index("standing-title") < main.index('class="subject-side"')
    for address in re.findall(r'class="picture" href="([^"]*)"', main):
        assert f"/history?{name}={number}&" in unescape(address)
        assert signed_in.get(unescape(address)).status_code == 200


def test_of_a_pair_that_is_measured_often_the_last_run_of_a_night_counts(signed_in: Client) -> None:
    pair = make_pair()
    for ago in range(3, -1, -1):
        for hour in range(3):
            measured(pair, last_evening() - ago * DAY - timedelta(hours=hour), 1e9 * (3 - hour))
    summed_up()
    charts = pictures_of(signed_in, f"/pairs/{pair.pk}")
    [line] = charts[f"night-{pair.pk}-throughput_bps"]["series"]
    assert [point[1] for point in line["measured"]] == [3e9] * 4


def test_each_night_of_one_pair_has_its_repetitions_and_a_night_without_a_result_is_a_gap(signed_in: Client) -> None:
    pair = make_pair()
    for ago in (60, 2, 1, 0):
        at = last_evening() - ago * DAY
        add_values(measured(pair, at), pair, at, 1e9, 1.01e9, 1.02e9)
    summed_up()
    charts = pictures_of(signed_in, f"/pairs/{pair.pk}")
    [line] = charts[f"night-{pair.pk}-throughput_bps"]["series"]
    assert [point[2] for point in line["measured"]] == [3] * 3
    # Measured before the first of the thirty nights: those without a result are none of before anything was.
    assert len(line["points"]) == 27


def test_a_host_of_many_pairs_tells_of_some_and_says_so(
    signed_in: Client, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    monkeypatch.setattr("benchweb.results.scope_figures.MOST_PAIRS", 2)
    pairs = mesh(4)
    summed_up()
    path = f"/hosts/{pairs[0].source.host_id}"
    with django_assert_max_num_queries(MOST_QUERIES):
        page = signed_in.get(path).content.decode()
    # Six pairs: every third is read.
    assert "median of 2 of 6 pairs" in text_of(page)


def test_what_changed_is_told_by_pair_and_the_rest_is_counted(signed_in: Client) -> None:
    first, *others = mesh(3)
    run = measured(first, last_evening() + timedelta(minutes=40))
    for size in SIZES:
        identity = {} if size == 16384 else {"message_size_bytes": size}
        rate = 0.8e9 * size**0.25
        add_values(run, first, last_evening() + timedelta(minutes=40), rate, rate * 1.001, identity=identity)
    summed_up()
    source, sink = str(first.source), str(first.sink)
    rest = f"{len(others) * len(SIZES)} other series: as usual"
    unconfirmed = "last run, not confirmed"
    pages = addresses(first)
    expected = f"on all 4 series of {source} → {sink} {unconfirmed}"
    assert sentences(signed_in, pages["environment"]) == [f"▼ −20.4 % {expected}", rest]
    at_source, at_sink = pages["host"], f"/hosts/{first.sink.host_id}"
    assert sentences(signed_in, at_source)[0] == f"▼ −20.4 % on all 4 series to {sink} {unconfirmed}"
    assert sentences(signed_in, at_sink)[0] == f"▼ −20.4 % on all 4 series from {source} {unconfirmed}"
    assert sentences(signed_in, pages["pair"]) == [f"▼ −20.4 % on all 4 series of TCP stream {unconfirmed}"]
    assert sentences(signed_in, f"/pairs/{others[0].pk}") == ["4 series: as usual"]


def test_three_pairs_that_share_a_host_are_one_sentence(signed_in: Client) -> None:
    pairs = mesh(4)
    sink = pairs[0].sink
    for pair in pairs:
        if pair.sink_id == sink.pk:
            measured(pair, last_evening() + timedelta(minutes=30), 1e6)
    summed_up()
    lines = sentences(signed_in, f"/environments/{pairs[0].environment_id}")
    assert len(lines) == 2
    assert f"on 3 of 12 series to {sink.host.name} (3 pairs)" in lines[0]
    assert lines[1] == "45 other series: as usual"


def test_what_an_alert_tells_is_one_cause_with_its_title(signed_in: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = make_pair()
    all_figures(pair, factor=0.8)
    summed_up()
    alert = make_alert(pair=pair, at=timezone.now() - DAY)
    levels = {"before": 11.37e9, "after": 9.1e9}
    test = {"kind": "tcp_stream", "metric": "throughput_bps"}
    Alert.objects.filter(pk=alert.pk).update(
        kind=Alert.Kind.CHANGE,
        code="change",
        opened_at=timezone.now() - DAY,
        params=test | levels | {"ratio": -0.2, "series": 4, "pairs": 1},
    )
    for series in Series.objects.filter(pair=pair, kind="tcp_stream"):
        AlertSeries.objects.create(
            alert=alert,
            series=series,
            segment_key=f"{alert.pk}-{series.pk}",
            first_bad_run=series.points.latest("pk").run,
            difference_ratio=-0.2,
            **levels,
        )
    told, *others = sentences(signed_in, f"/hosts/{pair.source.host_id}")
    sink = pair.sink
    assert told.startswith(f"▼ −20.0 % on 4 of 5 series to {sink} · ")
    assert "since" in told
    # What it doesn't tell of stands out by itself.
    assert others == [f"▼ −20.1 % on 1 of 5 series to {sink} last run, not confirmed"]
    [chart] = [chart for key, chart in pictures_of(signed_in, f"/pairs/{pair.pk}").items() if "throughput" in key]
    assert [mark["href"] for mark in chart["marks"]] == [f"/alerts/{alert.pk}"]
    # The figure above the chart says the same of the same fall.
    page = signed_in.get(f"/pairs/{pair.pk}").content.decode()
    figure = text_of(page.partition('<div class="environment-figure">')[2].partition("<h3>")[2].partition("<h3>")[0])
    assert figure.startswith("Throughput, received ")
    assert "−20.0 %" in figure and "−20.1 %" not in figure
    # An alert of more series than are read still tells of all of them.
    monkeypatch.setattr("benchweb.regressions.standing._MOST_PARTS", 2)
    told, *still = sentences(signed_in, f"/hosts/{pair.source.host_id}")
    assert " of 5 series" not in told and "since" in told
    assert still == others


@pytest.mark.parametrize("name", ["pair", "host", "environment"])
def test_it_costs_no_more_queries_with_all_of_it(
    signed_in: Client, name: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    pairs = mesh(4)
    Host.objects.update(environment_ids=[pairs[0].environment_id])
    for pair in pairs[:5]:
        measured(pair, last_evening() + timedelta(minutes=30), 1e6)
    summed_up()
    make_alert(pair=pairs[0])
    url = addresses(pairs[0])[name]
    signed_in.get(url)
    with django_assert_max_num_queries(MOST_QUERIES):
        assert signed_in.get(url).context["standing"].others


def test_a_mesh_of_more_pairs_than_are_drawn_says_of_how_many(
    signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchweb.web.series.pictures.MOST_PAIRS", 4)
    pairs = mesh(3)
    summed_up()
    for url in ("/", f"/environments/{pairs[0].environment_id}"):
        page = signed_in.get(url).content.decode()
        [link] = re.findall(r'<a class="meta mesh-part" href="(/matrix[^"]*)">4 of 6 pairs</a>', page)
        assert f"environment={pairs[0].environment_id}&" in unescape(link)
        assert 'aria-label="4 of 6 pairs: ' in page


def test_without_results_nothing_is_drawn(signed_in: Client) -> None:
    environment = make_environment("empty")
    endpoint = make_endpoint()
    for url in (f"/environments/{environment.pk}", f"/hosts/{endpoint.host_id}"):
        page = signed_in.get(url).content.decode()
        assert "pictures-data" not in page and "No results yet." in page


def test_what_was_measured_long_ago_is_neither_usual_nor_outstanding(signed_in: Client) -> None:
    pair = make_pair()
    measured(pair, timezone.now() - 200 * DAY, 1e9)
    summed_up()
    assert sentences(signed_in, f"/pairs/{pair.pk}") == ["1 not measured in 30 nights"]


def test_a_figure_that_rose_from_nothing_is_told_by_its_sense(signed_in: Client) -> None:
    pair = make_pair()
    all_figures(pair, factor=1.0)
    summed_up()
    alert = make_alert(pair=pair, at=timezone.now() - DAY)
    series = Series.objects.filter(pair=pair, metric__contains="latency").first() or Series.objects.filter(pair=pair)[0]
    params = {"kind": series.kind, "metric": series.metric, "before": 0.0, "after": 3.0, "series": 1, "pairs": 1}
    Alert.objects.filter(pk=alert.pk).update(
        kind=Alert.Kind.CHANGE, code="change", opened_at=timezone.now() - DAY, params=params
    )
    AlertSeries.objects.create(
        alert=alert,
        series=series,
        segment_key=f"{alert.pk}",
        first_bad_run=series.points.latest("pk").run,
        before=0.0,
        after=3.0,
    )
    assert sentences(signed_in, f"/pairs/{pair.pk}")[0].startswith("▲ changed")
