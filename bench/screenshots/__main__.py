"""Take pictures of every page of a running dashboard: at desk and phone width, light and dark, in both languages.

    .venv/bin/python -m bench.screenshots [--url http://127.0.0.1:8000] [--out FOLDER] [--only NAME]…
        [--width desk|phone]… [--theme light|dark]… [--language en|zh-hans]… [--no-sheets]

What runs and shares it needs it finds by the dashboard's own lists; it makes two share links (and revokes one) and
saves a view, if there is a run. A line per page names what a script can see: wider than the window, texts that are
cut off, words that are not translated. Contact sheets of many pages each are in FOLDER/sheets.
`--readme FILE` keeps one picture of the latest run's page, for the README.
"""

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

from bench.rig.chromium import chromium
from bench.screenshots.checks import faults
from bench.screenshots.pages import Shot, settled, shots_of
from bench.screenshots.sheets import make_sheets

WIDTHS = {"desk": (1440, 900), "phone": (390, 844)}
Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
LANGUAGES = ("en", "zh-hans")
# A machine with other work may be slow; nothing is measured here.
TIMEOUT_MILLISECONDS = 180_000
# The run's summary and its first row of charts.
README = (1440, 880)


def main() -> None:
    """Take the pictures that the arguments ask for."""
    arguments = _arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        shots = shots_of(_logged_in(browser, arguments), arguments.url)
        taken = _taken(browser, arguments, shots)
        if arguments.sheets:
            for sheet in make_sheets(browser, taken, arguments.out / "sheets"):
                print(sheet)
        if arguments.readme:
            _take_readme(browser, arguments, shots)
        browser.close()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--out", type=Path, default=Path("screenshots"))
    parser.add_argument("--user", default="demo")
    parser.add_argument("--password", default="demo")
    parser.add_argument("--only", action="append", default=[], help="a page's name; may be repeated")
    for name, choices in (("width", WIDTHS), ("theme", THEMES), ("language", LANGUAGES)):
        parser.add_argument(
            f"--{name}", action="append", choices=list(choices), help="all unless told; may be repeated"
        )
    parser.add_argument("--no-sheets", dest="sheets", action="store_false", help="no contact sheets")
    parser.add_argument("--readme", type=Path, help="where the README's picture goes")
    return parser.parse_args()


def _taken(browser: Browser, arguments: argparse.Namespace, shots: list[Shot]) -> dict[str, list[Path]]:
    """Take them all; return the pictures of each combination, in the order of the pages."""
    taken: dict[str, list[Path]] = {}
    for width, theme, language in _combinations(arguments):
        combination = f"{width}-{theme}-{language}"
        inside = _logged_in(browser, arguments, width, theme, language)
        outside = _page(browser, width, theme, language)
        for shot in shots:
            if arguments.only and shot.name not in arguments.only:
                continue
            file = arguments.out / f"{shot.name}-{combination}.png"
            _take(outside if shot.is_public else inside, arguments.url, shot, file, language)
            taken.setdefault(combination, []).append(file)
        for page in (inside, outside):
            page.context.close()
    return taken


def _combinations(arguments: argparse.Namespace) -> Iterator[tuple[str, Theme, str]]:
    return product(arguments.width or WIDTHS, arguments.theme or THEMES, arguments.language or LANGUAGES)


def _page(browser: Browser, width: str, theme: Theme, language: str) -> Page:
    wide, high = WIDTHS[width]
    context = browser.new_context(
        bypass_csp=True,
        viewport={"width": wide, "height": high},
        color_scheme=theme,
        device_scale_factor=1,
        locale="zh-CN" if language == "zh-hans" else "en-GB",
        reduced_motion="reduce",
    )
    context.set_default_timeout(TIMEOUT_MILLISECONDS)
    return context.new_page()


def _logged_in(
    browser: Browser, arguments: argparse.Namespace, width: str = "desk", theme: Theme = "light", language: str = "en"
) -> Page:
    page = _page(browser, width, theme, language)
    page.goto(f"{arguments.url}/login")
    page.fill("[name=username]", arguments.user)
    page.fill("[name=password]", arguments.password)
    page.press("[name=password]", "Enter")
    page.wait_for_url(f"{arguments.url}/")
    return page


def _take(page: Page, url: str, shot: Shot, file: Path, language: str) -> None:
    page.emulate_media(media=shot.media)
    page.goto(url + shot.address)
    settled(page)
    if shot.act:
        shot.act(page)
        settled(page)
    # What stands above the page is as high as the window: a picture of the whole page would show it lost in it.
    page.screenshot(path=file, full_page=shot.act is None, timeout=TIMEOUT_MILLISECONDS)
    texts = faults(page, language)
    print(f"{file.name} {shot.address}{''.join(chr(10) + '    ' + text for text in texts)}", flush=True)


def _take_readme(browser: Browser, arguments: argparse.Namespace, shots: list[Shot]) -> None:
    run = next((shot for shot in shots if shot.name == "run"), None)
    if run is None:
        raise SystemExit("No run is there to take a picture of.")
    page = _logged_in(browser, arguments)
    page.set_viewport_size({"width": README[0], "height": README[1]})
    page.goto(arguments.url + run.address)
    settled(page)
    page.screenshot(path=arguments.readme)


if __name__ == "__main__":
    main()
