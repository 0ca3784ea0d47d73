"""The matrix in a real browser: choices and the baseline, and back, forward and reload over them."""

import re

import pytest
from playwright.sync_api import Page, expect

from benchweb.hosts.endpoints.services import endpoint_create
from benchweb.hosts.services import environment_create, host_create, pair_create
from tests.browser import steps
from tests.factories import make_plan, make_user
from tests.measured import measured_run


@pytest.fixture
def measured(transactional_db: None) -> None:
    """Make a source and a sink in two network modes each, measured, and a user who may look at them."""
    make_user("ada", steps.PASSWORD)
    plan, zone = make_plan(repetitions=2), environment_create(name="same zone")
    source, sink = (
        [
            endpoint_create(host=host, control_address="127.0.0.1:1", network_mode=mode, same_machine=True)
            for mode in ("host", "terway")
        ]
        for host in (host_create(name="alder"), host_create(name="birch"))
    )
    for row, one in enumerate(source):
        for column, other in enumerate(sink):
            value = (1 + row * 2 + column) * 1e9
            measured_run(plan, pair_create(source=one, sink=other, environment=zone), [value, value])


def test_back_forward_and_reload_keep_choices_and_baseline(page: Page, measured: None) -> None:
    steps.log_in(page)
    page.goto("/matrix")
    expect(page.locator(".matrix th[scope=row]").first).to_contain_text("alder")
    page.locator("#filter-by").select_option("mode")
    expect(page).to_have_url(re.compile(r"by=mode"))
    expect(page.locator(".matrix th[scope=row]").first).to_contain_text("host")
    expect(page.locator(".matrix td").first).to_contain_text("1.00 Gbit/s")

    page.locator(".matrix th[scope=row]").first.hover()
    page.get_by_role("link", name="as baseline: host", exact=True).click()
    expect(page).to_have_url(re.compile(r"base_row=host"))
    expect(page.locator(".matrix td").nth(2)).to_contain_text("▲ +200 %")
    compared = page.url

    page.locator("#more-filters summary").click()
    page.locator("#filter-as").select_option("mbits")
    expect(page).to_have_url(re.compile(r"base_row=host.*as=mbits|as=mbits.*base_row=host"))
    expect(page.locator(".matrix td").first).to_contain_text("1,000.00 10⁶ bit/s")
    expect(page.locator(".matrix td").nth(2)).to_contain_text("▲ +200 %")

    page.reload()
    expect(page.locator("#filter-as")).to_have_value("mbits")
    steps.travel(page, page.go_back)
    expect(page).to_have_url(compared)
    expect(page.locator("#filter-as")).to_have_value("")
    steps.travel(page, page.go_back)
    expect(page.locator(".matrix td").nth(2)).not_to_contain_text("▲")
    expect(page.locator("#filter-by")).to_have_value("mode")
    steps.travel(page, page.go_forward)
    expect(page.locator(".matrix td").nth(2)).to_contain_text("▲ +200 %")
