"""Take pictures of every page of a running dashboard, at desk and phone width, light and dark.

    .venv/bin/python bench/screenshots.py [--url http://127.0.0.1:8000] [--out FOLDER] [--only NAME]…

`--readme FILE` keeps one picture of the latest run's page, for the README.
"""

import argparse
import os
import re
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
DESK, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
# The run's summary and its first row of charts.
README = {"width": 1440, "height": 666}
THEMES = ("light", "dark")
# Charts draw without animation, but the font and the first live event may come later.
SETTLE_MILLISECONDS = 400

PAGES = {
    "overview": "/",
    "hosts": "/hosts",
    "hosts-archived": "/hosts?archived=1",
    "host-new": "/hosts/new",
    "environments": "/environments",
    "environment-new": "/environments/new",
    "pairs": "/pairs",
    "pairs-none": "/pairs?q=no-such-host",
    "pair-new": "/pairs/new",
    "plans": "/plans",
    "plan-new": "/plans/new",
    "launch": "/launch",
    "campaigns": "/campaigns",
    "schedules": "/schedules",
    "schedules-none": "/schedules?q=no-such-schedule",
    "schedule-new": "/schedules/new",
    "timeline": "/timeline",
    "week": "/timeline/week",
    "runs": "/runs",
    "matrix": "/matrix",
    "matrix-modes": "/matrix?by=mode",
    "compare": "/compare?runs=1,2",
    "compare-one": "/compare?runs=1",
    "compare-none": "/compare",
    "tokens": "/tokens",
}
# Pages of a row: the list they are found on, and what follows the row's URL.
OF_A_ROW = {
    "host": ("/hosts", ""),
    "host-edit": ("/hosts", "/edit"),
    "host-archive": ("/hosts", "/archive"),
    "endpoint-new": ("/hosts", "/endpoints/new"),
    "environment": ("/environments", ""),
    "pair": ("/pairs", ""),
    "pair-edit": ("/pairs", "/edit"),
    "plan": ("/plans", ""),
    "plan-edit": ("/plans", "/edit"),
    "plan-launch": ("/plans", "/launch"),
    "schedule": ("/schedules", ""),
    "schedule-edit": ("/schedules", "/edit"),
    "schedule-archive": ("/schedules", "/archive"),
    "campaign": ("/campaigns", ""),
    "run": ("/runs", ""),
    "run-shares": ("/runs", "/shares"),
    "trial": ("/runs", "/trials/1"),
}


def main() -> None:
    """Take the pictures that the arguments ask for."""
    arguments = _arguments()
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*sandbox, "--disable-background-networking"]
        )
        addresses = _addresses(browser, arguments)
        for theme in THEMES:
            for width, viewport in (("desk", DESK), ("phone", PHONE)):
                page = _logged_in(browser, arguments, theme, viewport)
                for name, address in addresses.items():
                    _take(page, arguments.url + address, arguments.out / f"{name}-{width}-{theme}.png")
        if arguments.readme:
            page = _logged_in(browser, arguments, "light", DESK)
            page.set_viewport_size(README)
            _take(page, arguments.url + _row(page, arguments.url, "/runs"), arguments.readme, whole=False)
        browser.close()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--out", type=Path, default=Path("screenshots"))
    parser.add_argument("--user", default="demo")
    parser.add_argument("--password", default="demo")
    parser.add_argument("--only", action="append", default=[], help="a page's name; may be repeated")
    parser.add_argument("--readme", type=Path, help="where the README's picture goes")
    return parser.parse_args()


def _addresses(browser: Browser, arguments: argparse.Namespace) -> dict[str, str]:
    page = _logged_in(browser, arguments, "light", DESK)
    found = PAGES | {
        name: row + rest for name, (listed, rest) in OF_A_ROW.items() if (row := _row(page, arguments.url, listed))
    }
    return {name: address for name, address in found.items() if not arguments.only or name in arguments.only}


def _row(page: Page, url: str, listed: str) -> str:
    """Give the path of the first row of a list; empty when the list is."""
    page.goto(url + listed)
    links = page.locator("#content a").evaluate_all("all => all.map(each => each.getAttribute('href'))")
    return next((link for link in links if link and re.fullmatch(rf"{listed}/[0-9]+", link)), "")


def _logged_in(browser: Browser, arguments: argparse.Namespace, theme: str, viewport: dict[str, int]) -> Page:
    context = browser.new_context(viewport=viewport, color_scheme=theme, device_scale_factor=1)
    page = context.new_page()
    page.goto(f"{arguments.url}/login")
    _picture_of_login(page, arguments, theme, viewport)
    page.fill("[name=username]", arguments.user)
    page.fill("[name=password]", arguments.password)
    page.press("[name=password]", "Enter")
    page.wait_for_url(f"{arguments.url}/")
    return page


def _picture_of_login(page: Page, arguments: argparse.Namespace, theme: str, viewport: dict[str, int]) -> None:
    if not arguments.only or "login" in arguments.only:
        width = "desk" if viewport == DESK else "phone"
        page.screenshot(path=arguments.out / f"login-{width}-{theme}.png")


def _take(page: Page, address: str, file: Path, *, whole: bool = True) -> None:
    page.goto(address)
    page.wait_for_timeout(SETTLE_MILLISECONDS)
    # Parts that the page fetches by itself.
    page.wait_for_function("!document.querySelector('.htmx-request')")
    file.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=file, full_page=whole)
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    print(f"{file}{'  WIDER THAN THE WINDOW by ' + str(overflow) + ' px' if overflow > 0 else ''}")


if __name__ == "__main__":
    main()
