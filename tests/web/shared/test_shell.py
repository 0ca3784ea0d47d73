"""The shell around every page, the log-in, and the overview."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import Client, override_settings
from django.utils import timezone, translation
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.models import Endpoint
from benchweb.regressions.models import Alert
from benchweb.runs.models import Run, State
from tests.factories import make_alert, make_endpoint, make_pair, make_run

pytestmark = pytest.mark.django_db
# Session with its user, last night's runs, alerts in numbers, the worst of them, environments' nights, incomplete runs,
# slots without a result, running and last runs, their trials, hosts, slots to come.
OVERVIEW_QUERIES = 10


def words(html: str) -> str:
    """Return what a reader sees, on one line."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


@pytest.fixture
def reader(client: Client, django_user_model: type[User]) -> Client:
    client.force_login(django_user_model.objects.create_user("reader"))
    return client


def test_a_right_password_leads_to_the_page_that_was_asked_for(client: Client, django_user_model: type[User]) -> None:
    django_user_model.objects.create_user("reader", password="a-long-password")
    answer = client.post("/login", {"username": "reader", "password": "a-long-password", "next": "/runs?state=failed"})
    assert answer["Location"] == "/runs?state=failed"


def test_a_wrong_password_says_so_keeps_the_name_and_logs_nobody_in(
    client: Client, django_user_model: type[User]
) -> None:
    django_user_model.objects.create_user("reader", password="a-long-password")
    page = client.post("/login", {"username": "reader", "password": "wrong"}).content.decode()
    assert "Wrong user name or password." in page
    assert 'value="reader"' in page
    assert client.get("/").status_code == 302


def test_log_in_does_not_lead_to_another_site(client: Client, django_user_model: type[User]) -> None:
    django_user_model.objects.create_user("reader", password="a-long-password")
    form = {"username": "reader", "password": "a-long-password", "next": "https://elsewhere.example/"}
    assert client.post("/login", form)["Location"] == "/"


@override_settings(DEMO=True)
def test_the_demo_tells_its_password_on_the_log_in_page(client: Client) -> None:
    assert "<code>demo</code> with the password <code>demo</code>" in client.get("/login").content.decode()


def test_outside_the_demo_the_log_in_page_tells_no_password(client: Client) -> None:
    assert "<code>demo</code>" not in client.get("/login").content.decode()


def test_logging_out_takes_a_post(reader: Client) -> None:
    assert reader.get("/logout").status_code == 405
    assert reader.post("/logout")["Location"] == "/login"
    assert reader.get("/").status_code == 302


def test_the_navigation_marks_the_section_that_is_shown(reader: Client) -> None:
    run = make_run()
    for path in ("/runs", f"/runs/{run.pk}"):
        page = reader.get(path).content.decode()
        assert page.count('aria-current="page"') == 1
        assert '<a href="/runs" data-key="r" aria-current="page">Runs</a>' in page


def test_the_navigation_has_five_groups_of_pages_that_exist(reader: Client) -> None:
    groups = reader.get("/").context["navigation_groups"]()
    assert [group.label for group in groups] == ["Today", "Explore", "Tests", "Inventory", "Settings"]
    sections = [section for group in groups for section in group.sections]
    assert len({section.key for section in sections}) == len(sections)
    assert [section.url for section in sections if reader.get(section.url).status_code != 200] == []


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("/thresholds", "Alerts"),
        ("/campaigns", "Runs"),
        ("/launch", "Plans"),
        ("/timeline/week", "Calendar"),
        ("/imports", "Runs"),
    ],
)
def test_a_page_without_a_section_belongs_to_one(reader: Client, path: str, label: str) -> None:
    groups = reader.get(path).context["navigation_groups"]()
    assert [section.label for group in groups for section in group.sections if section.current] == [label]


def test_the_navigation_counts_the_open_alerts(reader: Client) -> None:
    assert "open" not in words(reader.get("/alerts/count").content.decode())
    make_alert()
    make_alert(Alert.State.ACKNOWLEDGED)
    snoozed = make_alert()
    Alert.objects.filter(pk=snoozed.pk).update(snoozed_until=timezone.now() + timedelta(hours=1))
    assert words(reader.get("/alerts/count").content.decode()).strip() == "1 open 1 open alert"


@pytest.mark.parametrize("path", ["/alerts", "/search?q=x", "/plans"])
def test_the_navigation_is_on_pages_that_have_groups_of_their_own(signed_in: Client, path: str) -> None:
    page = signed_in.get(path).content.decode()
    rail = page.partition('aria-label="Sections"')[2].partition("</nav>")[0]
    assert 'href="/runs"' in rail
    assert "<kbd>p</kbd> Plans" in page.partition('id="keys"')[2]


def test_a_stranger_is_shown_no_navigation(db: None, client: Client) -> None:
    assert 'class="rail"' not in client.get("/no-such-page").content.decode()
    assert 'class="rail"' not in client.get("/login").content.decode()


def test_no_page_has_inline_script_or_style(reader: Client) -> None:
    run = make_run()
    for path in ("/", "/runs", f"/runs/{run.pk}"):
        page = reader.get(path).content.decode()
        assert "style=" not in page
        assert "onclick" not in page
        assert page.count("<script") == page.count("<script src=") + page.count('type="application/json"')


def test_an_empty_overview_names_the_next_step(reader: Client) -> None:
    assert "Next step: add a host." in reader.get("/").content.decode()
    make_endpoint()
    assert "Next step: add another host" in reader.get("/").content.decode()
    make_endpoint()
    assert "Next step: create a pair of two endpoints" in reader.get("/").content.decode()


def test_the_overview_tells_running_runs_from_ended_ones_and_names_silent_hosts(reader: Client) -> None:
    silent = make_endpoint(host_name="quiet")
    Endpoint.objects.filter(pk=silent.pk).update(status="unreachable", status_reason="10.0.0.9:7410 refused")
    running, ended = make_run(pair=make_pair(source=silent)), make_run()
    Run.objects.filter(pk=running.pk).update(state=State.RUNNING, started_at=timezone.now())
    Run.objects.filter(pk=ended.pk).update(state=State.FINISHED)
    answer = reader.get("/")
    assert [row.run.pk for row in answer.context["running"]] == [running.pk]
    assert [row.run.pk for row in answer.context["last"]] == [ended.pk]
    assert "10.0.0.9:7410 refused" in answer.content.decode()
    assert "0 of 4 hosts healthy." in answer.content.decode()


def test_a_running_run_tells_how_long_it_will_take(reader: Client) -> None:
    run = make_run(steps=[{"kind": "tcp_stream", "params": {"duration_seconds": 20}}], repetitions=2)
    Run.objects.filter(pk=run.pk).update(state=State.RUNNING, started_at=timezone.now())
    row = reader.get("/").context["running"][0]
    assert 39 < (row.ends_at - timezone.now()).total_seconds() <= 40


def test_the_overview_costs_the_same_queries_whatever_it_shows(
    reader: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for count in (1, 6):
        for _ in range(count):
            make_run()
        with django_assert_num_queries(OVERVIEW_QUERIES):
            assert reader.get("/").status_code == 200


def test_a_page_that_does_not_exist_says_so_and_leads_on(reader: Client) -> None:
    answer = reader.get("/no-such-page")
    assert answer.status_code == 404
    assert "There is no page at <code>/no-such-page</code>" in answer.content.decode()
    assert '<a class="btn" href="/">Overview</a>' in answer.content.decode()


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("/runs/{run}/again", "/runs/{run}"),
        ("/views/save", "/views"),
        ("/schedules/7/pause", "/schedules/7"),
        ("/endpoints/7/check", "/"),
        ("/logout", "/"),
    ],
)
def test_the_address_of_a_button_says_so_when_it_is_opened_and_leads_to_its_page(
    reader: Client, path: str, page: str
) -> None:
    """As after a log-in that a button led to, the session having ended."""
    run = make_run().pk
    answer = reader.get(path.format(run=run))
    assert answer.status_code == 405
    assert "POST" in answer["Allow"]
    assert "accepts forms only" in answer.content.decode()
    assert f'<a class="btn" href="{page.format(run=run)}">Back to the page</a>' in answer.content.decode()
    assert Run.objects.count() == 1


def test_the_page_of_a_fault_stands_alone() -> None:
    assert '<a href="/">overview</a>' in render_to_string("500.html")
    with translation.override("zh-hans"):
        assert '<html lang="zh-hans">' in render_to_string("500.html")
