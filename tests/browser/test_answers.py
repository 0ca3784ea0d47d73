"""Jobs of a morning, from log-in, with every click counted."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Browser, Locator, Page, expect

from benchweb.hosts.facts.records import facts_record
from benchweb.results.run_summaries import rebuild
from tests.browser.steps import PASSWORD, log_in
from tests.charts.history_rows import past_run
from tests.factories import make_endpoint, make_pair, make_plan, make_user
from tests.regressions.judged import judged

pytestmark = pytest.mark.django_db(transaction=True)
OLD, NEW = "6.1.0-28-amd64", "6.1.0-30-amd64"
NIGHTS = 8
MOST_CLICKS = 4


class Clicks:
    """Clicks that are counted."""

    def __init__(self) -> None:
        self.count = 0

    def on(self, target: Locator) -> None:
        target.click()
        self.count += 1


@pytest.fixture
def ada(transactional_db: None) -> User:
    return make_user("ada", PASSWORD)


def test_kernel_a_against_kernel_b(page: Page, ada: User) -> None:
    plan = make_plan(steps=[{"kind": "tcp_stream", "params": {"message_size_bytes": 1024}}], repetitions=3)
    pair, now = make_pair(), timezone.now()
    for night in range(2 * NIGHTS):
        at, is_new = now - timedelta(days=2 * NIGHTS - night), night >= NIGHTS
        rate = (9.1e9 if is_new else 1e10) * (1 + night % NIGHTS / 1000)
        past_run(plan, pair, at, *[{"throughput_bps": rate + n} for n in range(3)])
        for endpoint in (pair.source, pair.sink):
            facts_record(endpoint_id=endpoint.pk, document={"kernel": NEW if is_new else OLD}, at=at)
    rebuild()
    log_in(page)
    clicks = Clicks()
    clicks.on(page.get_by_role("link", name="Compare", exact=True).first)
    clicks.on(page.get_by_role("link", name=f"Kernel: {NEW} against {OLD}"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Compare 2 sets of runs")
    expect(page.locator(".headline").first).to_contain_text("−9.0")
    expect(page.get_by_text("8 runs on 1 pair").first).to_be_visible()
    assert clicks.count <= MOST_CLICKS


def test_any_two_kernels_are_chosen_by_the_form(page: Page, ada: User) -> None:
    pair = make_pair()
    for endpoint in (pair.source, pair.sink):
        facts_record(endpoint_id=endpoint.pk, document={"kernel": OLD}, at=timezone.now() - timedelta(days=2))
        facts_record(endpoint_id=endpoint.pk, document={"kernel": NEW}, at=timezone.now())
    log_in(page)
    clicks = Clicks()
    clicks.on(page.get_by_role("link", name="Compare", exact=True).first)
    page.locator('[name="1.of"]').select_option(f"kernel={OLD}")
    page.locator('[name="2.of"]').select_option(f"kernel={NEW}")
    clicks.count += 2
    clicks.on(page.get_by_role("button", name="Compare sets"))
    expect(page).to_have_url(re.compile(rf"side=kernel%3D{OLD}&side=kernel%3D{NEW}$"))
    assert clicks.count <= MOST_CLICKS


def test_what_got_worse_last_night_show_me_tell_a_colleague(page: Page, browser: Browser, ada: User) -> None:
    pair = make_pair(source=make_endpoint(host_name="alder"), sink=make_endpoint(host_name="birch"))
    judged(pair, [1.0] * 20 + [0.7] * 8, first=-60)
    log_in(page)
    clicks = Clicks()
    alert = page.locator('a[href^="/alerts/"]', has_text="alder").first
    clicks.on(alert)
    expect(page.get_by_role("img", name=re.compile("^Throughput")).first).to_be_visible()
    clicks.on(page.get_by_role("link", name="Share…"))
    clicks.on(page.get_by_role("button", name="Create link"))
    link = page.get_by_label("Link", exact=True).input_value()
    clicks.on(page.get_by_role("button", name="Copy link"))
    assert clicks.count <= MOST_CLICKS

    # A colleague without a log-in.
    context = browser.new_context()
    stranger = context.new_page()
    stranger.goto(link)
    expect(stranger.get_by_role("heading", level=1)).to_contain_text("alder")
    expect(stranger.get_by_role("img", name=re.compile("^Throughput")).first).to_be_visible()
    context.close()
