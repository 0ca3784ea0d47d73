"""The list of runs: filters, sorting and paging live in the URL."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from benchweb.runs.models import Run, State
from benchweb.web.shared.lists import PAGE_SIZE
from tests.factories import make_endpoint, make_pair, make_run
from tests.responses import Response

pytestmark = pytest.mark.django_db
# Session with its user, runs, columns, trials' counts, figures, and the choices of four filters.
PAGE_QUERIES = 10


@pytest.fixture
def reader(client: Client, django_user_model: type[User]) -> Client:
    client.force_login(django_user_model.objects.create_user("reader"))
    return client


def shown(answer: Response) -> list[int]:
    return [row.run.pk for row in answer.context["rows"]]


def test_a_stranger_is_sent_to_the_log_in_page(client: Client) -> None:
    assert client.get("/runs")["Location"] == "/login?next=/runs"


def test_the_newest_run_comes_first(reader: Client) -> None:
    first, second = make_run(), make_run()
    assert shown(reader.get("/runs")) == [second.pk, first.pk]


def test_each_filter_keeps_what_it_names(reader: Client) -> None:
    other = make_run(name="other")
    pair = make_pair(source=make_endpoint(host_name="needle"), environment="lab two")
    run = make_run(pair=pair, name="wanted")
    Run.objects.filter(pk=run.pk).update(state=State.FAILED, reason="the sink died")
    filters = [
        "state=failed",
        f"plan={run.plan_version.plan_id}",
        f"pair={pair.pk}",
        f"environment={pair.environment_id}",
        f"host={pair.source.host_id}",
        f"host={pair.sink.host_id}",
        "q=wanted",
        "q=needle",
        "q=SINK+died",
        f"q={run.pk}",
    ]
    for query in filters:
        assert shown(reader.get(f"/runs?{query}")) == [run.pk], query
    assert shown(reader.get("/runs")) == [run.pk, other.pk]


def test_nonsense_in_the_url_shows_nothing_rather_than_failing(reader: Client) -> None:
    make_run()
    for query in ("plan=x", "pair=-1", f"host={2**64}", "environment=%D9%A3", "q=no+such"):
        assert shown(reader.get(f"/runs?{query}")) == [], query
    assert len(shown(reader.get("/runs?state=nonsense"))) == 1


def test_runs_without_a_whole_result_are_one_filter(reader: Client) -> None:
    runs = {state: make_run() for state in State.values}
    for state, run in runs.items():
        Run.objects.filter(pk=run.pk).update(state=state)
    bad = ("failed", "cancelled", "missed", "nonstart")
    assert sorted(shown(reader.get("/runs?state=without"))) == sorted(runs[state].pk for state in bad)


def test_htmx_gets_the_filters_and_the_table_and_a_url_without_empty_filters(reader: Client) -> None:
    make_run()
    answer = reader.get("/runs?q=&state=pending&plan=", headers={"HX-Request": "true"})
    page = answer.content.decode()
    assert "<html" not in page
    assert page.count('id="runs-page"') == page.count('id="filters"') == page.count('id="runs"') == 1
    assert answer["HX-Push-Url"] == "/runs?state=pending"


def test_the_list_pages_without_losing_or_repeating_a_run(reader: Client) -> None:
    run = make_run()
    Run.objects.bulk_create(
        Run(
            campaign=type(run.campaign).objects.create(plan_version=run.plan_version),
            pair=run.pair,
            plan_version=run.plan_version,
        )
        for _ in range(PAGE_SIZE + 10)
    )
    first = reader.get("/runs?state=pending")
    second = reader.get(f"/runs{first.context['listing'].next_url}")
    assert len(shown(first)) == PAGE_SIZE
    assert len(shown(second)) == 11
    assert sorted(shown(first) + shown(second)) == sorted(Run.objects.values_list("pk", flat=True))
    assert second.context["listing"].next_url == ""


def test_the_list_costs_the_same_queries_whatever_its_length(
    reader: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for count in (1, 5):
        for _ in range(count):
            make_run()
        with django_assert_num_queries(PAGE_QUERIES):
            assert reader.get("/runs").status_code == 200


def test_an_empty_list_says_what_will_be_here_and_what_is_next(reader: Client) -> None:
    assert "Next step: add a host." in reader.get("/runs").content.decode()
    assert "Next step: add a host." in reader.get("/runs?q=nothing").content.decode()
    make_run()
    assert "No run matches these filters." in reader.get("/runs?q=nothing").content.decode()


def test_a_run_without_a_result_says_why_and_one_that_waited_when_it_began(reader: Client) -> None:
    run = make_run()
    began = run.created_at + timedelta(minutes=7)
    Run.objects.filter(pk=run.pk).update(state=State.FAILED, reason="the sink is gone", started_at=began)
    page = reader.get("/runs").content.decode()
    assert '<div class="why row-why" title="the sink is gone">the sink is gone</div>' in page
    assert re.search(r"started <time", page)
    Run.objects.filter(pk=run.pk).update(started_at=run.created_at + timedelta(seconds=5))
    assert not re.search(r"started <time", reader.get("/runs").content.decode())
