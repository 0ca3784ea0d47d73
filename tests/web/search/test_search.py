"""Search: what is found, by which words, in which order, and at what cost."""

import re
from datetime import date, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.facts.records import facts_record
from benchweb.hosts.models import Endpoint, Facts, Host
from benchweb.hosts.services import archive
from benchweb.runs.models import Run
from benchweb.web.search.meaning import meaning
from benchweb.web.search.page import found, parsed
from tests.factories import SIZES, make_endpoint, make_pair, make_plan, make_run, make_schedule

# Session with its user, what is called so, its runs, and facts.
SEARCH_QUERIES = 5
DOCUMENT = {
    "kernel": "6.1.0-18-amd64",
    "operating_system": "Debian GNU/Linux 12",
    "sysctls": {"net.core.rmem_max": "212992"},
    "interfaces": [{"name": "eth0", "driver": "virtio_net", "mtu": 1500, "offloads": {"gro": True, "lro": False}}],
}


def labels(text: str) -> dict[str, list[str]]:
    """Return the labels found, by type."""
    return {group.key: [hit.label for hit in group.hits] for group in found(parsed(text), 10)}


def told(endpoint: Endpoint, document: dict[str, Any]) -> Facts:
    """Have an endpoint tell its facts now."""
    return Facts.objects.get(pk=facts_record(endpoint_id=endpoint.pk, document=document, at=timezone.now()))


def test_one_word_finds_every_type_that_has_it(db: None) -> None:
    pair = make_pair(source=make_endpoint(host_name="alpha"), sink=make_endpoint(host_name="beta"), environment="lab")
    run = make_run(pair=pair, name="alpha plan")
    make_schedule(name="alpha nightly", plan=make_plan(name="others"), target={"pairs": [pair.pk]})
    assert labels("alpha") == {
        "hosts": ["alpha"],
        "pairs": [str(pair)],
        "plans": ["alpha plan"],
        "schedules": ["alpha nightly"],
        "runs": [f"Run {run.pk}"],
    }


def test_every_word_must_be_found(db: None) -> None:
    pair = make_pair(source=make_endpoint(host_name="alpha"), sink=make_endpoint(host_name="beta"))
    make_pair(source=make_endpoint(host_name="alpha two"), sink=make_endpoint(host_name="gamma"))
    assert labels("alpha beta") == {"pairs": [str(pair)]}
    assert labels("alpha → beta") == labels("alpha beta")


def test_a_host_is_found_by_its_label_uplink_and_addresses_each_word_by_another(db: None) -> None:
    endpoint = make_endpoint(host_name="alpha", control_address="10.7.7.7:7777")
    Host.objects.filter(pk=endpoint.host_id).update(labels=["rack-7"], uplink="west", description="50% spare")
    for text in ("rack-7", "WEST", "10.7.7.7", "50%", "rack-7 west 10.7.7 alpha"):
        assert labels(text).get("hosts") == ["alpha"], text
    # A label is a whole word, and no sign stands for others.
    for text in ("rack", "Rack-7", "rack-7 east", "5_%"):
        assert "hosts" not in labels(text), text


def test_what_is_called_so_comes_before_what_begins_so_and_what_holds_it(db: None) -> None:
    for name in ("my-web", "web-2", "web"):
        make_endpoint(host_name=name)
    assert labels("web") == {"hosts": ["web", "web-2", "my-web"]}


def test_a_run_is_found_by_its_number_before_newer_ones(db: None) -> None:
    run = make_run()
    make_run(name=f"plan {run.pk}")
    assert labels(str(run.pk))["runs"][0] == f"Run {run.pk}"


def test_archived_hosts_are_not_found(db: None) -> None:
    endpoint = make_endpoint(host_name="alpha")
    told(endpoint, DOCUMENT)
    archive(row=endpoint.host)
    assert labels("alpha") == {}
    assert labels("kernel:6.1") == {}


@pytest.mark.parametrize(
    "text", ["kernel:6.1", "kernel 6.1", "Kernel:6.1.0", "driver:virtio", "mtu:1500", "net.core.rmem_max", "os:debian"]
)
def test_a_fact_is_found_by_its_name_or_by_its_value_alone(db: None, text: str) -> None:
    told(make_endpoint(host_name="alpha"), DOCUMENT)
    told(make_endpoint(host_name="beta"), {"kernel": "6.18.2"})
    assert labels(text) == {"facts": ["alpha"]}


@pytest.mark.parametrize("text", ["kernel:6.18", "kernel:1.0", "mtu:150", "driver:eth0", "kernel:virtio", "lro"])
def test_a_number_is_no_part_of_another_and_a_value_belongs_to_its_fact(db: None, text: str) -> None:
    told(make_endpoint(host_name="alpha"), DOCUMENT)
    assert labels(text) == {}


def test_a_fact_tells_its_line_and_until_when_it_held(db: None) -> None:
    endpoint = make_endpoint(host_name="alpha")
    old = told(endpoint, DOCUMENT)
    Facts.objects.filter(pk=old.pk).update(last_seen_at="2026-01-02T03:04:05Z")
    told(endpoint, {"kernel": "6.18.2"})
    notes = [hit.note for group in found(parsed("kernel"), 10) for hit in group.hits]
    assert notes == ["kernel 6.18.2", "kernel 6.1.0-18-amd64 · last seen 2026-01-02"]


def test_facts_of_any_shape_are_stored(db: None) -> None:
    for document in ({}, {"interfaces": "none", "sysctls": []}, {"interfaces": [None, {"offloads": None}], "cpu": 4}):
        assert told(make_endpoint(), document).pk


@pytest.mark.parametrize("text", ["%", "\\", "(", "kernel:[", "kernel:(((", "a" * 5000, "' or 1=1 --", "日本"])
def test_hostile_text_finds_nothing_and_breaks_nothing(signed_in: Client, text: str) -> None:
    told(make_endpoint(host_name="alpha"), DOCUMENT)
    assert signed_in.get("/search", {"q": text}).status_code == 200
    assert labels(text) == {}


def test_the_page_groups_what_was_found_and_leads_to_the_whole_list(signed_in: Client) -> None:
    pair = make_pair(source=make_endpoint(host_name="alpha"))
    page = signed_in.get("/search?q=alpha").content.decode()
    assert f'<a href="/hosts/{pair.source.host_id}">alpha</a>' in page
    assert '<a class="section-actions" href="/hosts?q=alpha">In the whole list</a>' in page


def test_a_search_without_a_match_says_what_can_be_found(signed_in: Client) -> None:
    page = signed_in.get("/search?q=nothing-of-the-kind").content.decode()
    assert "No names or host facts match “nothing-of-the-kind”." in page
    assert "<code>kernel:6.1</code>" in page


def test_suggestions_are_options_and_end_with_all_that_matches(signed_in: Client) -> None:
    for number in range(6):
        make_endpoint(host_name=f"alpha-{number}")
    part = signed_in.get("/search/suggestions?q=alpha").content.decode()
    assert part.count('role="option"') == 5
    assert 'id="suggestion-all" href="/search?q=alpha"' in part


def test_a_search_costs_the_same_queries_whatever_it_finds(
    signed_in: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(9):
        pair = make_pair(source=make_endpoint(host_name=f"alpha-{number}"))
        run = make_run(pair=pair, name=f"alpha {number}")
        told(run.pair.source, DOCUMENT | {"hostname": "alpha"})
    # Where no pair, plan or number matches, no run is asked for.
    for path, fewer in (("/search?q=alpha", 0), ("/search/suggestions?q=alpha", 0), ("/search?q=nothing", 1)):
        with django_assert_num_queries(SEARCH_QUERIES - fewer):
            assert signed_in.get(path).status_code == 200


def test_a_search_takes_a_log_in(db: None) -> None:
    assert Client().get("/search?q=a").status_code == 302
    assert Client().get("/search/suggestions?q=a").status_code == 302


def test_all_that_tell_a_fact_are_reached(signed_in: Client) -> None:
    for number in range(25):
        told(make_endpoint(host_name=f"node-{number:02}"), DOCUMENT)
    page = signed_in.get("/search?q=kernel:6.1").content.decode()
    assert "first 20" in page
    assert "?q=kernel%3A6.1&amp;only=facts" in page
    page = signed_in.get("/search?q=kernel:6.1&only=facts").content.decode()
    assert page.count("node-") == 25
    assert "first 20" not in page
    assert "only=facts" not in page


TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("text", "left", "size", "kind", "days"),
    [
        ("alpha 4k three weeks ago", "alpha", 4096, None, ("2026-11-06", "2026-11-12")),
        ("3 days ago alpha 1.5 KiB", "alpha", 1536, None, ("2026-11-27", "2026-11-27")),
        ("tcp_rr alpha beta last month", "alpha beta", None, "tcp_rr", ("2026-10-01", "2026-10-31")),
        ("udp stream 64B yesterday", "", 64, "udp_stream", ("2026-11-29", "2026-11-29")),
        ("alpha last night", "alpha", None, None, ("2026-11-29", "2026-11-30")),
        ("alpha 2026-11-03", "alpha", None, None, ("2026-11-03", "2026-11-03")),
        ("alpha 三周前", "alpha", None, None, ("2026-11-06", "2026-11-12")),
        # No day, no size, and names that begin like them.
        ("alpha 2026-13-03", "alpha 2026-13-03", None, None, None),
        ("lab-4k 4ks 12", "lab-4k 4ks 12", None, None, None),
    ],
)
def test_sizes_tests_and_days_are_read_out_of_what_is_typed(
    text: str, left: str, size: int | None, kind: str | None, days: tuple[str, str] | None
) -> None:
    meant = meaning(text.split(), TODAY)
    assert " ".join(meant.words) == left
    assert meant.size_bytes == size
    assert (meant.kind.name if meant.kind else None) == kind
    assert meant.days == (tuple(map(date.fromisoformat, days)) if days else None)


def test_a_sentence_leads_to_the_filtered_page(signed_in: Client) -> None:
    run = make_run(pair=make_pair(source=make_endpoint(host_name="alpha")), steps=SIZES)
    day = timezone.now() - timedelta(days=21)
    Run.objects.filter(pk=run.pk).update(created_at=day)
    make_run(pair=run.pair, steps=SIZES)
    (group,) = (group for group in found(parsed("alpha 1k three weeks ago"), 10) if group.key == "meant")
    (hit,) = group.hits
    page = signed_in.get(hit.url).content.decode()
    assert re.findall(r'name="runs" value="(\d+)"', page) == [str(run.pk)]
    (group,) = (group for group in found(parsed("tcp_stream alpha 1k"), 10) if group.key == "meant")
    assert "kind=tcp_stream" in group.hits[0].url
    assert "p.message_size_bytes=1024" in group.hits[0].url
    assert signed_in.get(group.hits[0].url).status_code == 200


def test_a_word_that_something_is_called_by_is_its_name(db: None) -> None:
    make_endpoint(host_name="today")
    assert "meant" not in labels("today x")
    assert labels("today")["hosts"] == ["today"]
