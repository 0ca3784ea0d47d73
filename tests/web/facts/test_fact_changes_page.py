"""The page of fact changes: hosts that changed alike in one row, with the runs before and after."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from benchweb.hosts.facts.records import facts_record
from tests.charts.history_rows import past_run
from tests.factories import make_endpoint, make_pair, make_plan

FIRST = datetime(2026, 11, 1, 2, tzinfo=UTC)
DAY = timedelta(days=1)


def upgraded(name: str, *documents: dict[str, Any], minutes: int = 0) -> Any:
    endpoint = make_endpoint(host_name=name)
    for day, document in enumerate(documents):
        at = FIRST + day * DAY + timedelta(minutes=minutes)
        facts_record(endpoint_id=endpoint.pk, document=document, at=at)
    return endpoint


def test_hosts_that_changed_alike_on_a_day_are_one_row(signed_in: Client) -> None:
    ends = [upgraded(f"host-{n}", {"kernel": "6.1"}, {"kernel": "6.8"}, minutes=n) for n in range(5)]
    past_run(make_plan(), make_pair(source=ends[0], sink=ends[1]), FIRST, {"throughput_bps": 1e9})
    page = signed_in.get("/fact-changes")
    (row,) = page.context["rows"]
    assert (row.words, len(row.hosts), len(row.others)) == ("kernel 6.1 → 6.8", 5, 2)
    assert "and 2 more" in page.content.decode()
    # The kernel decides on which side a run stands, whenever its host was upgraded.
    assert row.compare_url.startswith("/compare?side=kernel%3D6.1") or "kernel%3D6.1" in row.compare_url
    assert signed_in.get(row.compare_url).status_code == 200


def test_one_host_is_compared_by_itself_and_one_without_results_is_not(signed_in: Client) -> None:
    settings = [{"sysctls": {"net.core.rmem_max": size}} for size in ("1", "2")]
    alder = upgraded("alder", *settings)
    assert signed_in.get("/fact-changes").context["rows"][0].compare_url == ""
    past_run(make_plan(), make_pair(source=alder), FIRST, {"throughput_bps": 1e9})
    (row,) = signed_in.get("/fact-changes?fact=setting").context["rows"]
    assert f"side=host%3D{alder.host_id}%26from" in row.compare_url
    assert signed_in.get(row.compare_url).status_code == 200


def test_a_page_that_ends_between_two_changes_of_one_moment_is_followed_by_the_other(
    signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchweb.web.facts.changes._MOST_CHANGES", 1)
    upgraded("alder", {"kernel": "6.1"}, {"kernel": "6.8"}, {"kernel": "6.1"})
    first = signed_in.get("/fact-changes")
    second = signed_in.get(f"/fact-changes{first.context['next_url']}")
    rows = [*first.context["rows"], *second.context["rows"]]
    assert [row.words for row in rows] == ["kernel 6.8 → 6.1", "kernel 6.1 → 6.8"]
    assert second.context["next_url"] == ""


def test_filters_stand_in_the_address_and_nonsense_matches_nothing(signed_in: Client) -> None:
    upgraded("alder", {"kernel": "6.1"}, {"kernel": "6.8"})
    assert len(signed_in.get("/fact-changes?from=2026-11-02&to=2026-11-02").context["rows"]) == 1
    for query in ("fact=shoe", "host=x", "from=yesterday", "to=2026-11-01", "environment=999999"):
        page = signed_in.get(f"/fact-changes?{query}")
        assert page.context["rows"] == []
        assert "No fact change matches these filters." in page.content.decode()
    assert signed_in.get("/fact-changes?after=x_y").status_code == 200
