"""A host's page: availability, its strip, and the indicators over three periods."""

import json
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.endpoints.services import endpoint_create
from benchweb.hosts.models import Endpoint
from benchweb.hosts.probing.probes import Probe, ProbedLoad, probes_record
from benchweb.hosts.services import archive
from benchweb.web.hosts.availability.cells import availability_figure
from benchweb.web.hosts.availability.periods import period_of
from benchweb.web.hosts.availability.section import availability_section
from tests.factories import make_endpoint

MINUTE = timedelta(minutes=1)
BUSY = ProbedLoad(cpu_ratio=0.25, received_bps=4e9, sent_bps=1e9, link_bps=25e9)


def probe_each_minute(endpoint: Endpoint, *, minutes: int, silent: range = range(0), load: ProbedLoad = BUSY) -> None:
    """Record probes of the last `minutes`; in `silent` (minutes ago) the machine answered and the engine didn't."""
    now = timezone.now()
    for ago in range(minutes, 0, -1):
        found = Probe(endpoint.pk, endpoint.control_address, "answered", "answered", "", 0.002, load)
        if ago in silent:
            found = Probe(endpoint.pk, endpoint.control_address, "engine_down", "unreachable", "Connection refused")
        probes_record(probes=[found], at=now - ago * MINUTE)


def added_long_ago() -> Endpoint:
    """Make an endpoint that was there through all periods of the page."""
    endpoint = make_endpoint()
    Endpoint.objects.filter(pk=endpoint.pk).update(created_at=timezone.now() - timedelta(days=60))
    return endpoint


def told_of(client: Client, endpoint: Endpoint) -> tuple[str, dict[str, str]]:
    """Return the section's text, and what each row of its table says in its first cell."""
    text = client.get(f"/hosts/{endpoint.host_id}/availability").content.decode()
    rows = re.findall(r'<tr><th scope="row">([^<]+)</th>(.*?)</tr>', text, re.DOTALL)
    return text, {label: re.sub(r"<[^>]+>", "", cells.split("</td>")[0]).strip() for label, cells in rows}


def test_it_tells_the_indicators_with_unit_and_count(signed_in: Client) -> None:
    endpoint = added_long_ago()
    probe_each_minute(endpoint, minutes=30, silent=range(10, 20))
    _text, first = told_of(signed_in, endpoint)
    # The silence began and ended between two probes: a minute either way, less the moment that the recording took.
    # The half hour is 2.08 % of 24 hours and 2 % of nearly 25: the time looked at begins with a full hour.
    assert re.fullmatch(r"66\.\d % n=30 · only (29|30) min( \d+ s)? known", first["Availability"])
    assert first["Response time"] == "2.00 ms mean · minimum 2.00 ms · maximum 2.00 ms · n=20"
    assert first["CPU utilisation"] == "25.0 % mean · maximum 25.0 % · n=20"
    assert first["Bandwidth used, received"] == "4.00 Gbit/s mean · maximum 4.00 Gbit/s · n=20"
    assert first["Bandwidth used, sent"] == "1.00 Gbit/s mean · maximum 1.00 Gbit/s · n=20"
    assert first["Bandwidth left to receive"] == "21.0 Gbit/s mean · minimum 21.0 Gbit/s · n=20"
    assert first["Bandwidth left to send"] == "24.0 Gbit/s mean · minimum 24.0 Gbit/s · n=20"


def test_states_are_told_in_words_and_breaks_with_their_reason(signed_in: Client) -> None:
    endpoint = added_long_ago()
    probe_each_minute(endpoint, minutes=30, silent=range(10, 20))
    text = signed_in.get(f"/hosts/{endpoint.host_id}/availability").content.decode()
    assert re.search(
        r'aria-label="Availability over the last 24 hours: '
        r"up 20 min( \d+ s)?, engine down 10 min, not known 2",
        text,
    )
    for state in ("answered", "engine_down", "unknown"):
        assert f'<span class="swatch availability-{state}"></span>' in text
    assert "Connection refused" in text
    assert "no probe was recorded" in text


def test_what_is_not_told_is_missing_with_its_reason(signed_in: Client) -> None:
    endpoint = make_endpoint()
    probe_each_minute(endpoint, minutes=3, load=ProbedLoad(cpu_ratio=0.5))
    text = signed_in.get(f"/hosts/{endpoint.host_id}/availability").content.decode()
    assert text.count('class="why" colspan="3">no interface of the host has the address of the test traffic<') == 2
    assert "0 bit/s" not in text
    probe_each_minute(other := make_endpoint(), minutes=3, load=ProbedLoad(0.5, 1e9, 1e9, None))
    text = signed_in.get(f"/hosts/{other.host_id}/availability").content.decode()
    assert 'class="why" colspan="3">the kernel reports no link speed' in text


def test_a_host_that_was_never_probed_says_that_nothing_is_known(signed_in: Client) -> None:
    # From a full hour on: in the last half minute before one, 25 h.
    text, rows = told_of(signed_in, added_long_ago())
    assert re.search(r'aria-label="Availability over the last 24 hours: not known 2[45] h', text)
    assert "charts-data" not in text
    assert set(rows.values()) == {"no probe was recorded: no worker or beat ran"}


def test_before_a_host_was_added_nothing_is_missing(signed_in: Client) -> None:
    endpoint = make_endpoint()
    text, rows = told_of(signed_in, endpoint)
    assert set(rows.values()) == {"not probed yet: the first probe comes within two minutes"}
    assert "When the engine gave no valid answer" not in text
    assert re.search(r"hours: (not known [^,]+, )?not yet added 2[45] h", text)
    Endpoint.objects.filter(pk=endpoint.pk).update(created_at=timezone.now() - 21 * MINUTE)
    probe_each_minute(endpoint, minutes=20)
    text, rows = told_of(signed_in, endpoint)
    assert rows["Availability"].startswith("100 % n=20 · known ")
    assert rows["Availability"].endswith(" % since it was added")
    said, *_ = re.findall(r"Availability over the last 24 hours: ([^\"]+)", text)
    assert "before the first probe" in text
    assert "no worker or beat" not in text
    assert re.fullmatch(r"up (19|20) min[^,]*, (not known [^,]+, )?not yet added 2\d h.*", said)
    charts = json.loads(re.findall(r'id="charts-data" hidden>(.*?)</div>', text)[0])
    # 20 minutes may be of two hours.
    assert all(len(line["points"]) <= 2 for chart in charts for line in chart["series"])


def test_a_wrong_answer_is_not_silence(signed_in: Client) -> None:
    endpoint = added_long_ago()
    for ago in (3, 2, 1):
        found = Probe(endpoint.pk, endpoint.control_address, "engine_down", "refused", "not an engine: HTTP 404")
        probes_record(probes=[found], at=timezone.now() - ago * MINUTE)
    _text, rows = told_of(signed_in, endpoint)
    assert rows.pop("Availability").startswith("0 % n=3 · only 3 min")
    assert rows.pop("Response time") == "no probe got a valid answer: not an engine: HTTP 404"
    assert set(rows.values()) == {"no probe got a valid answer"}


@pytest.mark.parametrize(
    ("over", "label", "cells"), [("24h", "24 hours", 100), ("7d", "7 days", 85), ("30d", "30 days", 121)]
)
def test_the_period_is_in_the_url(signed_in: Client, over: str, label: str, cells: int) -> None:
    endpoint = make_endpoint()
    probe_each_minute(endpoint, minutes=3)
    text = signed_in.get(f"/hosts/{endpoint.host_id}/availability?over={over}").content.decode()
    assert f'href="?over={over}#availability" aria-current="true">{label}</a>' in text
    assert abs(text.count('class="strip-cell"') - cells) <= 4
    charts = json.loads(re.findall(r'id="charts-data" hidden>(.*?)</div>', text)[0])
    assert [chart["id"] for chart in charts] == ["response-time", "utilisation", "bandwidth-used", "bandwidth-left"]
    assert charts[2]["lines"] == [{"label": "link", "y": 25e9, "since": "", "until": ""}]
    last = [point for point in charts[1]["series"][0]["points"] if point["y"] is not None][-1]
    assert (last["y"], 1 <= last["n"] <= 3) == (0.25, True)


def test_an_unknown_period_is_the_first(signed_in: Client) -> None:
    endpoint = make_endpoint()
    text = signed_in.get(f"/hosts/{endpoint.host_id}/availability?over=always").content.decode()
    assert 'href="?over=24h#availability" aria-current="true"' in text


def test_a_host_of_two_endpoints_tells_each_and_the_best_of_both(signed_in: Client) -> None:
    first = make_endpoint(name="bare")
    second = endpoint_create(host=first.host, control_address="127.0.0.1:2", name="pod")
    probe_each_minute(first, minutes=20, silent=range(10))
    probe_each_minute(second, minutes=20, silent=range(10, 21))
    section = availability_section(endpoints=list(first.host.endpoints.order_by("pk")), period=period_of("24h"))
    figures = [cell.figure for _, cell in section.whole]
    assert figures[0] is not None
    whole = figures[0].number
    assert float(whole) > 95
    assert [shown.name for shown in section.endpoints] == ["bare", "pod"]
    text = signed_in.get(f"/hosts/{first.host_id}/availability").content.decode()
    assert "best of its endpoints at each moment" in text
    labels = {line.label for line in section.charts[2].series}
    assert labels == {
        f"{name} {way}{more}"
        for name in ("bare", "pod")
        for way in ("received", "sent")
        for more in ("", ", busiest minute")
    }


def test_the_figure_is_cut_and_not_rounded_up_to_all() -> None:
    figures = [availability_figure(ratio) for ratio in (1, 1 - 1e-12, 0.999999, 0.9995, 0.5, 0)]
    assert [figure.number for figure in figures] == ["100", "100", "99.999", "99.95", "50", "0"]


def test_below_the_nines_a_figure_has_three_digits() -> None:
    figures = [availability_figure(ratio) for ratio in (0.97539, 0.020649, 0.0020649, 0.3, 0.99)]
    assert [figure.number for figure in figures] == ["97.5", "2.06", "0.206", "30", "99"]


def test_a_year_of_hours_costs_no_more_queries_than_an_hour(
    signed_in: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    endpoint = make_endpoint()
    probe_each_minute(endpoint, minutes=3)
    with django_assert_max_num_queries(10):
        assert signed_in.get(f"/hosts/{endpoint.host_id}/availability?over=30d").status_code == 200


HTMX = {"HX-Request": "true"}


@pytest.mark.parametrize(("query", "over"), [("", "24h"), ("?over=7d", "7d"), ("?over=30d&kind=tcp_rr", "30d")])
def test_the_hosts_page_leaves_a_place_that_fetches_the_period_of_the_address(
    signed_in: Client, query: str, over: str
) -> None:
    endpoint = make_endpoint()
    probe_each_minute(endpoint, minutes=3)
    text = signed_in.get(f"/hosts/{endpoint.host_id}{query}").content.decode()
    assert f'hx-get="/hosts/{endpoint.host_id}/availability?over={over}"' in text
    assert f'<noscript><p><a href="/hosts/{endpoint.host_id}/availability?over={over}">' in text
    assert f'href="?over={over}#availability" aria-current="true"' in text
    assert text.count('id="availability"') == 1
    assert 'class="strip"' not in text
    assert "charts.js" not in text


def test_htmx_gets_the_section_and_whoever_has_no_script_a_page(signed_in: Client) -> None:
    endpoint = make_endpoint(host_name="alder")
    probe_each_minute(endpoint, minutes=3)
    url = f"/hosts/{endpoint.host_id}/availability?over=7d"
    part, page, again = (signed_in.get(url, headers=headers) for headers in (HTMX, {}, HTMX))
    if part.content != again.content:
        # A minute began between them.
        part, page = signed_in.get(url, headers=HTMX), signed_in.get(url)
    assert "</section>" not in part.content.decode()
    assert 'class="strip"' in part.content.decode()
    assert 'data-script="/static/charts' in part.content.decode()
    assert f'<a href="/hosts/{endpoint.host_id}">Back to the host</a>' in page.content.decode()
    assert part.content.decode().strip() in page.content.decode()
    # Else a browser that goes back may show the part in the page's place.
    assert all("HX-Request" in answer["Vary"] for answer in (part, page))


def test_without_an_endpoint_in_use_there_is_no_place_and_the_section_says_so(signed_in: Client) -> None:
    endpoint = make_endpoint()
    archive(row=endpoint)
    assert 'id="availability"' not in signed_in.get(f"/hosts/{endpoint.host_id}").content.decode()
    text = signed_in.get(f"/hosts/{endpoint.host_id}/availability").content.decode()
    assert "This host has no active endpoint: nothing is probed." in text


def test_a_host_that_does_not_exist_has_none(signed_in: Client) -> None:
    assert signed_in.get("/hosts/999999/availability", headers=HTMX).status_code == 404
