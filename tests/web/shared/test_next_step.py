"""An empty page names the one thing to do next: what plans need before they can be launched."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.services import environment_create
from tests.factories import make_endpoint, make_pair, make_plan

EMPTY = ["/", "/runs", "/history", "/history?kind=tcp_rr&view=heat", "/compare", "/campaigns"]


def next_step(client: Client, url: str) -> str:
    """Return where the last of a page's prominent links leads; one above may be there whenever."""
    _shell, _main, content = client.get(url).content.decode().partition("<main")
    *_, link = re.findall(r'<a class="btn btn-primary" href="([^"]*)"', content.partition("</main>")[0])
    return str(link)


@pytest.mark.parametrize("url", EMPTY)
def test_without_a_host_it_is_to_add_one(signed_in: Client, url: str) -> None:
    assert next_step(signed_in, url) == "/hosts/new"


@pytest.mark.parametrize("url", EMPTY)
def test_with_one_endpoint_it_is_to_add_another_host(signed_in: Client, url: str) -> None:
    make_endpoint()
    assert next_step(signed_in, url) == "/hosts/new"


def test_then_a_pair_then_a_plan_then_a_launch(signed_in: Client) -> None:
    source, sink = make_endpoint(), make_endpoint()
    assert next_step(signed_in, "/history") == "/pairs/new"
    make_pair(source=source, sink=sink)
    assert next_step(signed_in, "/history") == "/plans/new"
    make_plan()
    assert next_step(signed_in, "/history") == "/launch"


def test_a_pair_is_offered_only_when_there_are_two_endpoints(signed_in: Client) -> None:
    endpoint, lab = make_endpoint(), environment_create(name="lab")
    urls = ["/", "/pairs", f"/environments/{lab.pk}", f"/hosts/{endpoint.host_id}", f"/matrix?environment={lab.pk}"]
    urls.append("/schedules/new")
    for url in urls:
        text = signed_in.get(url).content.decode()
        assert "Add a pair" not in text, url
        assert 'href="/hosts/new"' in text, url
    make_endpoint()
    for url in urls:
        assert "Add a pair" in signed_in.get(url).content.decode(), url


@pytest.mark.parametrize("endpoints", [1, 2])
def test_what_a_pair_needs_costs_a_host_or_an_environment_no_query_too_many(
    signed_in: Client, endpoints: int, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    made = [make_endpoint() for _ in range(endpoints)]
    lab = environment_create(name="lab")
    for url in (f"/hosts/{made[0].host_id}", f"/environments/{lab.pk}", "/pairs", "/"):
        with django_assert_max_num_queries(12, info=url):
            signed_in.get(url)


def test_launch_can_be_pressed_only_when_there_is_something_to_choose(signed_in: Client) -> None:
    dull, active = (
        'class="btn" type="submit" name="action" value="launch" disabled',
        'class="btn btn-primary" type="submit"',
    )
    assert dull in signed_in.get("/launch").content.decode()
    make_pair()
    assert dull in signed_in.get("/launch").content.decode()
    make_plan()
    assert active in signed_in.get("/launch").content.decode()


def test_an_empty_overview_costs_no_more_queries_than_any_page(
    signed_in: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(12):
        signed_in.get("/")


def test_a_form_without_its_token_is_refused_in_words_and_in_the_readers_language() -> None:
    stranger = Client(enforce_csrf_checks=True)
    refused = stranger.post("/login", {"username": "ada"})
    assert refused.status_code == 403
    assert "Nothing was changed" in refused.content.decode()
    assert "未作任何更改" in stranger.post("/login", headers={"Accept-Language": "zh-CN"}).content.decode()


def test_the_first_steps_are_told_with_those_that_are_done(signed_in: Client) -> None:
    make_plan()
    make_endpoint()
    page = signed_in.get("/runs").content.decode()
    found = re.findall(r"<li([^>]*)>([^<]+)<", page.split('class="first-steps"')[1].split("</ol>")[0])
    done, current = ' class="done"', ' aria-current="step"'
    words = ["A host", "Another host", "A pair of them, in an environment", "A plan", "Launch"]
    assert found == list(zip([done, current, "", done, ""], words, strict=True))
