"""The overview of a fleet of twelve environments: one screen of a laptop, three of a phone."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, ViewportSize, expect

from benchweb.hosts.models import Endpoint
from benchweb.regressions.models import Alert
from benchweb.results import nightly_summaries
from benchweb.results.run_summaries import rebuild
from benchweb.runs.models import Run, State
from tests.browser.steps import PASSWORD, log_in
from tests.charts.history_rows import DAY, past_run
from tests.factories import make_alert, make_endpoint, make_pair, make_plan, make_run, make_schedule, make_user

LAPTOP: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
MOST_PHONES = 3
ENVIRONMENTS = 12
ROW_PIXELS = 40
NIGHTS = 8
_HEIGHT = "document.documentElement.scrollHeight"


@pytest.fixture
def fleet(transactional_db: None) -> None:
    """Fill the overview as after a bad night: alerts, incomplete runs, a host that is silent, runs and schedules."""
    make_user("ada", PASSWORD)
    now = timezone.now()
    stream = make_plan(name="sizes", steps=[{"kind": "tcp_stream", "params": {"duration_seconds": 1}}])
    rates = make_plan(name="rates", steps=[{"kind": "udp_stream", "params": {"message_size_bytes": 64}}])
    requests = make_plan(name="requests", steps=[{"kind": "tcp_rr", "params": {"request_size_bytes": 1}}])
    pairs = [make_pair(environment=f"zone {n} {'terway' if n % 2 else 'host'}") for n in range(ENVIRONMENTS)]
    for number, pair in enumerate(pairs):
        for night in range(NIGHTS, 0, -1):
            at, wobble = now - night * DAY + timedelta(hours=3), 1 + (night * 7 + number) % 5 / 100
            past_run(stream, pair, at, *[{"throughput_bps": 1.61e10 * wobble + n} for n in range(3)])
            past_run(rates, pair, at, *[{"packets_per_second": 7.28e5 * wobble + n} for n in range(3)])
            past_run(requests, pair, at, *[{"latency_p99_seconds": 3.4e-5 * wobble + n * 1e-9} for n in range(3)])
    for number, reason in enumerate(["no route to host", "no route to host", "the engine restarted within the test"]):
        past_run(stream, pairs[number], now - timedelta(hours=2), state=State.FAILED, reason=reason)
    for number, pair in enumerate(pairs[:6]):
        at = now - (timedelta(hours=6) if number < 2 else number * DAY)
        alert = make_alert(pair=pair, at=at)
        Alert.objects.filter(pk=alert.pk).update(environment=pair.environment, opened_at=at)
    for number in range(3):
        make_schedule(name=f"nightly {number}", plan=stream, target={"pairs": [pairs[number].pk]})
    Run.objects.filter(pk=make_run(pair=pairs[0]).pk).update(state=State.RUNNING, started_at=now)
    make_run(pair=pairs[1])
    silent = Endpoint.objects.filter(pk=make_endpoint(host_name="alder").pk)
    silent.update(status="unreachable", status_reason="timed out", unreachable_since=now, checked_at=now)
    rebuild()
    nightly_summaries.make()


def test_twelve_environments_are_seen_in_one_screen_of_a_laptop(page: Page, fleet: None) -> None:
    page.set_viewport_size(LAPTOP)
    log_in(page)
    rows = page.locator(".environments-now tbody tr")
    expect(rows).to_have_count(ENVIRONMENTS)
    expect(page.locator(".headline")).to_contain_text("2 new, 4 ongoing")
    assert {round(height) for height in rows.evaluate_all("all => all.map(row => row.offsetHeight)")} == {ROW_PIXELS}
    assert page.evaluate(_HEIGHT) <= LAPTOP["height"]


def test_a_phone_shows_it_in_three_screens(page: Page, fleet: None) -> None:
    page.set_viewport_size(PHONE)
    log_in(page)
    expect(page.locator(".environments-now tbody tr")).to_have_count(ENVIRONMENTS)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert page.evaluate(_HEIGHT) <= MOST_PHONES * PHONE["height"]
