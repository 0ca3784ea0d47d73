"""Alerts taken care of without a mouse: from the mail to the history, and along the list."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect
from pytest_django import Settings

from benchweb.notifications.channels import channel_create
from benchweb.notifications.delivery import outbox
from benchweb.notifications.kinds.kind import ChannelSettings
from benchweb.notifications.services import RuleValues, rule_create
from benchweb.regressions.models import Alert
from tests.browser import steps
from tests.factories import make_alert, make_endpoint, make_pair, make_user
from tests.notifications.receivers import MailServer
from tests.regressions.judged import judged

State = Alert.State


@pytest.fixture
def ada(transactional_db: None) -> User:
    """Make the user who logs in."""
    return make_user("ada", steps.PASSWORD)


@pytest.fixture
def mail_server(settings: Settings, web: str) -> Iterator[MailServer]:
    with MailServer() as server:
        settings.EMAIL_BACKEND = "benchweb.site.mail.SiteEmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        settings.PUBLIC_URL = web
        yield server


def states() -> dict[int, str]:
    return dict(Alert.objects.values_list("pk", "state"))


def test_from_the_mail_by_its_link_to_acknowledged_taken_care_of_in_the_morning_and_still_in_history(
    ada: User, page: Page, web: str, mail_server: MailServer
) -> None:
    channel = channel_create(name="team", settings=ChannelSettings("email", to=["ann@example.org"]))
    rule_create(RuleValues(name="everything", channel=channel))
    pair = make_pair(source=make_endpoint(host_name="alder"), sink=make_endpoint(host_name="birch"))
    judged(pair, [1.0] * 20 + [0.7] * 8, first=-60)
    alert = Alert.objects.get()
    assert outbox.send_due() == 1
    (mail,) = mail_server.mails
    body = mail.get_body(("plain",))
    assert body is not None
    text = body.get_content()
    (link,) = re.findall(r"https?://\S+", text)
    assert link == f"{web}/alerts/{alert.pk}"

    page.goto(link)
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password").fill(steps.PASSWORD)
    page.keyboard.press("Enter")
    expect(page).to_have_url(link)
    title = page.get_by_role("heading", level=1).inner_text()
    # The figure is that of more runs by now.
    assert title.partition("−")[0] in mail["Subject"]
    morning = f"/morning?night={alert.night}"
    page.goto(morning)
    changed = page.locator("section", has=page.get_by_role("heading", name="What changed"))
    expect(changed.get_by_role("link", name=title)).to_be_visible()
    changed.get_by_role("link", name=title).focus()
    steps.travel(page, lambda: page.keyboard.press("Enter"))
    expect(page).to_have_url(link)

    steps.tab_to(page, "Comment")
    page.keyboard.type("a new switch")
    assert page.get_by_label("Comment").input_value() == "a new switch"
    page.get_by_role("button", name="Acknowledge").focus()
    page.keyboard.press("a")
    history = page.locator(".events")
    expect(history).to_contain_text("acknowledged · ada: a new switch")
    expect(history).to_contain_text("open")
    assert states() == {alert.pk: State.ACKNOWLEDGED}

    page.goto(morning)
    expect(page.get_by_role("heading", name="What changed")).to_be_visible()
    expect(changed.get_by_role("link", name=title)).to_have_count(0)
    handled = page.locator("section", has=page.get_by_role("heading", name="What somebody took care of"))
    expect(handled.get_by_role("link", name=title)).to_be_visible()
    page.goto("/alerts")
    expect(page.get_by_text("No open alerts.")).to_be_visible()
    page.goto("/alerts?state=acknowledged")
    expect(page.get_by_role("link", name=title)).to_be_visible()
    assert urlsplit(page.url).path == "/alerts"


def test_the_list_is_gone_through_by_letters_and_tells_what_was_done(ada: User, page: Page) -> None:
    pairs = [make_pair(source=make_endpoint(host_name=name)) for name in ("alder", "birch", "cedar", "dogwood")]
    fourth, third, second, first = (make_alert(pair=pair) for pair in pairs)
    steps.log_in(page)
    page.goto("/alerts")
    status = page.locator("#triage-status")
    page.keyboard.press("a")
    expect(status).to_have_text("No alert is selected: j and k move, x selects.")
    for key, row in (("j", first), ("j", second), ("k", first), ("k", first)):
        page.keyboard.press(key)
        expect(page.locator(f'a[href="/alerts/{row.pk}"]')).to_be_focused()
    page.keyboard.press("a")
    expect(status).to_have_text("1 alert acknowledged.")
    # The next one is where the first was.
    expect(page.locator(f'a[href="/alerts/{second.pk}"]')).to_be_focused()
    page.keyboard.press("x")
    expect(status).to_have_text("1 selected")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(status).to_have_text("2 selected")
    page.keyboard.press("i")
    expect(status).to_have_text("2 alerts marked as noise.")
    assert states() == {
        first.pk: State.ACKNOWLEDGED,
        second.pk: State.INVALID,
        third.pk: State.INVALID,
        fourth.pk: State.OPEN,
    }
    # A letter in a field is a letter; after g it is a page's.
    page.locator("tbody input[name='alert']").check()
    page.get_by_role("textbox", name="Comment").focus()
    page.keyboard.type("aei")
    page.locator(f'a[href="/alerts/{fourth.pk}"]').focus()
    steps.travel(page, lambda: page.keyboard.press("o"))
    expect(page).to_have_url(re.compile(f"/alerts/{fourth.pk}$"))
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_contain_text("in a list: next row, previous row")
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    assert states()[fourth.pk] == State.OPEN
    page.keyboard.press("e")
    expect(page.locator(".events")).to_contain_text("expected · ada")
    assert states()[fourth.pk] == State.EXPECTED


def test_a_filter_keeps_the_row_and_the_keys(ada: User, page: Page) -> None:
    kept, other = make_alert(pair=make_pair()), make_alert(pair=make_pair())
    Alert.objects.filter(pk=kept.pk).update(severity="critical")
    steps.log_in(page)
    page.goto("/alerts")
    page.keyboard.press("j")
    expect(page.locator(f'a[href="/alerts/{kept.pk}"]')).to_be_focused()
    page.get_by_label("Severity").select_option("critical")
    expect(page.locator(f'a[href="/alerts/{other.pk}"]')).to_have_count(0)
    expect(page).to_have_url(re.compile(r"\?severity=critical$"))
    # What htmx has not taken up yet is sent as any form.
    page.wait_for_load_state("networkidle")
    page.locator("main").focus()
    page.keyboard.press("a")
    expect(page.locator("#triage-status")).to_have_text("1 alert acknowledged.")
    expect(page.get_by_text("No alert matches these filters.")).to_be_visible()
    assert states() == {kept.pk: State.ACKNOWLEDGED, other.pk: State.OPEN}


def test_what_can_be_done_with_ticked_alerts_is_there_while_one_is_and_moves_no_row(ada: User, page: Page) -> None:
    for name in ("alder", "birch"):
        make_alert(pair=make_pair(source=make_endpoint(host_name=name)))
    steps.log_in(page)
    page.goto("/alerts")
    bar = page.locator(".ticked-bar")
    expect(bar).to_be_hidden()
    tick = page.locator("tbody input[name='alert']").first
    before = tick.bounding_box()
    tick.check()
    expect(bar.get_by_role("button", name="Acknowledge")).to_be_in_viewport()
    assert tick.bounding_box() == before
    tick.uncheck()
    expect(bar).to_be_hidden()
