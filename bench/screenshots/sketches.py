"""Take a picture of each page in frontend/sketches, of a dashboard of its own with the made-up nights of the alerts.

    .venv/bin/python -m bench.screenshots.sketches [--out frontend/sketches] [--only NAME]…

A picture bears the name of its sketch, NAME.svg, and shows as much of the page as the sketch does. It fails where a
sketch has no picture, or a picture more than 120 kB.
"""

import argparse
import base64
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from bench.rig.chromium import chromium
from bench.rig.rig import Rig
from bench.screenshots.alerts import CHANGES, PASSWORD, USER
from bench.screenshots.pages import settled
from benchweb.ops.running.home import PROJECT

WIDTH = 1180
# Of the window's pixels and of the picture's quality: letters stay legible.
SCALE, QUALITY = 0.8, 80
MOST_BYTES = 120_000
_TABLE = """name,address,labels
elder,192.0.2.5,rack-7
fir,192.0.2.6,rack-7
birch,192.0.2.2,rack-7
"""
_NETPERF = """MIGRATED TCP STREAM TEST from 0.0.0.0 port 0 AF_INET to 192.0.2.2 port 0 AF_INET
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

131072  16384  16384    10.00    9414.62

what nobody understands
"""


@dataclass(frozen=True)
class Picture:
    """A page's address, how high a part of it is shown, and what is done on it first."""

    address: str
    height: int
    act: Callable[[Page], None] | None = None
    width: int = WIDTH


def main() -> None:
    """Make the nights and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PROJECT / "frontend/sketches")
    parser.add_argument("--only", action="append", default=[], help="a sketch's name; may be repeated")
    arguments = parser.parse_args()
    sketches = {path.stem for path in (PROJECT / "frontend/sketches").glob("*.svg")}
    if sketches != PICTURES.keys():
        raise SystemExit(f"without a sketch or a picture: {sorted(sketches ^ PICTURES.keys())}")
    with Rig() as rig, sync_playwright() as playwright:
        rig.run("-m", "django", "collectstatic", "--noinput", "--verbosity", "0")
        rig.run("-m", "bench.screenshots.alert_rows")
        rig.start("web")
        browser = chromium(playwright)
        for name, picture in PICTURES.items():
            if not arguments.only or name in arguments.only:
                _take(browser, f"http://127.0.0.1:{rig.port}", picture, arguments.out / f"{name}.webp")
        browser.close()


def _take(browser: Browser, url: str, picture: Picture, file: Path) -> None:
    window = {"width": picture.width, "height": picture.height}
    context = browser.new_context(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme="light",
        reduced_motion="reduce",
        bypass_csp=True,
        base_url=url,
    )
    page = context.new_page()
    page.goto("/login")
    page.fill("[name=username]", USER)
    page.fill("[name=password]", PASSWORD)
    page.press("[name=password]", "Enter")
    page.wait_for_url(f"{url}/")
    page.goto(picture.address)
    settled(page)
    if picture.act:
        picture.act(page)
        settled(page)
    place = {"x": 0, "y": page.evaluate("scrollY"), **window, "scale": SCALE}
    # Playwright itself writes PNG and JPEG only; WebP has a third of the bytes.
    asked = {"format": "webp", "quality": QUALITY, "clip": place}
    answer = context.new_cdp_session(page).send("Page.captureScreenshot", asked)
    file.write_bytes(base64.b64decode(answer["data"]))
    size = file.stat().st_size
    print(f"{file} {size / 1000:.0f} kB", flush=True)
    if size > MOST_BYTES:
        raise SystemExit(f"{file} has {size:,} bytes.")
    context.close()


def _open_first(selector: str) -> Callable[[Page], None]:
    """Go to the first link that a selector finds."""

    def act(page: Page) -> None:
        page.goto(page.locator(selector).first.get_attribute("href") or "")

    return act


def _compare_kernels(page: Page) -> None:
    page.get_by_role("link", name="Before and after").first.click()
    page.wait_for_url("**/compare?**")


def _paste_hosts(page: Page) -> None:
    page.locator("textarea").first.fill(_TABLE)
    page.locator("table").first.wait_for()


def _paste_results(page: Page) -> None:
    page.locator("textarea").first.fill(_NETPERF)
    page.get_by_label("Pair").select_option(index=1)
    page.get_by_role("button", name="Preview").click()
    page.locator("#import-preview table").wait_for()


def _choose_endpoints(page: Page) -> None:
    page.locator("#mesh-all").check()
    page.get_by_label("Environment", exact=True).select_option(index=1)
    page.get_by_text("exist already").wait_for()


def _open_group(name: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_role("button", name=name, exact=True).click()


def _write_plan(page: Page) -> None:
    page.get_by_label("Name").fill("sizes")
    page.get_by_label("Message size").first.fill("64, 1Ki, 16Ki")
    page.get_by_label("Duration").first.fill("1")
    page.get_by_label("Duration").first.blur()
    page.wait_for_timeout(1_000)


def _change_plan(page: Page) -> None:
    """Make the plan's second version, and compare it with the first."""
    page.goto("/plans/1/edit")
    page.get_by_label("Repetitions").first.fill("5")
    page.get_by_role("button", name="Save").first.click()
    page.wait_for_url("**/plans/1")
    page.goto("/plans/1/versions")


def _choose_ends(page: Page) -> None:
    for name, index in (("Source", 1), ("Sink", 2)):
        page.get_by_label(name).first.select_option(index=index)


def _launch(page: Page) -> None:
    """Launch on three pairs, and open the last run: no worker takes them."""
    for box in page.locator("#launch-pairs tbody input[type=checkbox]").all()[:3]:
        box.check()
    page.get_by_role("button", name="Launch", exact=True).click()
    page.wait_for_url("**/campaigns/**")
    page.goto("/runs?state=pending")
    _open_first(".card-title a[href^='/runs/']")(page)


def _write_schedule(page: Page) -> None:
    page.get_by_label("Name").fill("rack 7, nightly")
    page.locator("#content input[name=pairs]").first.check()
    page.get_by_text("It fits in time").first.wait_for()


def _archive(page: Page) -> None:
    page.locator("#content tbody input[type=checkbox]").last.check()
    page.get_by_role("button", name="Archive…").click()
    page.get_by_role("button", name="Archive", exact=True).click()
    page.locator(".toast").first.wait_for()


def _share(page: Page) -> None:
    page.get_by_role("button", name="Create link").click()
    page.locator(".share-list li").first.wait_for()


PICTURES = {
    "account": Picture("/account", 760),
    "alert": Picture(CHANGES, 760, _open_first("[data-row] .card-title a")),
    "compare-sets": Picture("/fact-changes", 860, _compare_kernels),
    "fact-changes": Picture("/fact-changes", 420),
    "help": Picture("/help", 760),
    "history": Picture("/history?over=30d", 760),
    "host-new": Picture("/hosts/new", 760),
    "host-table": Picture("/hosts/import", 700, _paste_hosts),
    "imports": Picture("/imports", 980, _paste_results),
    "matrix": Picture("/matrix", 620),
    "mesh": Picture("/pairs/mesh", 760, _choose_endpoints),
    "navigation-narrow": Picture("/", 560, _open_group("Tests"), width=960),
    "navigation-phone": Picture("/", 844, width=390),
    "overview": Picture("/", 700),
    "plan-editor": Picture("/plans/new", 700, _write_plan),
    "plan-versions": Picture("/plans/1", 420, _change_plan),
    "quick-test": Picture("/quick-test", 560, _choose_ends),
    "run": Picture("/runs", 860, _open_first(".card-title a[href^='/runs/']")),
    "runs": Picture("/runs", 700),
    "schedule": Picture("/schedules/new?plan=1", 760, _write_schedule),
    "thresholds": Picture("/thresholds", 360),
    "view-share": Picture("/share?path=/history%3Fover%3D30d", 620, _share),
    # What makes rows comes last: the pictures before show the nights alone.
    "run-waiting": Picture("/plans/1/launch", 560, _launch),
    "undo": Picture("/hosts", 460, _archive),
}

if __name__ == "__main__":
    main()
