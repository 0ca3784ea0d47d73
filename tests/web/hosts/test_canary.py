"""A host's page says what the host measured alone, night by night, or why there is nothing."""

import json
import re
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.models import Endpoint, Host
from tests.factories import make_endpoint
from tests.hosts.nights_alone import measured_alone

OFF = "The nightly measurement of the host itself is switched off in its settings."


def section(client: Client, endpoint: Endpoint) -> str:
    """Return the section that the page fetches."""
    return client.get(f"/hosts/{endpoint.host_id}/availability").content.decode()


def canaries(text: str) -> list[dict[str, Any]]:
    """Return the charts of what the host measured alone."""
    found = re.search(r'<div id="charts-data" hidden>(.*?)</div>', text, re.DOTALL)
    charts = json.loads(found[1].replace("&quot;", '"')) if found else []
    return [chart for chart in charts if chart["id"].startswith("canary-")]


def test_each_figure_is_a_chart_with_unit_n_and_a_gap_for_each_missing_night(signed_in: Client) -> None:
    endpoint = make_endpoint()
    measured_alone(endpoint, [8, 7, 4, 1])
    charts = canaries(section(signed_in, endpoint))
    assert [(chart["title"], chart["y"]["unit"]) for chart in charts] == [
        ("Memory copying", "B/s"),
        ("Fixed calculation", "s"),
        ("Loopback round trip", "s"),
    ]
    [line] = charts[1]["series"]
    known = [None if point["y"] is None else round(point["y"], 2) for point in line["points"]]
    assert known == [2.08, 2.07, None, None, 2.04, None, None, 2.01]
    assert {(point["n"], point["low"], point["high"]) for point in line["points"] if point["y"]} == {(9, 1.9, 4.0)}
    assert {point["reason"] for point in line["points"] if point["y"] is None} == {"not measured"}


def test_a_night_that_is_missing_since_is_a_gap_at_the_end(signed_in: Client) -> None:
    endpoint = make_endpoint()
    measured_alone(endpoint, [4, 3], ["spin_seconds"])
    [chart] = canaries(section(signed_in, endpoint))
    assert [point["y"] is None for point in chart["series"][0]["points"]] == [False, False, True, True]


def test_without_figures_it_says_what_is_wanted_and_where_it_is_off(signed_in: Client) -> None:
    endpoint = make_endpoint()
    text = section(signed_in, endpoint)
    assert "The host itself" in text and "Not measured in the last 90 days" in text
    Host.objects.filter(pk=endpoint.host_id).update(has_canary=False)
    assert OFF in section(signed_in, endpoint)
    Host.objects.filter(pk=endpoint.host_id).update(is_synthetic=True)
    assert "The host itself" not in section(signed_in, endpoint)


def test_it_is_switched_off_and_on_where_the_host_is_edited(signed_in: Client) -> None:
    host = make_endpoint().host
    url = f"/hosts/{host.pk}/edit"
    assert re.search(r'<input[^>]*name="has_canary"[^>]*checked', signed_in.get(url).content.decode())
    signed_in.post(url, {"name": host.name})
    assert not Host.objects.get(pk=host.pk).has_canary
    signed_in.post(url, {"name": host.name, "has_canary": "on"})
    assert Host.objects.get(pk=host.pk).has_canary


@pytest.mark.django_db
def test_a_host_that_is_added_wants_it(signed_in: Client) -> None:
    sent = {"name": "alder", "control_address": "192.0.2.10", "token": "t" * 40, "network_mode": "host"}
    assert signed_in.post("/hosts/new", sent).status_code == 302
    assert Host.objects.get(name="alder").has_canary


def test_the_section_costs_one_query_more(
    signed_in: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    endpoint = make_endpoint()
    measured_alone(endpoint, range(1, 90))
    with django_assert_max_num_queries(12):
        section(signed_in, endpoint)
