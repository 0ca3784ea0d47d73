"""The matrix: where each number stands, what is missing and why, the baseline, and the links."""

import csv
import io
import re
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchweb.charts.export import PAIR_IDS, pair_ids
from benchweb.hosts.endpoints.services import endpoint_create
from benchweb.hosts.models import Endpoint, Environment, Pair
from benchweb.hosts.services import environment_create, host_create, pair_create
from benchweb.plans.models import Plan
from benchweb.results.models import Point
from benchweb.results.nightly_summaries import make
from benchweb.results.run_summaries import sum_up
from benchweb.runs.models import Run, State
from tests.factories import make_plan
from tests.measured import failed_run, measured_run

pytestmark = pytest.mark.django_db
STEP = [{"kind": "tcp_stream", "params": {"duration_seconds": 1}}]
MODES = ("host", "terway", "terway-eni")


def endpoints(names: list[str], modes: tuple[str, ...] = ("host",)) -> dict[tuple[str, str], Endpoint]:
    return {
        (name, mode): endpoint_create(host=host, control_address="127.0.0.1:1", network_mode=mode, same_machine=True)
        for name in names
        for host in [host_create(name=name)]
        for mode in modes
    }


def joined(zone: Environment, source: Endpoint, sink: Endpoint) -> Pair:
    return pair_create(source=source, sink=sink, environment=zone)


@pytest.fixture
def plan(db: None) -> Plan:
    return make_plan(steps=STEP, repetitions=3)


def cells(page: str) -> list[list[str]]:
    """Return the text of each row's cells of all matrices, its heading first."""
    tables = re.findall(r'<table class="matrix">(.*?)</table>', page, re.DOTALL)
    rows = re.findall(r"<tr>(.*?)</tr>", "".join(tables), re.DOTALL)
    found = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    return [[text_of(cell).replace("as baseline: this cell", "") for cell in row] for row in found]


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html))).strip()


def shown(client: Client, query: str = "") -> str:
    answer = client.get(f"/matrix{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_rows_are_sources_and_columns_sinks_and_the_corner_says_so(signed_in: Client, plan: Plan) -> None:
    zone, at = environment_create(name="lab"), endpoints(["alpha", "beta"])
    forward = joined(zone, at["alpha", "host"], at["beta", "host"])
    joined(zone, at["beta", "host"], at["alpha", "host"])
    measured_run(plan, forward, [16e9, 16.3e9, 16.4e9])
    head, first, second = cells(shown(signed_in))
    assert head == ["from ↓ to →", "to alpha", "to beta"]
    assert first[0].startswith("from alpha")
    assert first[1] == "the same endpoint"
    assert first[2].startswith("16.3 Gbit/s ±1.8 % · n=3")
    assert second[1] == "— no result of this test yet"


def test_no_data_failed_and_not_configured_are_told_apart(signed_in: Client, plan: Plan) -> None:
    zone, at = environment_create(name="lab"), endpoints(["alpha", "beta", "gamma"])
    good = joined(zone, at["alpha", "host"], at["beta", "host"])
    bad = joined(zone, at["alpha", "host"], at["gamma", "host"])
    measured_run(plan, good, [1e9, 1e9, 1e9])
    measured_run(plan, bad, [2e9, 2e9, 2e9])
    failed = failed_run(plan, bad, "The sink is <unreachable>.")
    joined(zone, at["beta", "host"], at["gamma", "host"])
    page = shown(signed_in)
    _, alpha, beta = cells(page)
    assert alpha[2] == "failed previously: 2.00 Gbit/s · ±0 % · n=3"
    assert f'href="/runs/{failed.pk}" title="The sink is &lt;unreachable&gt;."' in page
    assert beta[1:] == ["the same endpoint", "— no result of this test yet"]
    joined(zone, at["gamma", "host"], at["alpha", "host"])
    assert cells(shown(signed_in))[3][2] == "· no pair in this direction"


def modes_of_two_zones(plan: Plan) -> tuple[Environment, Environment]:
    """Make a 3 × 3 table in each of two zones: 1 to 9 Gbit/s, the second a tenth less."""
    zones = environment_create(name="same zone"), environment_create(name="cross zone")
    at = endpoints(["alpha", "beta"], MODES)
    for zone, factor in zip(zones, (1.0, 0.9), strict=True):
        for place in range(9):
            pair = joined(zone, at["alpha", MODES[place // 3]], at["beta", MODES[place % 3]])
            value = (place + 1) * 1e9 * factor
            measured_run(plan, pair, [value, value, value * 1.001])
    return zones


def test_three_by_three_modes_of_two_zones_are_one_click_away(signed_in: Client, plan: Plan) -> None:
    modes_of_two_zones(plan)
    link = re.search(r'href="(\?by=mode[^"]*)"', shown(signed_in))
    assert link
    page = shown(signed_in, unescape(link[1]))
    rows = cells(page)
    assert [row[0] for row in rows] == ["from ↓ to →", *(f"from {mode} as baseline" for mode in MODES)] * 2
    numbers = [[cell.split(" ±")[0] for cell in row[1:]] for row in rows if row[0] != "from ↓ to →"]
    names = re.findall(r'<h2 id="matrix-\d+"><a[^>]*>([^<]*)', page)
    same, cross = (numbers[:3], numbers[3:]) if names[0] == "same zone" else (numbers[3:], numbers[:3])
    assert same == [[f"{row * 3 + column + 1}.00 Gbit/s" for column in range(3)] for row in range(3)]
    assert cross[2] == ["6.30 Gbit/s", "7.20 Gbit/s", "8.10 Gbit/s"]


def test_a_baseline_is_chosen_by_a_link_and_kept_in_the_url(signed_in: Client, plan: Plan) -> None:
    same, cross = modes_of_two_zones(plan)
    page = shown(signed_in, f"?by=mode&environment={same.pk}")
    link = re.search(r'href="([^"]*base_row=host)" aria-label', page)
    assert link
    page = shown(signed_in, unescape(link[1]))
    # terway → host is 4 against 1, terway-eni → host 7 against 1.
    assert "▲ +300 %" in cells(page)[2][1] and "▲ +600 %" in cells(page)[3][1]
    assert '<input type="hidden" name="base_row" value="host">' in page
    beside = shown(signed_in, f"?by=mode&environment={cross.pk}&beside={same.pk}&base_environment={same.pk}")
    assert beside.count("▼ −10.0 %") == 9
    assert beside.count("change-worse") == 9


def test_a_difference_within_the_spread_has_no_colour_and_says_so(signed_in: Client, plan: Plan) -> None:
    zone, at = environment_create(name="lab"), endpoints(["alpha", "beta", "gamma"])
    measured_run(plan, joined(zone, at["alpha", "host"], at["beta", "host"]), [10e9, 11e9, 12e9])
    measured_run(plan, joined(zone, at["alpha", "host"], at["gamma", "host"]), [9e9, 10e9, 11e9])
    start = f"?base_row={at['alpha', 'host'].pk}&base_column={at['beta', 'host'].pk}"
    page = shown(signed_in, start)
    assert 'title="−9.1 %, within the spread">no significant change<' in page
    assert "level-down" not in page.split("matrix-legend")[0]


def test_several_pairs_of_two_modes_are_one_median_that_says_of_how_many(signed_in: Client, plan: Plan) -> None:
    zone, at = environment_create(name="lab"), endpoints(["alpha", "beta", "gamma"])
    for sink, value in (("beta", 1e9), ("gamma", 3e9)):
        measured_run(plan, joined(zone, at["alpha", "host"], at[sink, "host"]), [value] * 3)
    third = joined(zone, at["beta", "host"], at["gamma", "host"])
    failed_run(plan, third, "gone")
    cell = cells(shown(signed_in, "?by=mode"))[1][1]
    assert cell.startswith("2.00 Gbit/s 1.00–3.00 Gbit/s · n=6 · 2 of 3 pairs 1 of 3 pairs failed")


def test_it_says_when_the_newest_and_the_oldest_value_were_measured(signed_in: Client, plan: Plan) -> None:
    zone, at = environment_create(name="lab"), endpoints(["alpha", "beta", "gamma"])
    first = joined(zone, at["alpha", "host"], at["beta", "host"])
    measured_run(plan, first, [1e9] * 3)
    context = signed_in.get("/matrix").context["view"]
    assert context.oldest == context.newest is not None
    measured_run(plan, joined(zone, at["alpha", "host"], at["gamma", "host"]), [1e9] * 3)
    assert "Measured" in text_of(shown(signed_in, "?by=mode"))
    assert "Measured between" not in text_of(shown(signed_in, "?by=mode"))
    Point.objects.filter(series__pair=first).update(at=timezone.now() - timedelta(hours=5))
    text = text_of(shown(signed_in, "?by=mode"))
    assert "Measured between" in text
    assert "(oldest) and" in text
    assert "sample" not in text
    Environment.objects.update(is_synthetic=True)
    assert "sample" in text_of(shown(signed_in))


def test_as_published_names_median_and_mean_in_the_reports_own_notation(signed_in: Client, plan: Plan) -> None:
    zone, at = environment_create(name="lab"), endpoints(["alpha", "beta"])
    measured_run(plan, joined(zone, at["alpha", "host"], at["beta", "host"]), [9e9, 9.4e9, 9.5e9])
    page = shown(signed_in, "?as=mbits")
    assert cells(page)[1][1].startswith("9,400.00 10⁶ bit/s mean 9,300.00 ±4.3 % · n=3")
    assert "median and mean of the repetitions of each pair's last run" in text_of(page)


def test_the_picture_of_the_whole_moves_to_the_place_that_is_clicked(signed_in: Client, plan: Plan) -> None:
    zone, at = environment_create(name="lab"), endpoints([f"host-{number:02}" for number in range(30)])
    centre = at["host-00", "host"]
    pairs = [joined(zone, centre, other) for (name, _), other in at.items() if name != "host-00"]
    measured_run(plan, pairs[0], [1e9] * 3)
    page = shown(signed_in)
    assert "sinks 1–12 of 29" in text_of(page)
    found = re.search(r'src="(/matrix\.png[^"]*)" width="464" height="16"', page)
    assert found
    picture = signed_in.get(unescape(found[1]))
    assert (picture["Content-Type"], picture.content[:8]) == ("image/png", b"\x89PNG\r\n\x1a\n")
    moved = signed_in.get(f"/matrix?picture={zone.pk}&at.x=450&at.y=3")
    assert moved["Location"] == "/matrix?c=17"
    assert "sinks 18–29 of 29" in text_of(shown(signed_in, "?c=17"))


def test_the_csv_has_a_row_for_each_cell_with_raw_values_and_states(signed_in: Client, plan: Plan) -> None:
    zone, at = environment_create(name="lab"), endpoints(["alpha", "beta"])
    run = measured_run(plan, joined(zone, at["alpha", "host"], at["beta", "host"]), [1e9, 2e9, 6e9])
    lines = signed_in.get("/matrix.csv").content.decode().splitlines()
    assert lines[0].startswith("environment,source,sink,state,kind,identity,metric,unit,n,median,mean,low,high,at,runs")
    assert len(lines) == 2
    assert lines[1].startswith("lab,alpha,beta,value,tcp_stream,{},throughput_bps,bit/s,3,2000000000.0,3000000000.0,")
    assert lines[0].endswith(",runs,reason," + ",".join(PAIR_IDS))
    ids = pair_ids(run.pair)
    assert lines[1].endswith(f",{run.pk},," + ",".join(map(str, ids.values())))
    by_mode = list(csv.DictReader(io.StringIO(signed_in.get("/matrix.csv?by=mode").content.decode())))
    empty = dict.fromkeys(PAIR_IDS, "")
    kept = {name: str(ids[name]) for name in ("pair_id", "environment_id")}
    assert {name: by_mode[0][name] for name in PAIR_IDS} == empty | kept


def test_a_matrix_costs_the_same_queries_whatever_its_size(
    signed_in: Client, plan: Plan, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    zone, at = environment_create(name="lab"), list(endpoints(["alpha", "beta", "gamma"]).values())
    measured_run(plan, joined(zone, at[0], at[1]), [1e9] * 3)
    # Session with user, environments, endpoints, pairs, tests, metrics, values, ended runs, marks; once plans' steps.
    with django_assert_num_queries(11):
        shown(signed_in)
    for source, sink in ((0, 2), (1, 0), (1, 2), (2, 0)):
        measured_run(plan, joined(zone, at[source], at[sink]), [1e9] * 3)
    with django_assert_num_queries(10):
        shown(signed_in)


@pytest.mark.parametrize(
    "query",
    ["?environment=9999999&by=x&test=no.such&metric=none&r=-1&c=99999999999999999999&until=2026-99-99", "?base_row=x"],
)
def test_what_cannot_be_read_in_a_query_string_has_its_default(signed_in: Client, plan: Plan, query: str) -> None:
    zone, at = environment_create(name="lab"), endpoints(["alpha", "beta"])
    measured_run(plan, joined(zone, at["alpha", "host"], at["beta", "host"]), [1e9] * 3)
    assert "1.00 Gbit/s" in text_of(shown(signed_in, query))


def test_without_environments_pairs_or_results_it_says_the_next_step(signed_in: Client, plan: Plan) -> None:
    assert "Next step: add a host." in shown(signed_in)
    zone, at = environment_create(name="lab"), endpoints(["alpha", "beta"])
    text = text_of(shown(signed_in))
    assert (
        "No pairs in this environment. The matrix shows all pairs: rows are sources, columns are sinks, cells show"
        in text
    )
    assert "any metric. Next step: create a pair of two endpoints" in text
    joined(zone, at["alpha", "host"], at["beta", "host"])
    assert "Launch a plan on these pairs" in shown(signed_in)


def test_htmx_gets_the_filters_that_are_set_into_the_address_bar(signed_in: Client, plan: Plan) -> None:
    zone = environment_create(name="lab")
    answer = signed_in.get(f"/matrix?environment={zone.pk}&by=mode&beside=&until=", headers={"HX-Request": "true"})
    assert answer["HX-Push-Url"] == f"/matrix?environment={zone.pk}&by=mode"


def test_without_a_choice_it_shows_the_test_that_most_pairs_have(signed_in: Client, plan: Plan) -> None:
    zone, at = environment_create(name="lab"), endpoints(["alpha", "beta", "gamma"])
    pairs = [joined(zone, at["alpha", "host"], at[sink, "host"]) for sink in ("beta", "gamma")]
    for pair in pairs:
        measured_run(plan, pair, [1e9] * 3)
    small = make_plan(steps=[{"kind": "tcp_stream", "params": {"message_size_bytes": 1}}])
    measured_run(small, pairs[0], [5e6])
    assert "message size 16 KiB" in text_of(shown(signed_in)).split("median of")[0].rsplit("Throughput", 1)[1]
    assert cells(shown(signed_in))[1][2].startswith("1.00 Gbit/s")


def test_the_few_pairs_with_results_are_found_beside_the_many_without(
    signed_in: Client, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchweb.web.matrix.page._PAIRS_ASKED_FOR_TESTS", 2)
    empty, measured = environment_create(name="empty"), environment_create(name="measured")
    at = endpoints(["alpha", "beta", "gamma"])
    for source, sink in (("alpha", "beta"), ("beta", "gamma"), ("gamma", "alpha")):
        joined(empty, at[source, "host"], at[sink, "host"])
    measured_run(plan, joined(measured, at["alpha", "host"], at["gamma", "host"]), [1e9, 1e9, 1e9])
    page = shown(signed_in, f"?by=mode&environment={empty.pk}&beside={measured.pk}")
    assert "1.00 Gbit/s" in page


def test_what_a_run_gave_before_it_is_over_is_no_result_yet(signed_in: Client, plan: Plan) -> None:
    zone, at = environment_create(name="lab"), endpoints(["alpha", "beta"])
    pair = joined(zone, at["alpha", "host"], at["beta", "host"])
    measured_run(plan, pair, [9e9] * 3)
    running = measured_run(plan, pair, [1e9] * 3)
    Run.objects.filter(pk=running.pk).update(state=State.RUNNING)
    assert cells(shown(signed_in))[1][1].startswith("9.00 Gbit/s")
    Run.objects.filter(pk=running.pk).update(state=State.FINISHED)
    assert cells(shown(signed_in))[1][1].startswith("1.00 Gbit/s")


def test_it_opens_on_the_environment_with_most_pairs_measured_lately(signed_in: Client, plan: Plan) -> None:
    at = endpoints(["alpha", "beta", "gamma"])
    small, large = environment_create(name="a small one"), environment_create(name="large")
    for name in ("beta", "gamma"):
        measured_run(plan, joined(large, at["alpha", "host"], at[name, "host"]), [1e9] * 3)
    # The newest run, and the first name.
    measured_run(plan, joined(small, at["alpha", "host"], at["beta", "host"]), [2e9] * 3)
    while sum_up() or make():
        pass
    assert "large · Matrix" in shown(signed_in)
    # What the reader chose last comes first, and each link says which it is.
    assert "a small one · Matrix" in shown(signed_in, f"?environment={small.pk}")
    page = shown(signed_in)
    assert "a small one · Matrix" in page
    assert f"path=/matrix%3Fenvironment%3D{small.pk}" in page
    shown(signed_in, "?environment=999999")
    assert "a small one · Matrix" in shown(signed_in)
    Environment.objects.filter(pk=small.pk).update(archived_at=timezone.now())
    assert "large · Matrix" in shown(signed_in)
