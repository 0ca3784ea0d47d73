"""Inventory without toil, in a real browser: many pairs, many hosts, and what another host has already."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from benchweb.hosts.models import Host, Pair
from benchweb.schedules.models import Schedule
from tests.browser import steps
from tests.factories import make_endpoint, make_environment, make_pair, make_plan, make_user

MESH_HOSTS = 10
MOST_CLICKS = 6


@pytest.fixture
def ada(transactional_db: None) -> User:
    """Make the user who logs in."""
    return make_user("ada", steps.PASSWORD)


def test_a_mesh_of_ten_hosts_runs_nightly_after_six_clicks(ada: User, page: Page) -> None:
    for number in range(MESH_HOSTS):
        make_endpoint(host_name=f"host-{number}")
    make_plan(name="sizes")
    make_environment("rack 7")
    steps.log_in(page)
    clicks: list[Callable[[], object]] = [
        lambda: page.get_by_role("link", name="Pairs", exact=True).click(),
        lambda: page.get_by_role("link", name="Make mesh…").click(),
        lambda: page.get_by_label("Choose all shown").check(),
        lambda: page.get_by_role("button", name="Add and schedule…").click(),
        lambda: page.get_by_label("Plan", exact=True).select_option(label="sizes"),
        lambda: page.get_by_role("button", name="Save schedule").click(),
    ]
    assert len(clicks) <= MOST_CLICKS
    steps.travel(page, clicks[0])
    steps.travel(page, clicks[1])
    clicks[2]()
    expect(page.locator("#mesh-summary")).to_contain_text("90 new pairs")
    steps.travel(page, clicks[3])
    clicks[4]()
    expect(page.locator("#schedule-preview")).to_contain_text("At 02:00 every day")
    clicks[5]()
    expect(page.get_by_role("heading", level=1, name="rack 7, nightly")).to_be_visible()
    schedule = Schedule.objects.get()
    assert (schedule.cron, len(schedule.target["mesh"]["endpoints"])) == ("0 2 * * *", MESH_HOSTS)
    assert Pair.objects.count() == MESH_HOSTS * (MESH_HOSTS - 1)


def test_hub_and_spokes_are_launched_from_the_launch_page(ada: User, page: Page) -> None:
    make_pair(source=make_endpoint(host_name="alder"), sink=make_endpoint(host_name="birch"))
    make_endpoint(host_name="cedar")
    plan = make_plan(name="sizes")
    steps.log_in(page)
    page.goto(f"/launch?plan={plan.pk}")
    steps.travel(page, page.get_by_role("link", name="Hub and spokes…").click)
    page.get_by_label("Hub", exact=True).select_option(label=_option(page, "cedar"))
    page.get_by_label("Choose all shown").check()
    expect(page.locator("#mesh-summary")).to_contain_text("4 new pairs")
    page.get_by_role("button", name="Add and launch…").click()
    expect(page.locator("#launch-pairs")).to_contain_text("4 of 5 selected.")
    expect(page.locator("#id_plan option:checked")).to_have_text("sizes")


def test_hosts_are_pasted_with_a_preview_and_added(ada: User, page: Page) -> None:
    make_endpoint(host_name="birch")
    steps.log_in(page)
    page.get_by_role("link", name="Hosts", exact=True).click()
    steps.travel(page, page.get_by_role("link", name="Add from a table…").click)
    table = page.get_by_label("Table", exact=True)
    table.fill("Host\tIP\tTags\nalder\t192.0.2.1\track-7\nbirch\t192.0.2.2\track-7\n")
    preview = page.locator("#table-preview")
    expect(preview).to_contain_text("1 line has a fault.")
    expect(preview.get_by_role("row").filter(has_text="has this name")).to_contain_text("3")
    table.fill("Host\tIP\tTags\nalder\t192.0.2.1\track-7\ncedar\t192.0.2.2\track-7\n")
    expect(preview).to_contain_text("2 new hosts · 2 endpoints")
    page.get_by_role("button", name="Add hosts").click()
    expect(page.get_by_text("2 hosts added.")).to_be_visible()
    assert set(Host.objects.values_list("name", flat=True)) == {"alder", "birch", "cedar"}


def test_what_another_host_has_is_told_before_saving(ada: User, page: Page) -> None:
    make_endpoint(host_name="alder", control_address="192.0.2.1:7410")
    steps.log_in(page)
    page.goto("/hosts/new")
    page.get_by_label("Host's name").fill("Alder")
    page.get_by_label("Engine's address").fill("192.0.2.1")
    known = page.locator("#known-hosts")
    expect(known).to_contain_text("has this name.")
    expect(known).to_contain_text("has this address")
    page.get_by_label("Host's name").fill("birch")
    page.get_by_label("Engine's address").fill("192.0.2.2")
    expect(known).to_be_empty()


def _option(page: Page, text: str) -> str:
    """Return the whole label of the option that begins with a text."""
    label: str = page.locator("#id_hub option").filter(has_text=text).first.inner_text()
    return label
