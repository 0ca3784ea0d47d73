"""Jobs of notifications walked in a real browser from the log-in on, with their steps counted; so are fields."""

import re

from playwright.sync_api import Locator, Page, expect

from benchweb.common.followed import READ_AGAIN_SECONDS
from benchweb.hosts.services import host_create
from benchweb.notifications.models import Channel, MaintenanceWindow, Rule
from benchweb.site.values import site_settings_save
from tests.browser.steps import PASSWORD, log_in, travel
from tests.factories import make_user
from tests.notifications.conftest import receiver  # noqa: F401
from tests.notifications.receivers import HttpReceiver

MOST_STEPS_OF_WEBHOOK, MOST_STEPS_OF_SILENCE = 8, 3


class Steps:
    """Clicks and filled fields, counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0

    def click(self, target: Locator) -> None:
        self.count += 1
        target.click()

    def open(self, target: Locator) -> None:
        """Click what leads to another page."""
        self.count += 1
        travel(self.page, target.click)

    def fill(self, label: str, text: str) -> None:
        self.count += 1
        self.page.get_by_label(label).fill(text)


def test_a_webhook_with_its_rule_is_made_and_tested_in_eight_steps(
    page: Page,
    transactional_db: None,
    receiver: HttpReceiver,  # noqa: F811
) -> None:
    make_user("ada", PASSWORD)
    site_settings_save({"NOTIFY_PRIVATE_NETWORKS": "127.0.0.0/8"})
    log_in(page)
    # The web server is another process, and follows what is stored.
    page.wait_for_timeout((READ_AGAIN_SECONDS + 1) * 1_000)
    steps = Steps(page)
    steps.open(page.get_by_role("link", name="Settings", exact=True))
    steps.open(page.get_by_role("link", name="Notifications", exact=True))
    steps.open(page.get_by_role("link", name="Webhook", exact=True))
    steps.fill("Address", receiver.url)
    steps.click(page.get_by_role("button", name="Generate"))
    expect(page.get_by_label("Secret")).to_have_value(re.compile(r"whsec_[A-Za-z0-9+/]{43}="))
    expect(page.get_by_label("everything critical")).to_be_checked()
    steps.open(page.get_by_role("button", name="Save and send a test"))
    expect(page.get_by_text("The receiver took the test: 200 taken")).to_be_visible()
    assert steps.count <= MOST_STEPS_OF_WEBHOOK
    rule = Rule.objects.get()
    assert (rule.channel, rule.least_severity) == (Channel.objects.get(), "critical")
    assert len(receiver.got) == 1


def test_a_host_is_silent_for_tonight_in_three_steps(page: Page, transactional_db: None) -> None:
    make_user("ada", PASSWORD)
    host = host_create(name="alder")
    log_in(page)
    steps = Steps(page)
    steps.open(page.get_by_role("link", name="Hosts", exact=True))
    steps.open(page.get_by_role("link", name="alder", exact=True).first)
    steps.open(page.get_by_role("button", name="Silence for tonight"))
    expect(page.get_by_text(re.compile("Silenced until"))).to_be_visible()
    assert steps.count <= MOST_STEPS_OF_SILENCE
    assert MaintenanceWindow.objects.get().host == host
