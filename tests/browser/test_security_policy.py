"""Pages keep their own Content-Security-Policy: a real browser is asked for what it had to block.

The other pages, as they come, are in test_accessibility.py.
"""

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from benchweb.runs import live
from benchweb.runs.models import Run, State
from tests.browser.steps import PASSWORD, log_in
from tests.browser.test_accessibility import LISTEN, unguarded
from tests.factories import make_run, make_user

# As if a page had taken stored text for markup; what stands outside comes last and is the only one to be asked for.
_WITHIN_DATA = """
    const asks = where => `<p hx-get="/alerts/count?${where}" hx-trigger="load"></p>`;
    const main = document.querySelector("main");
    main.innerHTML = `<table><tbody><tr><td>${asks("within")}</td></tr></tbody></table><h1>${asks("within")}</h1>
        <dl><dd>${asks("within")}</dd></dl><span class="meta">${asks("within")}</span>${asks("outside")}`;
    window.htmx.process(main);"""


def test_neither_the_api_s_page_nor_a_run_under_way_does_what_its_policy_forbids(page: Page) -> None:
    make_user("ada", PASSWORD)
    page.context.add_init_script(LISTEN)
    log_in(page)
    answer = page.goto("/api/v1/docs")
    assert answer is not None
    assert unguarded(answer) == []
    expect(page.locator(".opblock").first).to_be_visible()
    assert page.evaluate("window.blocked") == []
    watch_a_run(page)
    assert page.evaluate("window.blocked") == []
    # The listener does hear: what no page does is blocked and told.
    page.evaluate("document.body.setAttribute('style', 'color: red')")
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.isRun = 1'}))")
    assert len(page.evaluate("window.blocked")) == 2
    assert page.evaluate("window.isRun === undefined")


def watch_a_run(page: Page) -> None:
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
