"""No page leads to what its reader may not do, by link, form, button or htmx; what they may do is offered."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from benchweb.accounts.models import Grant, Role
from benchweb.accounts.permissions import Access
from benchweb.runs.models import Run, State
from tests.accounts.links import Lead, leads_of, refused_leads
from tests.accounts.test_routes import client_of, user_of
from tests.factories import make_alert, make_endpoint, make_pair, make_run, make_schedule
from tests.web.test_every_page import OF_A_ROW, WITHOUT_ARGUMENT, url_of

# Those that have no place among the pages of definitions.
OTHERS = ["/", "/runs", "/history", "/search?q=host", "/imports", "/views", "/views/menu", "/launch?plan=1"]
OTHERS += [f"{path}?archived=1" for path in ("/hosts", "/pairs", "/plans", "/environments", "/schedules", "/reports")]
OTHERS += [f"{path}?archived=1" for path in ("/thresholds", "/sensitivities", "/baselines", "/notifications")]
LOW = (Role.VIEWER, Role.OPERATOR, Role.EDITOR)


def readers(db: None) -> dict[Role, Client]:
    return {role: client_of(user_of(role)) for role in LOW}


def wrong_leads(clients: dict[Role, Client], address: str) -> Iterator[tuple[Role, Lead]]:
    for role, client in clients.items():
        response = client.get(address)
        assert response.status_code in (200, 403), (address, response.status_code)
        if response.status_code == 200 and not response.streaming:
            yield from ((role, lead) for lead in refused_leads(response.content.decode(), address, Access(role)))


def run_of(state: str) -> Run:
    run = make_run(pair=make_pair())
    Run.objects.filter(pk=run.pk).update(state=state)
    return run


@pytest.mark.parametrize("name", WITHOUT_ARGUMENT + OF_A_ROW)
def test_a_page_of_definitions_leads_nowhere_that_is_refused(db: None, name: str) -> None:
    assert list(wrong_leads(readers(db), url_of(name))) == []


@pytest.mark.parametrize("address", OTHERS)
@pytest.mark.parametrize("is_empty", [False, True])
def test_nor_does_another_with_rows_or_without(db: None, address: str, is_empty: bool) -> None:
    if not is_empty:
        make_schedule(target={"pairs": [run_of(State.FINISHED).pair_id]})
        make_alert()
        run_of(State.PENDING)
    assert list(wrong_leads(readers(db), address)) == []


@pytest.mark.parametrize("state", [State.PENDING, State.RUNNING, State.FINISHED, State.FAILED, State.NONSTART])
def test_nor_does_a_run(db: None, state: str) -> None:
    run = run_of(state)
    clients = readers(db)
    pages = [f"/runs/{run.pk}", f"/runs/{run.pk}/trials/1", f"/runs/{run.pk}/shares", f"/runs/{run.pk}/baseline"]
    assert [each for page in [*pages, f"/share?path=/pairs/{run.pair_id}"] for each in wrong_leads(clients, page)] == []
    part = {role: client.get(f"/runs/{run.pk}", headers={"HX-Request": "true"}) for role, client in clients.items()}
    for role, response in part.items():
        assert refused_leads(response.content.decode(), f"/runs/{run.pk}", Access(role)) == []


@pytest.mark.parametrize("number", [0, 1, 2])
def test_nor_do_first_steps(db: None, number: int) -> None:
    ends = [make_endpoint() for _ in range(number)]
    clients = readers(db)
    pages = ["/", "/hosts", "/pairs", "/plans", "/schedules", "/runs", "/campaigns", "/matrix", "/compare", "/launch"]
    pages += [f"/hosts/{end.host_id}" for end in ends]
    assert [each for page in pages for each in wrong_leads(clients, page)] == []


def test_what_a_reader_may_do_is_offered(db: None) -> None:
    run = run_of(State.FINISHED)
    offered = {
        role: leads_of(client.get(f"/runs/{run.pk}").content.decode(), f"/runs/{run.pk}")
        for role, client in readers(db).items()
    }
    again, pin = Lead("POST", f"/runs/{run.pk}/again"), Lead("GET", f"/runs/{run.pk}/pin")
    assert {role for role, leads in offered.items() if again in leads} == {Role.OPERATOR, Role.EDITOR}
    assert {role for role, leads in offered.items() if pin in leads} == {Role.EDITOR}


def test_in_an_environment_it_is_offered_by_the_role_there(db: None, settings: Settings) -> None:
    settings.DEFAULT_ROLE = "viewer"
    lab, field = make_run(pair=make_pair(environment="lab")), make_run(pair=make_pair(environment="field"))
    Run.objects.update(state=State.FINISHED)
    olga = User.objects.create_user("olga")
    Grant.objects.create(user=olga, role=Role.OPERATOR, environment=lab.pair.environment)
    client = client_of(olga)
    for run, is_offered in ((lab, True), (field, False)):
        leads = leads_of(client.get(f"/runs/{run.pk}").content.decode(), f"/runs/{run.pk}")
        assert (Lead("POST", f"/runs/{run.pk}/again") in leads) is is_offered
        leads = leads_of(client.get(f"/pairs/{run.pair_id}").content.decode(), f"/pairs/{run.pair_id}")
        assert (Lead("POST", f"/pairs/{run.pair_id}/check") in leads) is is_offered
        assert Lead("GET", f"/pairs/{run.pair_id}/edit") not in leads
    assert Lead("GET", "/quick-test") in leads
    assert Lead("GET", "/hosts/new") not in leads


def test_hiding_costs_no_query_with_a_role_everywhere(
    db: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    run = run_of(State.FINISHED)
    # The session and its user, the pair's page itself.
    for client in readers(db).values():
        with django_assert_num_queries(7):
            client.get(f"/pairs/{run.pair_id}")


def test_navigation_has_what_the_reader_may_open(db: None) -> None:
    sections = {
        role: {section.name for group in client.get("/").context["navigation_groups"]() for section in group.sections}
        for role, client in {**readers(db), Role.ADMIN: client_of(user_of(Role.ADMIN))}.items()
    }
    assert sections[Role.ADMIN] - sections[Role.EDITOR] == {"audit", "health", "site_settings", "users"}
    assert sections[Role.EDITOR] - sections[Role.VIEWER] == {"shares"}
