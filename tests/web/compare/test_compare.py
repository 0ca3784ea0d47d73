"""Runs beside each other: what differs, what can't be told, and that the address holds all of it."""

import csv
import io
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from benchweb.accounts.services import token_create
from benchweb.catalog import catalog
from benchweb.charts.comparison.rows import Entry
from benchweb.charts.export import PAIR_IDS, pair_ids
from benchweb.hosts.models import Pair
from benchweb.results.ingest import ingest, parsed_result
from benchweb.runs.models import Run, State
from benchweb.statistics import Verdict, difference
from benchweb.web.compare import words as compare_words
from tests.factories import make_pair, make_run

pytestmark = pytest.mark.django_db
# Session with its user, runs, trials, last results, facts.
PAGE_QUERIES = 5
MOST_QUERIES = 10
SWEEP = [{"kind": "tcp_stream", "params": {"message_size_bytes": [64, 1024], "duration_seconds": 1}}]
KERNEL = {
    "hostname": "a",
    "kernel": "6.1",
    "boot_id": "one",
    "engine_version": "0.1.0",
    "cpu": {"governor": "powersave"},
}


def finished(
    values: dict[int, list[float]],
    *,
    facts: dict[str, Any] | None = None,
    pair: Pair | None = None,
    steps: list[dict[str, Any]] = SWEEP,
    **metrics: float,
) -> Run:
    """Make a finished run with these throughputs by message size, and other metrics the same everywhere."""
    run = make_run(steps=steps, repetitions=max(map(len, values.values())), **({"pair": pair} if pair else {}))
    left = {size: iter(each) for size, each in values.items()}
    for trial in run.trials.order_by("index"):
        value = next(left[trial.params.get("message_size_bytes", 16384)])
        host = facts or KERNEL
        document = {"kind": trial.kind, "metrics": {"throughput_bps": value} | metrics, "source": host, "sink": host}
        assert ingest(trial=trial, result=parsed_result(trial.kind, document), state=State.FINISHED)
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED)
    return run


def around(value: float, count: int = 5) -> list[float]:
    return [value * (1 + (place - count // 2) / 1000) for place in range(count)]


@pytest.fixture
def slower() -> list[Run]:
    """Return a baseline, and a run that is 9 % slower at 1 KiB only."""
    return [finished({64: around(1e9), 1024: around(10e9)}), finished({64: around(1e9), 1024: around(9.1e9)})]


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def page_of(client: Client, query: str) -> str:
    answer = client.get(f"/compare?{query}")
    assert answer.status_code == 200
    # Numbers keep to their units.
    return answer.content.decode().replace("\xa0", " ")


def cells(html: str, row: int) -> list[str]:
    body = html.split("</tbody>")[1]
    return [text_of(cell) for cell in re.findall(r"<td.*?</td>", re.findall(r"<tr>.*?</tr>", body, re.S)[row], re.S)]


def test_what_is_worse_comes_first_with_interval_effect_and_count(signed_in: Client, slower: list[Run]) -> None:
    page = page_of(signed_in, f"runs={slower[0].pk},{slower[1].pk}")
    baseline, other = cells(page, 0)
    assert baseline.split() == ["10.0", "Gbit/s", "±0.20", "%", "·", "n=5"]
    assert "9.10 Gbit/s ±0.20 % · n=5 ▼ −9.0 % worse (−9.3 to −8.7 %) δ −1.00 large" in other
    assert "no significant change; smallest detectable change: 0.30 %" in cells(page, 1)[1]
    assert 'title="no significant change; smallest detectable change: 0.30 %"' in page
    assert text_of(page).count("doesn&#x27;t mean that there is no change") == 1
    assert "1 worse, 1 without a significant change." in text_of(page)


def test_the_baseline_is_the_first_in_the_address_and_turns_the_sign(signed_in: Client, slower: list[Run]) -> None:
    page = page_of(signed_in, f"runs={slower[1].pk},{slower[0].pk}")
    assert "▲ +9.9 % better" in text_of(page)
    assert f'href="/compare?runs={slower[0].pk},{slower[1].pk}"' in page


def test_three_repetitions_say_that_they_can_show_nothing(signed_in: Client) -> None:
    runs = [finished({64: around(1e9, 3), 1024: around(1e9, 3)}), finished({64: around(2e9, 3), 1024: around(5e9, 3)})]
    page = page_of(signed_in, f"runs={runs[0].pk},{runs[1].pk}")
    text = text_of(page)
    # Once above the table, in two words in each cell, and whole on hover.
    assert text.count("to compare runs: the minimum is 4 of each run, and more if many metrics are compared.") == 1
    assert all("too few repetitions" in cells(page, row)[1] for row in (0, 1))
    assert page.count('title="3 and 3 repetitions are too few (minimum 4 each)"') == 2
    assert "worse" not in text.split("How to read this")[0]


def test_a_single_repetition_has_no_spread_and_no_interval(signed_in: Client) -> None:
    runs = [finished({64: [1e9], 1024: [1e9]}), finished({64: [2e9], 1024: [1e9]})]
    page = page_of(signed_in, f"runs={runs[0].pk},{runs[1].pk}")
    assert 'title="a single repetition has no spread, so no change can be detected"' in page
    assert " to +" not in cells(page, 0)[1]


def test_what_one_run_lacks_is_missing_with_its_reason(signed_in: Client) -> None:
    steps = [{"kind": "tcp_stream", "params": {"message_size_bytes": [1024], "duration_seconds": 1}}]
    both, one = finished({64: around(1e9), 1024: around(1e9)}), finished({1024: around(1e9)}, steps=steps)
    both.trials.filter(params__message_size_bytes=1024).update(state=State.FAILED, reason="the sink died")
    page = page_of(signed_in, f"runs={one.pk},{both.pk}")
    assert "5 of 5 failed: the sink died" in cells(page, 0)[1]
    assert "not in this run&#x27;s plan" in cells(page, 1)[0]
    assert "1 missing, 1 not in the baseline." in text_of(page)


def test_runs_of_another_duration_are_compared_and_say_so(signed_in: Client) -> None:
    longer = [{"kind": "tcp_stream", "params": {"message_size_bytes": [64], "duration_seconds": 10}}]
    shorter = [{"kind": "tcp_stream", "params": {"message_size_bytes": [64], "duration_seconds": 1}}]
    runs = [finished({64: around(1e9)}, steps=shorter), finished({64: around(1e9)}, steps=longer)]
    page = page_of(signed_in, f"runs={runs[0].pk},{runs[1].pk}")
    assert "Duration: 10 s" in cells(page, 0)[1]


def test_facts_that_differ_stand_beside_the_figures_and_equal_ones_do_not(signed_in: Client) -> None:
    pair, changed = make_pair(), KERNEL | {"kernel": "6.6", "boot_id": "two"}
    sizes = {64: around(1e9), 1024: around(1e9)}
    runs = [finished(sizes, pair=pair), finished(sizes, pair=pair, facts=changed)]
    facts = text_of(page_of(signed_in, f"runs={runs[0].pk},{runs[1].pk}").split("</tbody>")[0])
    assert "≠ fact Kernel both hosts 6.1 6.6" in facts
    assert "≠ fact Boot id both hosts one two" in facts
    assert "Governor" not in facts and "Engine version" not in facts


def test_equal_facts_are_said_to_be_equal(signed_in: Client, slower: list[Run]) -> None:
    text = text_of(page_of(signed_in, f"runs={slower[0].pk},{slower[1].pk}"))
    assert "All reported host facts are the same in these runs" in text.replace("'", "&#x27;")


def test_the_curves_have_a_line_for_each_run(signed_in: Client, slower: list[Run]) -> None:
    query = f"runs={slower[0].pk},{slower[1].pk}"
    found = re.search(r'<script id="charts-data" type="application/json">(.*?)</script>', page_of(signed_in, query))
    assert found is not None
    charts = json.loads(found[1])
    assert charts == signed_in.get(f"/compare/charts.json?{query}").json()["charts"]
    (chart,) = charts
    assert (chart["title"], chart["subtitle"]) == ("Throughput by message size", "TCP stream · Throughput, received")
    assert [[point["y"] for point in line["points"]] for line in chart["series"]] == [[1e9, 10e9], [1e9, 9.1e9]]
    assert len({line["color"] for line in chart["series"]}) == 2
    assert [line["points"][0]["href"] for line in chart["series"]] == [f"/runs/{run.pk}" for run in slower]


def test_metrics_kind_and_order_are_in_the_address(signed_in: Client) -> None:
    sizes = {64: around(2e9), 1024: around(1e9)}
    runs = [finished(sizes, retransmits=3.0), finished(sizes, retransmits=3.0)]
    query = f"runs={runs[0].pk},{runs[1].pk}"
    assert "Retransmits" not in page_of(signed_in, query)
    every = page_of(signed_in, f"{query}&show=all&sort=plan")
    assert every.count("Retransmits<br>") == 2
    assert "identical in every repetition" in every
    assert f'href="/compare/results.csv?{query}&amp;show=all&amp;sort=plan"' in every
    assert "These runs have no comparable results" in page_of(signed_in, f"{query}&kind=udp_rr")
    assert "No significant changes." in page_of(signed_in, f"{query}&rows=differing")


def test_ticked_runs_lead_to_one_address_with_the_oldest_as_the_baseline(signed_in: Client, slower: list[Run]) -> None:
    answer = signed_in.get(f"/compare?runs={slower[1].pk}&runs={slower[0].pk}")
    assert (answer.status_code, answer["Location"]) == (302, f"/compare?runs={slower[0].pk},{slower[1].pk}")


def test_what_cannot_be_shown_is_said(signed_in: Client, slower: list[Run]) -> None:
    ids = f"{slower[0].pk},{slower[1].pk}"
    assert "Run 999999 doesn&#x27;t exist." in page_of(signed_in, f"runs={ids},999999")
    assert "Not a run number: x." in page_of(signed_in, f"runs={ids},x,{slower[0].pk}")
    many = ",".join(str(900_000 + number) for number in range(7))
    assert "Only the first 8 runs are shown; 1 more were requested." in page_of(signed_in, f"runs={ids},{many}")


def test_a_single_run_is_offered_its_neighbours(signed_in: Client) -> None:
    pair, sizes = make_pair(), {64: [1e9], 1024: [1e9]}
    first = finished(sizes, pair=pair)
    second = make_run(pair=pair)
    Run.objects.filter(pk=second.pk).update(state=State.FINISHED)
    page = page_of(signed_in, f"runs={second.pk}")
    # Another plan: among the latest, but no neighbour.
    assert "Earlier runs of this plan on this pair" not in page
    Run.objects.filter(pk=first.pk).update(plan_version=second.plan_version)
    page = page_of(signed_in, f"runs={second.pk}")
    assert "Earlier runs of this plan on this pair" in page
    assert f'href="/compare?runs={first.pk},{second.pk}"' in page


def test_runs_that_only_their_time_sets_apart_are_called_by_it_in_the_readers_zone(signed_in: Client) -> None:
    pair = make_pair()
    runs = [finished({64: around(1e9), 1024: around(9e9)}, pair=pair) for _ in range(2)]
    for hour, run in zip((15, 20), runs, strict=True):
        run.plan_version, run.started_at = runs[0].plan_version, datetime(2026, 11, 24, hour, 13, tzinfo=UTC)
        run.save()
    signed_in.cookies["zone"] = "Asia%2FShanghai"
    text = text_of(page_of(signed_in, f"runs={runs[0].pk},{runs[1].pk}"))
    assert f"Run {runs[0].pk} · 2026-11-24 23:13" in text
    assert f"Run {runs[1].pk} · 2026-11-25 04:13" in text


def test_without_a_run_the_page_says_what_it_is_for(signed_in: Client) -> None:
    assert "No runs yet." in page_of(signed_in, "")
    run = make_run()
    page = page_of(signed_in, "")
    assert f'name="runs" value="{run.pk}"' in page


def test_it_costs_the_same_queries_whatever_is_compared(
    signed_in: Client,
    slower: list[Run],
    django_assert_num_queries: DjangoAssertNumQueries,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    more = [finished({64: around(1e9), 1024: around(1e9)}) for _ in range(3)]
    for runs in (slower, [*slower, *more]):
        ids = ",".join(str(run.pk) for run in runs)
        with django_assert_num_queries(PAGE_QUERIES):
            signed_in.get(f"/compare?runs={ids}")
    for query in ("", f"?runs={slower[0].pk}", f"?runs={slower[0].pk},{slower[1].pk}&choose=1"):
        with django_assert_max_num_queries(MOST_QUERIES):
            signed_in.get(f"/compare{query}")


def test_the_csv_has_a_line_for_each_measure_and_run(signed_in: Client, slower: list[Run]) -> None:
    answer = signed_in.get(f"/compare/results.csv?runs={slower[0].pk},{slower[1].pk}")
    assert answer["Content-Disposition"] == f'attachment; filename="compare-{slower[0].pk}-{slower[1].pk}.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert len(rows) == 4
    worst = rows[1]
    assert (worst["params"], worst["median"], worst["n"]) == ("message_size_bytes=1024", "9100000000.0", "5")
    assert (worst["verdict"], worst["change"], float(worst["cliffs_delta"])) == ("different", "worse", -1.0)
    assert float(worst["difference_ratio"]) == pytest.approx(-0.09)
    assert rows[0]["verdict"] == rows[0]["p_value"] == ""
    for row, run in zip(rows[:2], slower, strict=False):
        assert [row[name] for name in PAIR_IDS] == list(map(str, pair_ids(run.pair).values()))


def test_the_json_has_every_value_and_the_api_gives_the_same(signed_in: Client, ada: User, slower: list[Run]) -> None:
    query = f"runs={slower[0].pk},{slower[1].pk}"
    document = signed_in.get(f"/compare/results.json?{query}").json()
    first = document["measures"][0]
    assert (first["metric"], first["better"], first["entries"][0]["values"]) == (
        "throughput_bps",
        "higher",
        around(10e9),
    )
    assert first["entries"][1]["p_value"] == 2 / 252
    assert document["facts"] == []
    _, token = token_create(user=ada, name="compare")
    headers = {"Authorization": f"Bearer {token}"}
    answer = Client().get(f"/api/v1/compare?{query}", headers=headers)
    assert answer.status_code == 200
    assert answer.json()["measures"] == document["measures"]
    assert Client().get(f"/api/v1/compare?runs={slower[0].pk},999999", headers=headers).status_code == 422
    assert Client().get(f"/api/v1/compare?runs={slower[0].pk}", headers=headers).status_code == 422


def test_exports_of_fewer_than_two_runs_are_not_found(signed_in: Client, slower: list[Run]) -> None:
    for name in ("csv", "json"):
        assert signed_in.get(f"/compare/results.{name}?runs={slower[0].pk}").status_code == 404


def test_a_stranger_is_sent_to_the_log_in_page(client: Client) -> None:
    assert client.get("/compare?runs=1,2")["Location"] == "/login?next=/compare%3Fruns%3D1%2C2"


def test_where_nothing_can_be_told_no_interval_stands_beside_it(signed_in: Client) -> None:
    runs = [finished({64: around(1e9, 3), 1024: around(1e9, 3)}), finished({64: around(2e9, 3), 1024: around(5e9, 3)})]
    page = page_of(signed_in, f"runs={runs[0].pk},{runs[1].pk}")
    for row in (0, 1):
        assert re.search(r"▲ \+\d00 % too few repetitions", cells(page, row)[1])


def test_an_interval_that_would_be_below_nothing_is_told_in_the_unit(signed_in: Client) -> None:
    wide, low = [1e9, 2e9, 3e9, 4e9, 5e9], [0.1e9, 0.2e9, 1e9, 2e9, 3e9]
    runs = [finished({64: wide, 1024: wide}), finished({64: low, 1024: low})]
    page = page_of(signed_in, f"runs={runs[0].pk},{runs[1].pk}")
    told = cells(page, 0)[1]
    assert "▼ −2.00 Gbit/s (−4.00 to +1.00 Gbit/s)" in told


def test_a_run_of_another_path_says_so_and_of_the_other_direction(signed_in: Client) -> None:
    there = make_pair()
    back, other = make_pair(source=there.sink, sink=there.source, environment=there.environment.name), make_pair()
    runs = [finished({64: around(1e9), 1024: around(1e9)}, pair=pair) for pair in (there, there, back, other)]
    text = text_of(page_of(signed_in, "runs=" + ",".join(str(run.pk) for run in runs)))
    assert text.count("Reverse direction of the baseline&#x27;s path") == 1
    assert text.count("Different path from the baseline") == 1


@pytest.mark.parametrize(("least", "words"), [(2e9, "smallest detectable change: 20 %"), (1.3201e9, ""), (1.2e9, "")])
def test_no_smaller_difference_is_said_to_show_than_one_that_did_not(least: float, words: str) -> None:
    found = replace(
        difference(around(10e9), around(10e9)), difference=-1.32e9, is_constant=False, least_shift_shown=least
    )
    entry = Entry(around(10e9), None, "", is_planned=True, difference=found, verdict=Verdict.NONE_SHOWN)
    metric = catalog().kinds["tcp_stream"].metrics["throughput_bps"]
    told = compare_words.words(entry, metric, judged=1)
    assert told is not None
    assert (
        told.verdict.removeprefix("no significant change").removeprefix("; ").replace("20.0", "20").replace("\xa0", " ")
        == words
    )


def test_what_a_run_never_planned_is_not_counted_as_missing(signed_in: Client) -> None:
    steps = [{"kind": "tcp_stream", "params": {"message_size_bytes": [1024], "duration_seconds": 1}}]
    both, one = finished({64: around(1e9), 1024: around(1e9)}), finished({1024: around(1e9)}, steps=steps)
    text = text_of(page_of(signed_in, f"runs={both.pk},{one.pk}"))
    assert "1 not in its plan" in text
    assert "missing" not in text.split("Metrics")[0]


def test_where_the_interval_leaves_out_zero_it_says_that_the_ranks_do_not_tell(signed_in: Client) -> None:
    low, high = [1.61e9, 1.66e9, 1.11e9, 1.2e9], [2.02e9, 2.1e9, 2.09e9, 1.51e9, 2.01e9]
    runs = [finished({64: low, 1024: low}), finished({64: high, 1024: high})]
    told = cells(page_of(signed_in, f"runs={runs[0].pk},{runs[1].pk}"), 0)[1]
    assert re.search(r"\(\+\S+ to \+\S+ %\) .* no significant change by the rank-sum test", told), told


def test_runs_of_which_no_facts_are_known_are_not_said_to_have_the_same(signed_in: Client) -> None:
    runs = [make_run(), make_run()]
    text = text_of(page_of(signed_in, f"runs={runs[0].pk},{runs[1].pk}"))
    assert f"No facts are known for run {runs[1].pk}." in text
    assert "All reported host facts are the same" not in text
