"""Take the pictures of alerts and of a run that the docs show, of a dashboard of their own with made-up nights.

    .venv/bin/python -m bench.screenshots.alerts [--out docs/images] [--keep]

PostgreSQL, Valkey and the web run in a folder that is removed afterwards; `--keep` leaves them running until Enter, to
look at the pages by hand. Where pngquant is installed the pictures have a third of the bytes.
"""

import argparse
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from bench.rig.chromium import chromium
from bench.rig.rig import Rig
from bench.screenshots.pages import settled
from benchweb.ops.running.home import PROJECT

# Not the demo's account, which is shut where no demo runs.
USER, PASSWORD = "ada", "nights of a mesh"  # pragma: allowlist secret
WIDTH, HEIGHT = 1180, 900
# By the name of the picture: the page, and how much of it is shown.
PICTURES = {"alerts": ("/alerts", 560), "thresholds": ("/thresholds", 300)}
# The night that is shown: so many before the latest a host got slow.
NIGHTS_SLOW, NIGHT_HEIGHT = 7, 520
# The alert that is shown: a change, the worst of them.
CHANGES = "/alerts?kind=change"
ALERT_HEIGHT = 1180
# A run of the last night, for the README: its figures and its first charts.
RUN_HEIGHT = 690
# A third of the bytes, and no difference that an eye sees.
COLOURS = 128


def main() -> None:
    """Make the nights and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PROJECT / "docs/images")
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    with Rig() as rig:
        rig.run("-m", "django", "collectstatic", "--noinput", "--verbosity", "0")
        rig.run("-m", "bench.screenshots.alert_rows")
        rig.start("web")
        url = f"http://127.0.0.1:{rig.port}"
        _take_all(url, arguments.out)
        if arguments.keep:
            input(f"{url} ({USER}, {PASSWORD}); Enter ends it ")


def _take_all(url: str, out: Path) -> None:
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light", bypass_csp=True)
        page.goto(f"{url}/login")
        page.fill("[name=username]", USER)
        page.fill("[name=password]", PASSWORD)
        page.press("[name=password]", "Enter")
        page.wait_for_url(f"{url}/")
        for name, (address, height) in PICTURES.items():
            _take(page, url + address, out / f"{name}.png", height)
        night = datetime.now(UTC).date() - timedelta(days=NIGHTS_SLOW)
        _take(page, f"{url}/morning?night={night}", out / "morning.png", NIGHT_HEIGHT)
        page.goto(url + CHANGES)
        alert = page.locator(".card-title a").first.get_attribute("href")
        _take(page, f"{url}{alert}", out / "alert.png", ALERT_HEIGHT)
        page.goto(f"{url}/runs?state=finished")
        run = page.locator("#runs .card-title a").first.get_attribute("href")
        _take(page, f"{url}{run}", out / "run.png", RUN_HEIGHT)
        browser.close()


def _take(page: Page, address: str, file: Path, height: int) -> None:
    page.set_viewport_size({"width": WIDTH, "height": height})
    page.goto(address)
    settled(page)
    page.screenshot(path=file)
    if pngquant := shutil.which("pngquant"):
        command = [pngquant, "--force", "--skip-if-larger", "--strip", "--ext", ".png", str(COLOURS), str(file)]
        subprocess.run(command, check=False)
    print(f"{file} {file.stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
