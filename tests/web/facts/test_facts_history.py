"""What changed on a host, and when."""

from datetime import UTC, datetime, timedelta

from django.test import Client

from benchweb.hosts.endpoints.services import endpoint_create
from benchweb.hosts.facts.records import facts_record
from benchweb.results import run_summaries as recents
from tests.factories import make_endpoint, make_pair
from tests.nights import measured

FIRST = datetime(2026, 11, 1, 2, tzinfo=UTC)
DAY = timedelta(days=1)


def test_a_host_tells_its_changes_the_newest_first_with_the_figures_around_them(signed_in: Client) -> None:
    endpoint = make_endpoint(name="bare")
    for day, document in enumerate(
        [{"kernel": "6.1.1"}, {"kernel": "6.1.2"}, {"kernel": "6.1.2", "congestion_control": "bbr"}]
    ):
        facts_record(endpoint_id=endpoint.pk, document=document | {"boot_id": str(day)}, at=FIRST + day * DAY)
    page = signed_in.get(f"/hosts/{endpoint.host_id}")
    history = page.context["facts_history"]
    assert [(change.at, change.words) for change in history.changes] == [
        (FIRST + 2 * DAY, "rebooted"),
        (FIRST + DAY, "kernel 6.1.1 → 6.1.2"),
    ]
    assert history.since == FIRST
    # Before the first result there are none.
    assert "Values before and after" not in page.content.decode()
    measured(make_pair(source=endpoint), FIRST, 1e9)
    while recents.sum_up():
        pass
    link = f'href="/history?host={endpoint.host_id}&amp;from=2026-10-26T02%3A00%3A00.000000Z&amp;to='
    assert link in signed_in.get(f"/hosts/{endpoint.host_id}").content.decode()


def test_of_several_endpoints_each_has_its_own_changes(signed_in: Client) -> None:
    first = make_endpoint(name="bare")
    second = endpoint_create(host=first.host, control_address="127.0.0.1:2", name="pod")
    facts_record(endpoint_id=first.pk, document={"kernel": "6.1.1"}, at=FIRST)
    for day, kernel in enumerate(["6.1.1", "6.1.9"]):
        facts_record(endpoint_id=second.pk, document={"kernel": kernel}, at=FIRST + day * DAY)
    history = signed_in.get(f"/hosts/{first.host_id}").context["facts_history"]
    assert [(change.endpoint, change.words) for change in history.changes] == [("pod", "kernel 6.1.1 → 6.1.9")]


def test_a_host_that_never_changed_and_one_that_told_nothing_say_so(signed_in: Client) -> None:
    endpoint = make_endpoint()
    assert "once the engine has reported its facts" in signed_in.get(f"/hosts/{endpoint.host_id}").content.decode()
    facts_record(endpoint_id=endpoint.pk, document={"kernel": "6.1.1"}, at=FIRST)
    assert "are the same as when first seen" in signed_in.get(f"/hosts/{endpoint.host_id}").content.decode()
