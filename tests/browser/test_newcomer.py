"""The newcomer's path in a real browser, with real engines and a real worker."""

import secrets
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from benchweb.runs.models import Run
from tests.browser import steps
from tests.factories import make_user
from tests.processes import Engine
from tests.setup.processes import free_port


@pytest.fixture
def ada(transactional_db: None) -> User:
    """Make the user who logs in."""
    return make_user("ada", steps.PASSWORD)


def test_from_the_log_in_to_a_chart(
    ada: User, page: Page, worker: Callable[[], object], engine_pair: tuple[Engine, Engine]
) -> None:
    worker()
    steps.log_in_by_form(page)
    steps.add_host(page, "alder", engine_pair[0])
    steps.add_host(page, "birch", engine_pair[1])
    steps.add_environment(page, "same zone")
    steps.add_pair(page, "alder", "birch", "same zone")

    page.get_by_role("link", name="Plans").click()
    steps.travel(page, page.get_by_role("link", name="Create the first plan").click)
    page.get_by_label("Name", exact=True).fill("sizes")
    page.get_by_label("Repetitions", exact=True).fill("2")
    page.get_by_label("Message size").fill("64, 1k, 16Ki")
    page.get_by_label("Duration").fill("0.5")
    expect(page.locator("#plan-preview .preview-figures")).to_contain_text("6")
    expect(page.locator("#plan-preview .preview-figures")).to_contain_text("3.00 s")
    page.get_by_role("button", name="Save plan").click()
    expect(page.get_by_role("heading", level=1, name="sizes")).to_be_visible()
    steps.launch(page, "sizes", "alder (host) → birch (host)")

    expect(page.get_by_role("heading", name="Throughput by message size")).to_be_visible()
    assert all(pixels > 1_000 for pixels in steps.ink_of(page))
    page.get_by_role("button", name="Table").first.click()
    shown = page.get_by_role("table").filter(has_text="Message size").first
    expect(shown).to_contain_text("64 B")
    expect(shown).to_contain_text("16 KiB")
    run = Run.objects.get()
    assert run.state == "finished"
    trials = list(run.trials.order_by("index"))
    assert [trial.params["message_size_bytes"] for trial in trials] == [64, 1000, 16384] * 2
    assert all(trial.result.metrics["throughput_bps"] > 0 for trial in trials)


def test_a_host_turns_green_by_itself_when_its_engine_starts(
    ada: User, page: Page, worker: Callable[[], object], engine: Callable[..., Engine]
) -> None:
    worker()
    steps.log_in(page)
    address, token = f"127.0.0.1:{free_port()}", secrets.token_hex(32)
    page.goto("/hosts/new")
    page.get_by_label("Host's name").fill("cedar")
    page.get_by_label("Engine's address").fill(address)
    page.get_by_label("Engine's token").fill(token)
    page.get_by_role("button", name="Add host").click()
    watch = page.locator(".endpoint-watch")
    expect(watch.locator(".state-unreachable")).to_be_visible()
    # Below the one command, where this dashboard has the static engine to be fetched.
    expect(page.get_by_text("This panel shows “up” as soon as the engine answers")).to_be_attached()
    running = engine("late", listen=address, token=token)
    expect(watch.locator(".state-answered")).to_be_visible()
    expect(page.get_by_text("This panel shows “up” as soon as the engine answers")).to_have_count(0)
    expect(page.get_by_text(running.fingerprint)).to_be_visible()


def test_the_editor_says_what_is_wrong_at_the_field_while_one_types(ada: User, page: Page) -> None:
    steps.log_in(page)
    page.goto("/plans/new")
    sizes = page.get_by_label("Message size")
    sizes.fill("64, 1k, 64Gi")
    error = page.locator("#error-s0-message_size_bytes")
    expect(error).to_contain_text("must be from 1 to 134,217,728 B")
    expect(page.locator("#plan-preview")).to_contain_text("Step 1, message size")
    sizes.fill("64, 1k")
    expect(error).to_be_empty()
    expect(page.locator("#plan-preview .preview-figures")).to_contain_text("10")
    page.get_by_role("button", name="Add step").click()
    page.get_by_label("Test kind of step 2").select_option("udp_stream")
    expect(page.locator("#plan-preview .preview-figures")).to_contain_text("15")
    page.get_by_role("button", name="Up step 2").click()
    expect(page.get_by_label("Test kind of step 1")).to_have_value("udp_stream")
    expect(page.get_by_label("Test kind of step 2")).to_have_value("tcp_stream")
    assert page.locator("#id_s0-message_size_bytes").input_value() == "64, 1k"
