"""Every page keeps its own Content-Security-Policy: a real browser is asked for what it had to block."""

import pytest
from django.template.loader import render_to_string
from django.test import Client
from playwright.sync_api import Page, Response, expect

from benchweb.runs import live
from benchweb.runs.models import Run, State
from tests.browser.site import OF_STRANGERS, Address, filled_site, names_of_pages
from tests.browser.steps import PASSWORD, log_in, wait_until
from tests.browser.test_accessibility import IS_WHOLE
from tests.factories import make_run, make_user

_LISTEN = """
    window.blocked = [];
    document.addEventListener("securitypolicyviolation", event =>
        window.blocked.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
"""
# As if a page had taken stored text for markup; what stands outside comes last and is the only one to be asked for.
_WITHIN_DATA = """
    const asks = where => `<p hx-get="/alerts/count?${where}" hx-trigger="load"></p>`;
    const main = document.querySelector("main");
    main.innerHTML = `<table><tbody><tr><td>${asks("within")}</td></tr></tbody></table><h1>${asks("within")}</h1>
        <dl><dd>${asks("within")}</dd></dl><span class="meta">${asks("within")}</span>${asks("outside")}`;
    window.htmx.process(main);"""
_API_DOCS = Address("API", "/api/v1/docs")


@pytest.mark.usefixtures("sends_mail")
def test_no_page_does_what_its_policy_forbids(page: Page, web: str) -> None:
    pages = filled_site()
    assert {each.name for each in pages} == names_of_pages() | {"not found"}
    page.context.add_init_script(_LISTEN)
    faults: list[str] = []
    for each in (each for each in pages if each.name in OF_STRANGERS):
        faults += visited(page, each)
    log_in(page)
    for each in (*(each for each in pages if each.name not in OF_STRANGERS), _API_DOCS):
        faults += visited(page, each)
    faults += of_a_fault(page, Client().get("/login").headers["Content-Security-Policy"])
    faults += of_a_run_under_way(page)
    assert "\n".join(faults) == ""
    # The listener does hear: what no page does is blocked and told.
    page.evaluate("document.body.setAttribute('style', 'color: red')")
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.isRun = 1'}))")
    assert len(page.evaluate("window.blocked")) == 2
    assert page.evaluate("window.isRun === undefined")


def visited(page: Page, address: Address) -> list[str]:
    """Look at a page, press what opens by itself, and give what was blocked."""
    answer = page.goto(address.path)
    assert answer is not None
    assert answer.status == address.status
    wait_until(page, IS_WHOLE)
    if address is _API_DOCS:
        expect(page.locator(".opblock").first).to_be_visible()
    page.locator(".chart-actions [aria-expanded=false]").evaluate_all("all => all.forEach(each => each.click())")
    return [*unguarded(answer), *blocked(page, address.path)]


def blocked(page: Page, name: str) -> list[str]:
    """Return what the page did and wasn't allowed to."""
    return [f"{name}: {each}" for each in page.evaluate("window.blocked")]


def unguarded(answer: Response) -> list[str]:
    """Return what is wrong with the headers of a page."""
    policy = answer.headers.get("content-security-policy", "")
    loose = [each for each in ("unsafe", "http:", "https:") if each in policy] or "default-src" not in policy
    return [f"{answer.url}: policy {policy!r}"] if loose else []


def of_a_fault(page: Page, policy: str) -> list[str]:
    """Look at the page of a fault."""
    headers = {"Content-Type": "text/html", "Content-Security-Policy": policy}
    body = render_to_string("500.html")
    page.route("**/fault", lambda route: route.fulfill(status=500, headers=headers, body=body))
    page.goto("/fault")
    expect(page.get_by_role("heading", name="This page failed")).to_be_visible()
    return blocked(page, "/fault")


def of_a_run_under_way(page: Page) -> list[str]:
    """Watch a run: a worker, a stream, a chart that grows and a dialog."""
    run = make_run()
    Run.objects.filter(pk=run.pk).update(state=State.RUNNING)
    interval = {"start_seconds": 0, "end_seconds": 1, "metrics": {"throughput_bps": 1e9}}
    message = {"type": "interval", "trial": run.trials.get().pk, "index": 1, "event": 1, "metric": "throughput_bps"}
    live.publish_interval(run.pk, message | {"interval": interval})
    page.goto(f"/runs/{run.pk}")
    expect(page.get_by_role("region", name="Measured live", exact=True)).to_be_visible()
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    return blocked(page, "a run under way")


def test_htmx_leaves_alone_what_stands_within_data(page: Page) -> None:
    make_user("ada", PASSWORD)
    log_in(page)
    page.goto("/runs")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    with page.expect_request("**/alerts/count?outside"):
        page.evaluate(_WITHIN_DATA)
    assert [url for url in sent if "within" in url] == []


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/login", "/no-such-page", "/", "/healthz", "/api/v1/hosts", "/s/none", "/live"])
def test_every_answer_has_a_policy(path: str, client: Client) -> None:
    answer = client.get(path)
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]
    assert "camera=()" in answer["Permissions-Policy"]
    assert (answer["X-Content-Type-Options"], answer["X-Frame-Options"]) == ("nosniff", "DENY")


def fails(*_: object) -> None:
    """Break as a view with a fault does."""
    raise RuntimeError("the view is broken")


@pytest.mark.django_db
def test_a_fault_and_a_wrong_host_are_answered_with_a_policy(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.raise_request_exception = False
    assert "default-src 'self'" in client.get("/", headers={"Host": "evil.example"})["Content-Security-Policy"]
    monkeypatch.setattr("benchweb.web.login.session_views.Login.get", fails)
    answer = client.get("/login")
    assert (answer.status_code, "default-src 'self'" in answer["Content-Security-Policy"]) == (500, True)
