"""Every page: by axe-core's rules (WCAG 2 A and AA) light and dark, its policy, its weight, its charts' tables, zoomed.

All is asked of a page while it is open: to open each takes as long as to ask it.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import F, Value
from django.db.models.functions import Concat
from django.template.loader import render_to_string
from django.test import Client
from playwright.sync_api import Page, Response, ViewportSize

from benchweb.hosts.models import Environment, Host
from benchweb.plans.models import Plan
from tests.browser.jobs.test_zoom import faults_in_windows
from tests.browser.site import OF_STRANGERS, Address, filled_site, names_of_pages
from tests.browser.steps import IS_WHOLE, log_in, wait_until

AXE = Path(__file__).resolve().parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
_RULES = "type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']"
# Of all rules this one alone minds colours.
_COLOURS = "type: 'rule', values: ['color-contrast']"
# No rule of these reads style sheets, which are else fetched and parsed for each page.
_AXE = """async ([within, runOnly]) => (await axe.run(within, {
    runOnly, resultTypes: ["violations"], preload: {assets: ["media"]},
})).violations"""
# What is told by itself when it changes and is a stop of the keyboard, too, is read twice. What scrolls may be a stop.
_TWICE = """() => {
    const isStop = each => each.hasAttribute("tabindex") || each.tabIndex >= 0;
    const scrolls = each => /auto|scroll/.test(getComputedStyle(each).overflow);
    const live = "[aria-live]:not([aria-live=off]), [role=status], [role=alert], [role=log]";
    const both = [...document.querySelectorAll(live)].filter(each => isStop(each) || scrolls(each));
    return both.map(each => each.outerHTML.slice(0, 120));
}"""
_MOST_BYTES = 200_000
_WINDOW: ViewportSize = {"width": 1280, "height": 720}
# What a first visit fetches, as it came over the wire; charts, and the rows of the tables that they open.
_VISIT = """() => {
    const fetched = ["navigation", "resource"].flatMap(type => performance.getEntriesByType(type));
    for (const button of document.querySelectorAll(".chart-actions [aria-expanded=false]")) button.click();
    const charts = [...document.querySelectorAll("section.chart")];
    return {
        bytes: fetched.reduce((sum, each) => sum + each.encodedBodySize, 0),
        hasChartCode: fetched.some(each => /charts(\\.\\w+)?\\.js$/.test(each.name)),
        mayDraw: charts.length > 0 || document.querySelector("[data-running], [data-chart]") !== null,
        canvases: document.querySelectorAll("section.chart canvas").length,
        rows: charts.map(chart => chart.querySelectorAll(".chart-table tbody tr").length),
    };
}"""
_FOLD = "for (const button of document.querySelectorAll('.chart-actions [aria-expanded=true]')) button.click()"
# What is around the contents of other pages has the same colours as on these.
_WHOLE = {"login", "overview", "fault"}
# A real browser tells what it had to block.
LISTEN = """
    window.blocked = [];
    document.addEventListener("securitypolicyviolation", event =>
        window.blocked.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
"""
_CHINESE = {"overview", "launch", "history", "matrix", "run", "shared"}
WITH_CHARTS = {
    *("dashboard", "host", "host_availability", "run", "trial", "report", "compare", "history"),
    *("shared", "shared_embed", "run_preview"),
}


def violations(page: Page, run_only: str = _RULES, within: str = "html") -> list[str]:
    """Return what axe-core finds against a part of the page, with the first element at fault."""
    found: list[Any] = page.evaluate(f"({_AXE})(['{within}', {{{run_only}}}])")
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:80]} {each['nodes'][0]['failureSummary'][:200]}" for each in found
    ]


@pytest.mark.begun_first
@pytest.mark.usefixtures("sends_mail")
def test_every_page_keeps_the_rules_of_accessibility_its_policy_its_weight_a_table_for_each_chart_and_any_window(
    page: Page, web: str
) -> None:
    pages = filled_site()
    assert {each.name for each in pages} == names_of_pages() | {"not found"}
    page.context.add_init_script(path=AXE)
    page.context.add_init_script(LISTEN)
    faults: list[str] = []
    drawn: set[str] = set()
    tabbed: set[str] = set()
    for each in pages:
        if each.name in OF_STRANGERS:
            faults += [*visited(page, each, drawn), *zoomed(page, each, tabbed)]
    log_in(page)
    _lengthen_names()
    for each in pages:
        if each.name not in OF_STRANGERS:
            faults += [*visited(page, each, drawn), *zoomed(page, each, tabbed)]
    fault = render_to_string("500.html")
    policy = Client().get("/login").headers["Content-Security-Policy"]
    headers = {"Content-Type": "text/html", "Content-Security-Policy": policy}
    page.route("**/fault", lambda route: route.fulfill(status=500, headers=headers, body=fault))
    faults += visited(page, Address("fault", "/fault", 500), drawn)
    page.context.add_cookies([{"name": settings.LANGUAGE_COOKIE_NAME, "value": "zh-hans", "url": web}])
    for each in pages:
        if each.name in _CHINESE:
            page.goto(each.path)
            assert page.locator("html").get_attribute("lang") == "zh-hans"
            faults += [f"{each.path}, Chinese: {fault}" for fault in violations(page)]
    assert "\n".join(faults) == ""
    assert drawn == WITH_CHARTS


def visited(page: Page, address: Address, drawn: set[str]) -> list[str]:
    """Look at a page in both themes; return what is wrong with it."""
    # Without motion no colour is still on its way to the other theme's.
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.set_viewport_size(_WINDOW)
    answer = page.goto(address.path)
    assert answer is not None
    # A log-in page in its place would keep all the rules.
    assert (answer.status, page.url) == (address.status, urljoin(page.url, address.path))
    # What the page fetches by itself belongs to it.
    wait_until(page, IS_WHOLE)
    visit = page.evaluate(_VISIT)
    found = [*unguarded(answer), *page.evaluate("window.blocked")]
    found += [f"light: {fault}" for fault in violations(page)]
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    within = "html" if address.name in _WHOLE else "#content"
    found += [f"dark: {fault}" for fault in violations(page, _COLOURS, within)]
    found += [f"told by itself, and a stop of the keyboard: {markup}" for markup in page.evaluate(_TWICE)]
    if visit["bytes"] > _MOST_BYTES:
        found.append(f"{visit['bytes']:,} bytes")
    if visit["hasChartCode"] != visit["mayDraw"]:
        found.append(f"chart code is {'' if visit['hasChartCode'] else 'not '}there, charts are: {visit['rows']}")
    if visit["canvases"] != len(visit["rows"]) or 0 in visit["rows"]:
        found.append(f"{visit['canvases']} charts have tables of {visit['rows']} rows")
    if visit["rows"]:
        drawn.add(address.name)
    return [f"{address.path}, {each}" for each in found]


def zoomed(page: Page, address: Address, tabbed: set[str]) -> list[str]:
    """Look at the page that is open in other windows, as it was before its charts' tables were opened."""
    page.evaluate(_FOLD)
    return faults_in_windows(page, address, tabbed)


def _lengthen_names() -> None:
    """Give rows and the reader names as long as real ones are."""
    Host.objects.update(name=Concat(F("name"), Value("-rack14-u07.frankfurt.example.net")))
    Environment.objects.update(name=Concat(F("name"), Value(", two zones over the backbone")))
    Plan.objects.update(name=Concat(F("name"), Value(" of every size, nightly")))
    User.objects.update(username=Concat(F("username"), Value(".augusta.king.lovelace")))


def unguarded(answer: Response) -> list[str]:
    """Return what is wrong with the headers of a page."""
    policy = answer.headers.get("content-security-policy", "")
    loose = [each for each in ("unsafe", "http:", "https:") if each in policy] or "default-src" not in policy
    return [f"policy {policy!r}"] if loose else []
