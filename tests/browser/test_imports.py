"""A colleague drops two netperf files and a pasted iperf3 table, previews, imports, compares, and shares a report."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from benchweb.imports.models import Import
from benchweb.results.run_summaries import rebuild
from benchweb.runs.models import Run
from tests.browser.steps import PASSWORD, launch, log_in
from tests.factories import make_endpoint, make_pair, make_plan, make_user
from tests.processes import Engine

pytestmark = pytest.mark.django_db(transaction=True)

PUBLISHED = Path(__file__).parents[1] / "toolformats" / "published"
TABLE = """[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  10.9 GBytes  9.39 Gbits/sec   12             sender
[  5]   0.00-10.04  sec  10.9 GBytes  9.35 Gbits/sec                  receiver
"""
# The first size of the published sweep, and of the engine's run beside it.
STEP = {"kind": "tcp_stream", "params": {"message_size_bytes": 1, "duration_seconds": 0.5}}


def test_files_and_a_table_stand_beside_the_engines_run_and_in_a_shared_report(
    page: Page, browser: Browser, tmp_path: Path, worker: Callable[[], object], engine_pair: tuple[Engine, Engine]
) -> None:
    ends = [make_endpoint(control_address=engine.control, token=engine.token) for engine in engine_pair]
    pair = make_pair(source=ends[0], sink=ends[1])
    make_user("ada", PASSWORD)
    plan = make_plan(steps=[STEP], repetitions=1)
    worker()
    log_in(page)
    page.goto(f"/plans/{plan.pk}")
    launch(page, plan.name, f"{ends[0]} → {ends[1]}")
    [measured] = Run.objects.get().trials.all()
    page.goto("/imports")
    _drop_and_paste(page, tmp_path)
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="tcp.txt")).to_be_visible()
    expect(page.get_by_text("13 results to import")).to_be_visible()
    expect(page.get_by_role("cell").filter(has_text="Throughput, sent: 9.39 Gbit/s")).to_be_visible()
    assert not Import.objects.exists()
    page.get_by_label("Pair").select_option(str(pair.pk))
    page.get_by_label("Measured at").fill("2024-05-01T03:00")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("Imported as runs:")).to_be_visible()
    assert Import.objects.count() == 3
    rebuild()
    imported = page.url
    _expect_overlay(page, measured.result.metrics["throughput_bps"])
    page.goto(imported)
    _expect_shared_report(page, browser)


def _drop_and_paste(page: Page, folder: Path) -> None:
    """Drop two files on the text field, as from a file manager: the browser must not open them in place of the page."""
    tcp, heading, udp = (PUBLISHED / "netperf_sizes.md").read_text().partition("MIGRATED UDP STREAM TEST")
    (folder / "tcp.txt").write_text(tcp)
    (folder / "udp.txt").write_text(heading + udp)
    field = page.get_by_label("Or paste text")
    field.fill(TABLE)
    place = field.bounding_box()
    assert place is not None
    data = {"items": [], "files": [str(folder / "tcp.txt"), str(folder / "udp.txt")], "dragOperationsMask": 1}
    devtools = page.context.new_cdp_session(page)
    for step in ("dragEnter", "dragOver", "drop"):
        event = {"type": step, "x": place["x"] + 40, "y": place["y"] + 40, "data": data}
        devtools.send("Input.dispatchDragEvent", event)


def _expect_overlay(page: Page, measured_bps: float) -> None:
    page.get_by_role("link", name="Show beside measured results").click()
    chart = page.locator(".chart").first
    chart.get_by_role("button", name="Table").click()
    lines = chart.locator("table tbody tr")
    expect(lines.filter(has_text="netperf")).to_have_count(13)
    expect(lines.filter(has_text="iperf3")).to_contain_text("9.35")
    # In Gbit/s, as 1 byte a message: 0.00427.
    expect(lines.filter(has_text="benchweb")).to_contain_text(f"{measured_bps / 1e9:.3g}")


def _expect_shared_report(page: Page, browser: Browser) -> None:
    page.get_by_role("link", name="Report…").click()
    page.get_by_label("Title").fill("netperf and iperf3 of spring")
    page.get_by_label("Conclusion").fill("TCP is as fast as the card.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1, name="netperf and iperf3 of spring")).to_be_visible()
    page.get_by_role("link", name="Share…").click()
    page.get_by_role("button", name="Create link").click()
    link = page.get_by_label("Link", exact=True).input_value()

    # A reader without a log-in.
    context = browser.new_context()
    stranger = context.new_page()
    stranger.goto(link)
    expect(stranger.get_by_role("heading", level=1)).to_contain_text("netperf and iperf3 of spring")
    expect(stranger.get_by_text("TCP is as fast as the card.")).to_be_visible()
    expect(stranger.get_by_role("cell", name="9350.00")).to_be_visible()
    context.close()
