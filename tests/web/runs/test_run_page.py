"""The run page: the permalink that a colleague gets."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from benchweb.regressions.judge import judge_run
from benchweb.regressions.models import Alert
from benchweb.results.ingest import ingest, parsed_result
from benchweb.results.run_summaries import write_figures
from benchweb.runs.models import Run, State
from tests.charts.history_rows import past_run
from tests.factories import SIZES, make_pair, make_plan, make_run
from tests.regressions.judged import level, night

pytestmark = pytest.mark.django_db
# Session with its user, run, its import, trials, two neighbours, what is usual, last result's facts, the facts, events.
PAGE_QUERIES = 10


@pytest.fixture
def reader(client: Client, django_user_model: type[User]) -> Client:
    client.force_login(django_user_model.objects.create_user("reader"))
    return client


def finish(run: Run, throughput_bps: list[float], more_facts: dict[str, Any] | None = None) -> None:
    """Give a run's stream trials these throughputs, all others a transaction rate."""
    values = iter(throughput_bps)
    for trial in run.trials.order_by("index"):
        metrics = (
            {"throughput_bps": next(values)} if trial.kind == "tcp_stream" else {"transactions_per_second": 31000.0}
        )
        facts = {"hostname": "a", "kernel": "6.1"} | (more_facts or {})
        document = {
            "kind": trial.kind,
            "metrics": metrics,
            "flags": [],
            "source": facts,
            "sink": facts | {"kernel": "6.6"},
        }
        assert ingest(trial=trial, result=parsed_result(trial.kind, document), state=State.FINISHED)
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED)


def charts_of(page: str) -> list[dict[str, Any]]:
    found = re.search(r'<script id="charts-data" type="application/json">(.*?)</script>', page)
    assert found
    specs: list[dict[str, Any]] = json.loads(found[1])
    return specs


def test_a_stranger_is_sent_to_the_log_in_page_and_back(client: Client) -> None:
    run = make_run()
    answer = client.get(f"/runs/{run.pk}")
    assert answer.status_code == 302
    assert answer["Location"] == f"/login?next=/runs/{run.pk}"


def test_a_finished_run_says_its_figure_at_the_middle_size_with_spread_and_repetitions(reader: Client) -> None:
    run = make_run(steps=SIZES, repetitions=1)
    finish(run, [1e9, 5e9, 16.3e9])
    page = reader.get(f"/runs/{run.pk}").content.decode()
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page))
    assert "4 of 4 trials finished." in text
    assert "TCP stream at 1 KiB 5.00 Gbit/s n=1" in text
    assert "31.0 k transactions/s n=1" in text


def test_a_run_tells_of_a_fall_that_the_runs_before_have_too(reader: Client) -> None:
    pair, plan = make_pair(), make_plan()
    runs = []
    for number in range(48):
        rate = level(number, 1.0 if number < 20 else 0.7)
        runs.append(past_run(plan, pair, night(number - 60), {"throughput_bps": rate}))
        write_figures()
        judge_run(runs[-1].pk)
    told = f'href="/alerts/{Alert.objects.get().pk}" title="As its alert tells it: the level before and since">▼ −30'
    pages = [reader.get(f"/runs/{runs[place].pk}").content.decode() for place in (19, 20, 47)]
    assert "▼ −30" in pages[1]
    assert [told in page for page in pages] == [False, True, True]


def test_a_run_page_costs_the_same_queries_whatever_its_length(
    reader: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    small, large = make_run(), make_run(steps=SIZES, repetitions=5)
    finish(small, [1e9])
    finish(large, [1e9] * 15)
    for run in (small, large):
        with django_assert_num_queries(PAGE_QUERIES):
            assert reader.get(f"/runs/{run.pk}").status_code == 200


def test_the_page_carries_the_same_charts_as_charts_json(reader: Client) -> None:
    run = make_run(steps=SIZES, repetitions=1)
    finish(run, [1e9, 5e9, 16.3e9])
    page = reader.get(f"/runs/{run.pk}").content.decode()
    charts = charts_of(page)
    assert charts == reader.get(f"/runs/{run.pk}/charts.json").json()["charts"]
    assert [point["y"] for point in charts[0]["series"][0]["points"]] == [1e9, 5e9, 16.3e9]


def test_facts_that_differ_between_the_hosts_are_marked(reader: Client) -> None:
    run = make_run()
    finish(run, [1e9])
    page = reader.get(f"/runs/{run.pk}").content.decode()
    assert page.count("≠ differs") == 1
    assert re.search(r"Kernel <span class=\"differs-mark\">", page)


def test_what_hosts_do_not_tell_is_said_in_the_readers_language_and_their_values_as_they_are(reader: Client) -> None:
    run = make_run()
    facts = {"kernel": "host", "missing": ["speed of eth0: the driver tells none"]}
    finish(run, [1e9], facts)
    page = reader.get(f"/runs/{run.pk}", headers={"Accept-Language": "zh-CN"}).content.decode()
    # Both hosts tell the same: one cell over two columns.
    assert page.count('<td colspan="2">eth0 的速率：驱动未提供</td>') == 1
    assert "<td>host</td>" in page


def test_htmx_gets_only_what_changes(reader: Client) -> None:
    run = make_run()
    part = reader.get(f"/runs/{run.pk}", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert 'id="run-trials" hx-swap-oob="true"' in part


def test_an_open_run_can_be_cancelled_and_says_what_is_lost(reader: Client) -> None:
    run = make_run(steps=SIZES, repetitions=3)
    page = reader.get(f"/runs/{run.pk}").content.decode()
    assert "0 of 12 trials are complete and are kept." in page
    answer = reader.post(f"/runs/{run.pk}/cancel", follow=True)
    run.refresh_from_db()
    assert run.state == State.CANCELLED
    assert "cancelled before it started" in answer.content.decode()


def test_cancelling_by_get_is_refused_and_changes_nothing(reader: Client) -> None:
    run = make_run()
    assert reader.get(f"/runs/{run.pk}/cancel").status_code == 405
    run.refresh_from_db()
    assert run.state == State.PENDING


def test_a_run_launched_again_repeats_the_plan_version_on_the_pair(reader: Client) -> None:
    run = make_run()
    finish(run, [1e9])
    answer = reader.post(f"/runs/{run.pk}/again")
    again = Run.objects.exclude(pk=run.pk).get()
    assert answer["Location"] == f"/runs/{again.pk}"
    assert (again.plan_version_id, again.pair_id) == (run.plan_version_id, run.pair_id)


def test_a_run_on_an_archived_host_is_not_launched_again_and_says_why(reader: Client) -> None:
    run = make_run()
    finish(run, [1e9])
    host = run.pair.source.host
    type(host).objects.filter(pk=host.pk).update(archived_at=run.created_at)
    answer = reader.post(f"/runs/{run.pk}/again", follow=True)
    assert Run.objects.count() == 1
    assert f"its host {host.name} is archived" in answer.content.decode()


def test_a_run_that_is_not_there_is_a_404(reader: Client) -> None:
    for path in ("", "/charts.json", "/results.csv", "/results.json"):
        assert reader.get(f"/runs/9999{path}").status_code == 404


def test_a_reason_with_markup_stays_text(reader: Client) -> None:
    run = make_run()
    Run.objects.filter(pk=run.pk).update(state=State.FAILED, reason="<script>alert(1)</script>")
    page = reader.get(f"/runs/{run.pk}").content.decode()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_exports_are_the_apis_own_files(reader: Client) -> None:
    run = make_run()
    finish(run, [16.3e9])
    answer = reader.get(f"/runs/{run.pk}/results.csv")
    assert answer["Content-Disposition"] == f'attachment; filename="run-{run.pk}.csv"'
    assert "16300000000.0" in answer.getvalue().decode()
    document = json.loads(reader.get(f"/runs/{run.pk}/results.json").getvalue())
    assert document["trials"][0]["metrics"] == {"throughput_bps": 16.3e9}


def test_ends_of_unlike_mtu_are_named_in_the_head(reader: Client) -> None:
    run = make_run(steps=SIZES, repetitions=1)
    finish(run, [1e9, 5e9, 16.3e9], {"interfaces": [{"name": "eth0", "mtu": 1500}]})
    assert "the MTU is" not in reader.get(f"/runs/{run.pk}").content.decode()
    sink = run.trials.order_by("-index")[0].result.sink_facts
    assert sink is not None
    sink.document = sink.document | {"interfaces": [{"name": "eth0", "mtu": 9000}]}
    sink.save()
    assert "the MTU is 1500 B at the source and 9000 B at the sink" in reader.get(f"/runs/{run.pk}").content.decode()


def test_the_head_says_from_when_to_when_and_in_which_zone(reader: Client) -> None:
    run = make_run()
    begin = datetime(2026, 3, 1, 23, 58, tzinfo=UTC)
    times = {"state": State.FINISHED, "started_at": begin, "finished_at": begin + timedelta(seconds=61)}
    Run.objects.filter(pk=run.pk).update(**times)
    text = re.sub(r"<[^>]+>", "", reader.get(f"/runs/{run.pk}").content.decode())
    assert "2026-03-01 23:58:00–23:59:01 UTC, took 1 min 1 s" in text
    Run.objects.filter(pk=run.pk).update(finished_at=begin + timedelta(minutes=3))
    text = re.sub(r"<[^>]+>", "", reader.get(f"/runs/{run.pk}").content.decode())
    assert "2026-03-01 23:58:00–2026-03-02 00:01:00 UTC, took 3 min" in text
    Run.objects.filter(pk=run.pk).update(state=State.NONSTART, started_at=None)
    assert "ended " in re.sub(r"<[^>]+>", "", reader.get(f"/runs/{run.pk}").content.decode())


def test_the_addresses_that_a_run_used_are_told(reader: Client) -> None:
    run = make_run()
    assert "Addresses used" not in reader.get(f"/runs/{run.pk}").content.decode()
    sink = {"control": "192.0.2.7", "data": "2001:db8::7", "data_port": 7411}
    Run.objects.filter(pk=run.pk).update(addresses={"source": {"control": "192.0.2.1"}, "sink": sink})
    page = " ".join(re.sub(r"<[^>]*>", " ", reader.get(f"/runs/{run.pk}").content.decode()).split())
    told = "Control 192.0.2.1 192.0.2.7 Test traffic chosen by the host's routes 2001:db8::7 port 7411"
    assert re.search(rf"Addresses used Fact \S+ source \S+ sink {re.escape(told)}", page)
