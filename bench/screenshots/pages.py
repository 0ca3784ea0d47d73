"""What there is to take pictures of: one table of pages, and what is found or made for those of a row."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from playwright.sync_api import Page

# Charts draw without animation, but the font and the first live event may come later.
_SETTLE_MILLISECONDS = 250
_UNSETTLED = ".htmx-request, [data-part], [data-script]:not([data-started])"


@dataclass(frozen=True)
class Shot:
    """A picture: a page's address, what is done on it first, and whether a stranger looks."""

    name: str
    address: str
    act: Callable[[Page], None] | None = None
    is_public: bool = False
    media: Literal["print", "screen"] = "screen"


def settled(page: Page) -> None:
    """Wait for the parts that a page fetches by itself, and for its charts."""
    page.wait_for_timeout(_SETTLE_MILLISECONDS)
    page.wait_for_function(f"!document.querySelector('{_UNSETTLED}')")


def _press(key: str) -> Callable[[Page], None]:
    return lambda page: page.keyboard.press(key)


def _click(selector: str) -> Callable[[Page], None]:
    return lambda page: page.locator(selector).first.click()


def _search_for(text: str) -> Callable[[Page], None]:
    def act(page: Page) -> None:
        page.locator("#search").press_sequentially(text)
        page.wait_for_timeout(2 * _SETTLE_MILLISECONDS)

    return act


def _picture(address: str) -> Callable[[Page], None]:
    """Show an SVG in the page: as a document of its own the browser takes no picture of it."""

    def act(page: Page) -> None:
        page.evaluate(
            """address => new Promise((shown) => {
                const image = new Image();
                image.addEventListener("load", () => { document.body.replaceChildren(image); shown(); });
                image.src = address;
            })""",
            address,
        )

    return act


def _log_in_wrongly(page: Page) -> None:
    page.fill("[name=username]", "nobody")
    page.fill("[name=password]", "nothing")
    page.press("[name=password]", "Enter")
    page.wait_for_load_state()


def _send_without_token(page: Page) -> None:
    page.evaluate("document.querySelectorAll('[name=csrfmiddlewaretoken]').forEach((each) => each.remove())")
    _log_in_wrongly(page)


PAGES = [
    Shot("login", "/login", is_public=True),
    Shot("login-wrong", "/login", _log_in_wrongly, is_public=True),
    Shot("overview", "/"),
    Shot("keys", "/", _press("?")),
    Shot("search-suggestions", "/", _search_for("e")),
    Shot("views-menu", "/hosts", _click("details[data-views] summary")),
    Shot("hosts", "/hosts"),
    Shot("hosts-silent", "/hosts?status=unreachable"),
    Shot("hosts-archived", "/hosts?archived=1"),
    Shot("host-new", "/hosts/new"),
    Shot("environments", "/environments"),
    Shot("environment-new", "/environments/new"),
    Shot("pairs", "/pairs"),
    Shot("pairs-none", "/pairs?q=no-such-host"),
    Shot("pair-new", "/pairs/new"),
    Shot("plans", "/plans"),
    Shot("plan-new", "/plans/new"),
    Shot("launch", "/launch"),
    Shot("campaigns", "/campaigns"),
    Shot("schedules", "/schedules"),
    Shot("schedules-none", "/schedules?q=no-such-schedule"),
    Shot("schedule-new", "/schedules/new"),
    Shot("timeline", "/timeline"),
    Shot("week", "/timeline/week"),
    Shot("runs", "/runs"),
    Shot("runs-failed", "/runs?state=failed"),
    Shot("history", "/history"),
    Shot("history-year", "/history?over=1y"),
    Shot("history-hosts", "/history?split=host"),
    Shot("history-environments", "/history?split=environment&over=1y"),
    Shot("history-percentiles", "/history?kind=tcp_rr&metric=latency_p50_seconds"),
    Shot("history-heat", "/history?kind=tcp_rr&view=heat"),
    Shot("history-sizes", "/history?kind=tcp_stream&view=sizes"),
    Shot("history-nothing", "/history?host=999999"),
    Shot("matrix", "/matrix"),
    Shot("matrix-modes", "/matrix?by=mode"),
    Shot("compare-none", "/compare"),
    Shot("search-kernel", "/search?q=kernel+6.1"),
    Shot("search-host", "/search?q=e"),
    Shot("search-nothing", "/search?q=no-such-thing"),
    Shot("search-empty", "/search"),
    Shot("saved-views", "/views"),
    Shot("tokens", "/tokens"),
    Shot("not-found", "/no-such-page"),
    Shot("not-found-stranger", "/s/no-such-share", is_public=True),
    Shot("refused", "/login", _send_without_token, is_public=True),
]
# Pages of a row: the list they are found on, and what follows the row's URL.
OF_A_ROW = {
    "host": ("/hosts", ""),
    "host-availability": ("/hosts", "/availability"),
    "host-edit": ("/hosts", "/edit"),
    "host-archive": ("/hosts", "/archive"),
    "endpoint-new": ("/hosts", "/endpoints/new"),
    "environment": ("/environments", ""),
    "environment-edit": ("/environments", "/edit"),
    "environment-archive": ("/environments", "/archive"),
    "pair": ("/pairs", ""),
    "pair-edit": ("/pairs", "/edit"),
    "pair-archive": ("/pairs", "/archive"),
    "plan": ("/plans", ""),
    "plan-edit": ("/plans", "/edit"),
    "plan-launch": ("/plans", "/launch"),
    "plan-archive": ("/plans", "/archive"),
    "schedule": ("/schedules", ""),
    "schedule-edit": ("/schedules", "/edit"),
    "schedule-archive": ("/schedules", "/archive"),
    "campaign": ("/campaigns", ""),
}


def shots_of(page: Page, url: str) -> list[Shot]:
    """Return every picture that this dashboard has a page for."""
    rows = {name: (_rows(page, url, listed), rest) for name, (listed, rest) in OF_A_ROW.items()}
    shots = PAGES + [Shot(name, links[0] + rest) for name, (links, rest) in rows.items() if links]
    endpoint = _links(page, url, rows["host"][0][0], r"/endpoints/[0-9]+/edit")[:1] if rows["host"][0] else []
    shots += [Shot("endpoint-edit", address) for address in endpoint]
    shots += [Shot("endpoint-archive", address.replace("/edit", "/archive")) for address in endpoint]
    shots += [Shot("token-revoke", address) for address in _links(page, url, "/tokens", r"/tokens/[0-9]+/revoke")[:1]]
    shots += [Shot("run-live", run) for run in _rows(page, url, "/runs?state=running")[:1]]
    environments = [row.rsplit("/", 1)[1] for row in _rows(page, url, "/environments")]
    if len(environments) > 1:
        zones = f"environment={environments[0]}&beside={environments[1]}"
        shots += [Shot("matrix-zones", f"/matrix?{zones}"), Shot("matrix-mode-zones", f"/matrix?by=mode&{zones}")]
    return shots + _of_pair(rows["pair"][0]) + _of_runs(page, url)


def _of_pair(pairs: list[str]) -> list[Shot]:
    if not pairs:
        return []
    pair = f"pair={pairs[0].rsplit('/', 1)[1]}"
    zoomed_from, zoomed_to = (datetime.now(UTC) - timedelta(days=days) for days in (20, 5))
    zoom = f"from={zoomed_from:%Y-%m-%dT%H:%M:%SZ}&to={zoomed_to:%Y-%m-%dT%H:%M:%SZ}"
    return [
        Shot("history-pair", f"/history?{pair}"),
        Shot("history-zoomed", f"/history?{pair}&{zoom}"),
        Shot("history-runs", f"/history?{pair}&view=sizes&overlay=run"),
    ]


def _of_runs(page: Page, url: str) -> list[Shot]:
    runs = _rows(page, url, "/runs?state=finished") or _rows(page, url, "/runs")
    if not runs:
        return []
    run, numbers = runs[0], [run.rsplit("/", 1)[1] for run in runs]
    # Of one pair, where there are: they have what to compare.
    of_plan = [row.rsplit("/", 1)[1] for row in _rows(page, url, f"/runs?{_pair_of(page, url, run)}&state=finished")]
    compared = of_plan if len(of_plan) > 1 else numbers
    shots = [
        Shot("run", run),
        Shot("run-published", f"{run}?published=1"),
        Shot("run-print", run, media="print"),
        Shot("trial", f"{run}/trials/1"),
        Shot("history-of-run", f"/history?runs={numbers[0]}&view=sizes&overlay=run&kind={_kind_of(page, url, run)}"),
        Shot("compare-one", f"/compare?runs={numbers[0]}"),
        Shot("badge", "/hosts", _picture(f"{run}/badge.svg")),
    ]
    if len(numbers) > 1:
        # Links are made of the first run of the list alone.
        shots += [Shot("run-shares-none", f"{runs[-1]}/shares")]
        shots += [Shot("compare", f"/compare?runs={','.join(compared[:2])}")]
        shots += [Shot("compare-pairs", f"/compare?runs={','.join(numbers[:5])}")]
    _save_view(page, url, run)
    return shots + _of_shares(page, url, run)


def _of_shares(page: Page, url: str, run: str) -> list[Shot]:
    revoked = _made_link(page, f"{url}{run}/shares")
    page.once("dialog", lambda question: question.accept())
    page.locator(".share-list li").first.locator(".btn-danger").click()
    settled(page)
    shared = _made_link(page, f"{url}{run}/shares", pseudonyms=True)
    private = [
        Shot("run-shares", f"{run}/shares"),
        Shot("share-dialog", run, _click("[data-opens=share]")),
    ]
    public = [
        Shot("shared", shared),
        Shot("shared-print", shared, media="print"),
        Shot("shared-embed", f"{shared}/embed"),
        Shot("shared-badge", "/login", _picture(f"{shared}/badge.svg")),
        Shot("shared-revoked", revoked),
    ]
    return private + [replace(shot, is_public=True) for shot in public]


def _made_link(page: Page, address: str, *, pseudonyms: bool = False) -> str:
    """Make a share link; return its path."""
    page.goto(address)
    if pseudonyms:
        page.check("[name=anonymise]")
    page.locator(".share-form button[type=submit]").click()
    settled(page)
    return "/s/" + page.locator(".share-list li input").first.input_value().rsplit("/s/", 1)[1]


def _save_view(page: Page, url: str, run: str) -> None:
    page.goto(f"{url}/views")
    if page.locator(".saved-path").count():
        return
    page.goto(url + run)
    page.locator("details[data-views] summary").click()
    page.fill(".save-view [name=name]", "the run to show on Monday")
    page.locator(".save-view button").click()
    settled(page)


def _pair_of(page: Page, url: str, run: str) -> str:
    links = _links(page, url, run, r"/pairs/[0-9]+")
    return f"pair={links[0].rsplit('/', 1)[1]}" if links else ""


def _kind_of(page: Page, url: str, run: str) -> str:
    """Return the kind of a run's first test: of another one its history has nothing."""
    kind: str = page.request.get(f"{url}{run}/results.json").json()["trials"][0]["kind"]
    return kind


def _rows(page: Page, url: str, listed: str) -> list[str]:
    """Return the paths of a list's rows, in its order."""
    return _links(page, url, listed, re.escape(listed.partition("?")[0]) + "/[0-9]+")


def _links(page: Page, url: str, address: str, pattern: str) -> list[str]:
    page.goto(url + address)
    links = page.locator("#content a").evaluate_all("all => all.map(each => each.getAttribute('href'))")
    return list(dict.fromkeys(link for link in links if link and re.fullmatch(pattern, link)))
