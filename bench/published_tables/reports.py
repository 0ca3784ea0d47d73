"""The five templates of reports, each filled with runs of the lab, as documents and as pictures."""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from bench.published_tables.scene import MODES
from bench.rig.api import Api

# A page at half its size is read well enough, and a long one stays small.
_SCALE, _QUALITY = 0.75, 50
_MOST_BYTES = 130_000
# Of a long document its first tables are shown.
_TALLEST = 1_600
_SETTLE_MILLISECONDS = 800
_ENVIRONMENT = (
    "Three machines as network namespaces of one machine of two CPUs, on which the dashboard and other work ran. "
    "Modes and zones are what packets go through: a veth pair, one without segmentation offload, a further bridge; "
    "2 Gbit/s between zones."
)
_CONCLUSION = "The shape is the published report's; the figures are one small machine's, and say nothing about another."


def reports_made(api: Api, runs: Mapping[str, Sequence[int]], *, seconds: float) -> dict[str, int]:
    """Make a report of each template's runs; return their ids by template."""
    method = f"Windows of {seconds:g} s and three repetitions, where the published report took 10 s to 60 s."
    titles = {
        "sizes": "Throughput by message size",
        "methods": "Test methods",
        "modes": "Network modes × modes, two zones",
        "baseline": "Server baseline",
        "wan": "WAN, five indicators",
    }
    return {
        template: api.call("POST", "/reports", _body(template, titles[template], list(chosen), method))["id"]
        for template, chosen in runs.items()
    }


def pictures_taken(page: Page, url: str, reports: Mapping[str, int], out: Path) -> None:
    """Take a picture of each report's results, as a small WebP: the rest tells of the machine that this ran on."""
    for template, report in reports.items():
        page.goto(f"{url}/reports/{report}")
        page.wait_for_timeout(_SETTLE_MILLISECONDS)
        # One, or one of each zone.
        results = page.locator("section", has=page.locator("[id^=section-results]")).all()
        places = [place for each in results if (place := each.bounding_box())]
        if not places:
            raise SystemExit(f"report {report} shows nothing")
        height = places[-1]["y"] + places[-1]["height"] - places[0]["y"]
        clip = {**places[0], "height": min(height, _TALLEST), "scale": _SCALE}
        # Playwright itself writes PNG and JPEG only.
        asked = {"format": "webp", "quality": _QUALITY, "clip": clip, "captureBeyondViewport": True}
        answer = page.context.new_cdp_session(page).send("Page.captureScreenshot", asked)
        file = out / f"report-{template}.webp"
        file.write_bytes(base64.b64decode(answer["data"]))
        print(f"{file} {file.stat().st_size / 1000:.0f} kB", flush=True)
        if file.stat().st_size > _MOST_BYTES:
            raise SystemExit(f"{file} has {file.stat().st_size:,} bytes.")


def _body(template: str, title: str, runs: list[int], method: str) -> dict[str, Any]:
    return {
        "title": title,
        "template": template,
        "runs": runs,
        "statistic": "mean",
        "modes": list(MODES) if template == "modes" else [],
        "environment": _ENVIRONMENT,
        "method": method,
        "conclusion": _CONCLUSION,
    }
