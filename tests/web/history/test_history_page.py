"""The history page: filters in the address, notes, CSV, few queries."""

import csv
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchweb.annotations.models import Annotation
from benchweb.charts.export import PAIR_IDS, pair_ids
from benchweb.charts.sizes import lines as size_lines
from benchweb.hosts.models import Pair
from benchweb.plans.models import Plan
from benchweb.results.run_summaries import rebuild
from tests.charts.history_rows import past_run
from tests.factories import make_endpoint, make_pair, make_plan

MOST_QUERIES = 10
STREAM = [{"kind": "tcp_stream", "params": {"message_size_bytes": 64}}]


@pytest.fixture
def pair(db: None) -> Pair:
    """Return a pair with a week of nights."""
    made = make_pair(source=make_endpoint(host_name="alder"), sink=make_endpoint(host_name="birch"))
    plan = make_plan(steps=STREAM, name="nightly")
    for night in range(7):
        at = timezone.now() - timedelta(days=7 - night)
        past_run(plan, made, at, {"throughput_bps": (night + 1) * 1e9})
    return made


def charts(page: str) -> list[dict[str, Any]]:
    """Return the specs that a page carries."""
    found = re.search(r'<div id="charts-data" hidden>(.*?)</div>', page, re.S)
    assert found
    specs: list[dict[str, Any]] = json.loads(found[1])
    return specs


def test_the_page_draws_what_the_address_asks_for(signed_in: Client, pair: Pair) -> None:
    page = signed_in.get(f"/history?pair={pair.pk}&over=30d").content.decode()
    (chart,) = charts(page)
    assert [median for _at, median, *_ in chart["series"][0]["measured"]] == [(night + 1) * 1e9 for night in range(7)]
    assert f'<option value="{pair.pk}" selected>alder (host) → birch (host)</option>' in page


def test_a_filter_for_what_does_not_exist_is_shown_and_not_called_any(signed_in: Client, pair: Pair) -> None:
    for address in ("/history?environment=987654", "/runs?environment=987654"):
        page = signed_in.get(address).content.decode()
        assert '<option value="987654" selected>987654 (doesn&#x27;t exist)</option>' in page, address


def test_the_charts_as_json_are_those_of_the_page(signed_in: Client, pair: Pair) -> None:
    address = f"pair={pair.pk}&over=7d"
    page = signed_in.get(f"/history?{address}").content.decode()
    assert signed_in.get(f"/history/charts.json?{address}").json()["charts"] == charts(page)


def test_a_kind_that_was_never_measured_is_named_and_has_no_figures_to_choose(signed_in: Client, pair: Pair) -> None:
    page = signed_in.get("/history?kind=tcp_rr").content.decode()
    assert re.search(r'<option value="tcp_rr" selected>', page)
    assert 'id="filter-metric"' not in page
    assert "No results in this time range match these filters." in page


@pytest.mark.parametrize("address", ["/history", "/history/charts.json", "/history.csv"])
def test_a_time_may_have_any_offset(signed_in: Client, pair: Pair, address: str) -> None:
    response = signed_in.get(address, {"from": "1990-01-01T00:00:00-23:59", "to": "2190-01-01T00:00:00+23:59"})
    content = response.getvalue()
    assert response.status_code == 200
    assert b"alder" in content


def test_a_kind_that_there_is_not_is_as_if_none_was_asked_for(signed_in: Client, pair: Pair) -> None:
    page = signed_in.get("/history?kind=nope&over=30d").content.decode()
    assert charts(page) == signed_in.get("/history/charts.json?kind=nope&over=30d").json()["charts"] != []
    assert re.search(r'<option value="tcp_stream" selected>', page)


def test_what_is_chosen_stays_chosen_when_it_is_archived(signed_in: Client, pair: Pair) -> None:
    plan = Plan.objects.get()
    for row in (pair, plan, pair.source.host, pair.environment):
        type(row).objects.filter(pk=row.pk).update(archived_at=timezone.now())
    rows = {"pair": pair, "plan": plan, "host": pair.source.host, "environment": pair.environment}
    chosen = {name: str(row.pk) for name, row in rows.items()}
    page = signed_in.get("/history", {"over": "30d", **chosen}).content.decode()
    assert [
        f'value="{pk}" selected' in page.split(f'id="filter-{name}"')[1].split("</select>")[0]
        for name, pk in chosen.items()
    ] == [True] * 4


def test_a_sweep_over_part_of_the_series_says_so(
    signed_in: Client, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = make_plan(steps=STREAM, name="other")
    past_run(make, make_pair(), timezone.now() - timedelta(days=1), {"throughput_bps": 1e9})
    assert "Based on the first" not in signed_in.get("/history?view=sizes&over=30d").content.decode()
    for name in ("_LEAST_SERIES", "_MOST_SERIES"):
        monkeypatch.setattr(size_lines, name, 1)
    assert "Based on the first 1 of 2 series." in signed_in.get("/history?view=sizes&over=30d").content.decode()


def test_the_csv_has_every_point(signed_in: Client, pair: Pair) -> None:
    response = signed_in.get(f"/history.csv?pair={pair.pk}")
    rows = response.getvalue().decode().splitlines()
    assert response["Content-Disposition"] == 'attachment; filename="history.csv"'
    assert len(rows) == 1 + 7
    assert "alder (host) → birch (host),lab,tcp_stream" in rows[1]
    assert ",throughput_bps,bit/s," in rows[1]
    (first, *_rest) = csv.DictReader(rows)
    assert first["value"] == "1000000000.0"
    assert list(first)[-7:] == ["trial", *PAIR_IDS]
    assert [first[name] for name in PAIR_IDS] == list(map(str, pair_ids(pair).values()))


@pytest.mark.parametrize(
    "address", ["over=90d", "metric=retransmits", "view=heat&kind=tcp_rr", "view=sizes", "split=host", "plan=1"]
)
def test_it_shows_within_ten_queries(
    signed_in: Client, pair: Pair, address: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(MOST_QUERIES):
        response = signed_in.get(f"/history?{address}")
    assert response.status_code == 200
    assert "<h1>History</h1>" in response.content.decode()


def test_before_anything_was_measured_it_names_the_next_step(signed_in: Client) -> None:
    page = signed_in.get("/history").content.decode()
    assert "Next step: add a host." in page
    assert "charts-data" not in page


def test_filters_that_match_nothing_offer_everything(signed_in: Client, pair: Pair) -> None:
    page = signed_in.get("/history?pair=999").content.decode()
    assert "No results in this time range match these filters." in page


def test_htmx_pushes_the_address_without_empty_filters(signed_in: Client, pair: Pair) -> None:
    response = signed_in.get("/history?kind=tcp_stream&host=&split=", headers={"HX-Request": "true"})
    assert response["HX-Push-Url"] == "/history?kind=tcp_stream"


def test_a_note_is_written_in_the_readers_zone_and_listed(signed_in: Client, ada: User, pair: Pair) -> None:
    signed_in.cookies["zone"] = "Asia%2FShanghai"
    at = (timezone.now() - timedelta(days=1)).replace(second=0, microsecond=0)
    local = (at + timedelta(hours=8)).strftime("%Y-%m-%dT%H:%M")
    form = {"text": "new <switch>", "at": local, "until": "", "about": f"host:{pair.source.host_id}"}
    response = signed_in.post("/history/notes?over=7d", form)
    assert (response.status_code, response["Location"]) == (302, "/history?over=7d")
    note = Annotation.objects.get()
    assert (note.text, note.at, note.host, note.author) == ("new <switch>", at, pair.source.host, ada)
    page = signed_in.get(response["Location"]).content.decode()
    assert "new &lt;switch&gt;" in page
    assert [mark["label"] for mark in charts(page)[0]["marks"]] == ["new <switch>"]


def test_a_notes_time_with_an_offset_is_that_time(signed_in: Client, pair: Pair) -> None:
    signed_in.post("/history/notes", {"text": "fan", "at": "2026-03-01T02:00+08:00"})
    assert Annotation.objects.get().at == datetime(2026, 2, 28, 18, tzinfo=UTC)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"text": "", "at": "2026-03-01T02:00"}, "Describe briefly what happened."),
        ({"text": "fan", "at": "soon"}, "This is not a valid time"),
        ({"text": "fan", "at": "0001-01-01T00:00"}, "No results in that year"),
        ({"text": "fan", "at": "2026-03-01T02:00", "until": "2026-02-01T02:00"}, "ends before it begins"),
        ({"text": "fan", "at": "2026-03-01T02:00", "about": "host:999"}, "No such host"),
        ({"text": "fan", "at": "2026-03-01T02:00", "about": "user:1"}, "No such host"),
    ],
)
def test_a_note_that_cannot_be_is_refused_at_its_field(
    signed_in: Client, pair: Pair, form: dict[str, str], message: str
) -> None:
    page = signed_in.post("/history/notes?over=7d", form).content.decode()
    assert message in page
    assert f'value="{form["text"]}"' in page or not form["text"]
    assert Annotation.objects.count() == 0


def test_a_note_is_removed_once(signed_in: Client, pair: Pair) -> None:
    note = Annotation.objects.create(text="fan", at=timezone.now())
    response = signed_in.post(f"/history/notes/{note.pk}/remove?over=7d")
    assert response["Location"] == "/history?over=7d"
    again = signed_in.post(f"/history/notes/{note.pk}/remove", follow=True).content.decode()
    assert "The note has already been removed." in again


@pytest.mark.parametrize("address", ["/history", "/history.csv", "/history/charts.json"])
def test_a_stranger_is_asked_to_log_in(db: None, address: str) -> None:
    assert Client().get(address)["Location"] == f"/login?next={address}"


def test_a_kind_without_the_view_that_was_asked_for_is_shown_over_time(signed_in: Client, pair: Pair) -> None:
    page = signed_in.get("/history?view=heat&kind=tcp_stream").content.decode()
    assert "No results in this time range" not in page
    assert charts(page)[0]["form"] == "time"
    assert re.search(r'<a href="[^"]*" aria-current="page">Over time</a>', page)
    (sent,) = signed_in.get("/history/charts.json?view=heat&kind=tcp_stream").json()["charts"]
    assert sent["form"] == "time"


def test_a_run_that_is_asked_for_by_message_size_is_found_behind_hundreds_of_series(
    signed_in: Client, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = make_plan(steps=STREAM, name="other")
    run = past_run(make, make_pair(), timezone.now() - timedelta(days=1), {"throughput_bps": 1e9})
    for name in ("_LEAST_SERIES", "_MOST_SERIES"):
        monkeypatch.setattr(size_lines, name, 1)
    page = signed_in.get(f"/history?view=sizes&overlay=run&runs={run.pk}&over=30d").content.decode()
    assert [line["label"][: len(f"run {run.pk}")] for line in charts(page)[0]["series"]] == [f"run {run.pk}"]
    assert "Based on the first" not in page


def test_sizes_that_few_runs_measured_are_no_part_of_the_others_line(signed_in: Client, pair: Pair) -> None:
    sweep = make_plan(steps=[{"kind": "tcp_stream", "params": {"message_size_bytes": 256}}], name="sweep")
    past_run(sweep, pair, timezone.now() - timedelta(days=1), {"throughput_bps": 9e9})
    chart = charts(signed_in.get("/history?view=sizes&over=30d").content.decode())[0]
    lines = [(line["is_hollow"], [point["x"] for point in line["points"]]) for line in chart["series"]]
    assert lines == [(False, [64]), (True, [256])]
    assert chart["series"][1]["label"].endswith("(1 run)")


def test_runs_of_another_test_take_no_place_among_the_latest_by_message_size(signed_in: Client, pair: Pair) -> None:
    other = make_plan(steps=[{"kind": "tcp_rr", "params": {"duration_seconds": 1}}], name="other")
    for hour in range(9):
        past_run(other, pair, timezone.now() - timedelta(hours=hour + 1), {"transactions_per_second": 1e4})
    page = signed_in.get("/history?kind=tcp_stream&view=sizes&overlay=run&over=30d").content.decode()
    assert len(charts(page)[0]["series"]) == 7


def test_without_a_query_it_opens_on_the_pair_that_most_runs_measured(signed_in: Client, pair: Pair) -> None:
    other = make_pair(source=make_endpoint(host_name="cedar"), sink=make_endpoint(host_name="elm"))
    plan = Plan.objects.get()
    for hour in range(8):
        past_run(plan, other, timezone.now() - timedelta(hours=hour + 1), {"throughput_bps": 1e9})
    # Before any run is summed up, the pair of the latest series.
    assert signed_in.get("/history")["Location"] == f"/history?kind=tcp_stream&pair={other.pk}"
    for hour in range(9):
        past_run(plan, pair, timezone.now() - timedelta(hours=hour + 20), {"throughput_bps": 1e9})
    rebuild()
    answer = signed_in.get("/history", follow=True)
    assert dict(answer.context["view"].query.parameters) == {"message_size_bytes": "64"}
    assert answer.context["view"].query.pair == pair.pk
    assert len(charts(answer.content.decode())[0]["series"]) == 1


def test_it_opens_on_the_readers_last_pair_and_not_on_a_look_at_everything(signed_in: Client, pair: Pair) -> None:
    mine = f"over=7d&pair={pair.pk}"
    signed_in.get(f"/history?{mine}")
    signed_in.get("/history?over=90d")
    assert signed_in.get("/history")["Location"] == f"/history?{mine}"


def test_the_filters_read_as_a_sentence_of_what_is_chosen(signed_in: Client, pair: Pair) -> None:
    sweep = make_plan(steps=[{"kind": "tcp_stream", "params": {"message_size_bytes": 16384}}], name="sweep")
    past_run(sweep, pair, timezone.now() - timedelta(days=1), {"throughput_bps": 9e9})
    address = f"/history?pair={pair.pk}&p.message_size_bytes=16384"
    line = signed_in.get(address).context["view"].filters
    assert line.sentence == "Throughput, received · TCP stream · 16 KiB · alder (host) → birch (host) · last 90 days"
    assert {each.name for each in line.others} == {"environment", "host", "plan", "q", "split", "changes"}
    days = signed_in.get(f"{address}&from=2026-11-01&to=2026-11-20&plan={sweep.pk}").context["view"].filters
    assert days.sentence.endswith("birch (host) · sweep · 2026-11-01 – 2026-11-20")
