"""Changes of facts on all hosts: which, in what order, page by page."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.facts.fleet import ChangePlace, ChangesWanted, changes_page
from benchweb.hosts.facts.records import facts_record
from benchweb.hosts.models import Endpoint
from benchweb.hosts.services import archive
from tests.factories import make_endpoint, make_pair

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
FIRST = datetime(2026, 11, 1, 2, tzinfo=UTC)


def reported(endpoint: Endpoint, *documents: dict[str, Any], first: datetime = FIRST) -> Endpoint:
    for day, document in enumerate(documents):
        facts_record(endpoint_id=endpoint.pk, document=document, at=first + day * DAY)
    return endpoint


def words(wanted: ChangesWanted, after: ChangePlace | None = None, most: int = 100) -> list[str]:
    page = changes_page(wanted, after=after, most=most)
    return [
        f"{change.endpoint.host.name} {change.place.at:%d}: {'; '.join(each.words for each in change.differences)}"
        for change in page.changes
    ]


def test_changes_of_all_hosts_come_newest_first_and_filter_by_host_fact_environment_and_period() -> None:
    alder = reported(
        make_endpoint(host_name="alder"),
        {"kernel": "6.1", "cpu": {"governor": "powersave"}},
        {"kernel": "6.8", "cpu": {"governor": "performance"}},
    )
    birch = reported(make_endpoint(host_name="birch"), {"kernel": "6.1"}, {"kernel": "6.1"}, {"kernel": "6.8"})
    pair = make_pair(source=alder)
    both = "alder 02: kernel 6.1 → 6.8; governor powersave → performance"
    upgrade = "birch 03: kernel 6.1 → 6.8"
    assert words(ChangesWanted()) == [upgrade, both]
    assert words(ChangesWanted(host=birch.host_id)) == [upgrade]
    assert words(ChangesWanted(environment=pair.environment_id)) == [both]
    assert words(ChangesWanted(fact="governor")) == ["alder 02: governor powersave → performance"]
    assert words(ChangesWanted(fact="mtu")) == []
    assert words(ChangesWanted(first=FIRST + 2 * DAY)) == [upgrade]
    assert words(ChangesWanted(first=FIRST + DAY, last=FIRST + 2 * DAY)) == [both]


def test_what_was_true_before_the_period_is_known_and_what_came_back_is_a_change() -> None:
    usual, tried = {"kernel": "6.1"}, {"kernel": "6.8"}
    reported(make_endpoint(host_name="alder"), usual, tried, usual)
    assert words(ChangesWanted(first=FIRST + DAY)) == ["alder 02: kernel 6.8 → 6.1", "alder 02: kernel 6.1 → 6.8"]
    gone = reported(make_endpoint(host_name="birch"), usual)
    # Away for a month, it comes back upgraded: its earlier facts ended long before the period.
    facts_record(endpoint_id=gone.pk, document=tried, at=FIRST + 30 * DAY)
    assert words(ChangesWanted(first=FIRST + 29 * DAY)) == ["birch 01: kernel 6.1 → 6.8"]


def test_interfaces_of_containers_count_only_where_an_endpoint_uses_them() -> None:
    veths = [{"interfaces": [{"name": "veth1", "mtu": mtu, "addresses": ["10.0.0.1/24"]}]} for mtu in (1500, 9000)]
    reported(make_endpoint(host_name="alder"), *veths)
    reported(make_endpoint(host_name="birch", bind_device="veth1"), *veths)
    assert words(ChangesWanted()) == ["birch 02: MTU 1500 B → 9000 B on veth1"]


def test_an_archived_host_is_left_out_unless_it_is_named() -> None:
    endpoint = reported(make_endpoint(host_name="alder"), {"kernel": "6.1"}, {"kernel": "6.8"})
    archive(row=endpoint.host)
    assert words(ChangesWanted()) == []
    assert len(words(ChangesWanted(host=endpoint.host_id))) == 1


def test_changes_of_one_endpoint_at_one_time_are_split_by_no_page() -> None:
    usual, tried = {"kernel": "6.1"}, {"kernel": "6.8"}
    # Seen once only, the other kernel came and went in one moment; what was long before the 90 days moves no page.
    alder = reported(make_endpoint(host_name="alder"), {"kernel": "5.10"}, first=FIRST - 400 * DAY)
    reported(alder, usual, tried, usual)
    reported(make_endpoint(host_name="birch"), usual, tried)
    whole = words(ChangesWanted())
    assert whole[:3] == [
        "birch 02: kernel 6.1 → 6.8",
        "alder 02: kernel 6.8 → 6.1",
        "alder 02: kernel 6.1 → 6.8",
    ]
    for most in (1, 2, 3):
        seen, after = words(ChangesWanted(), most=most), changes_page(ChangesWanted(), most=most).following
        while after:
            seen += words(ChangesWanted(), after, most)
            after = changes_page(ChangesWanted(), after=after, most=most).following
        assert seen == whole, most


def test_pages_follow_each_other_without_gap_and_repetition(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    # All at once: only the endpoint tells them apart.
    for number in range(5):
        reported(make_endpoint(host_name=f"host-{number}"), {"kernel": "6.1"}, {"kernel": "6.8"}, {"kernel": "6.9"})
    with django_assert_max_num_queries(9):
        seen, page = [], changes_page(ChangesWanted(), most=3)
    while page.changes:
        seen += [change.place for change in page.changes]
        assert len(page.changes) <= 3
        if page.following is None:
            break
        page = changes_page(ChangesWanted(), after=page.following, most=3)
    assert len(seen) == len(set(seen)) == 10
    assert seen == sorted(seen, reverse=True)
