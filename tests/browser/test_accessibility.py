"""Every page by axe-core's rules (WCAG 2 A and AA), light and dark."""

from pathlib import Path

from django.contrib.auth.models import User
from playwright.sync_api import Page

from tests.browser.steps import PASSWORD, log_in
from tests.factories import make_run, make_schedule

AXE = Path(__file__).resolve().parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
_RULES = "{runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']}"


def violations(page: Page) -> list[str]:
    """Give what axe-core finds against the page, with the first element at fault."""
    found = page.evaluate(f"async () => (await axe.run(document, {_RULES})).violations")
    return [f"{each['id']}: {each['nodes'][0]['target'][0]} {each['nodes'][0]['failureSummary']}" for each in found]


def test_no_page_breaks_a_rule_of_accessibility_light_or_dark(page: Page) -> None:
    User.objects.create_user("ada", password=PASSWORD)
    run = make_run()
    schedule = make_schedule(target={"pairs": [run.pair_id]})
    page.goto("/login")
    log_in(page)
    paths = ["/", "/hosts", f"/hosts/{run.pair.source.host_id}", "/environments", f"/pairs/{run.pair_id}", "/plans/new"]
    paths += [
        "/launch",
        f"/schedules/{schedule.pk}",
        "/schedules/new",
        "/timeline",
        "/runs",
        f"/runs/{run.pk}",
        "/history",
    ]
    paths += ["/matrix", f"/compare?runs={run.pk}", "/views", "/search?q=host"]
    found = {}
    for path in paths:
        page.goto(path)
        page.add_script_tag(path=str(AXE))
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            # Colours that are still fading to the other theme are neither.
            page.wait_for_timeout(250)
            if faults := violations(page):
                found[path, theme] = faults
    faults = {f"{theme} {fault[:200]}" for (_path, theme), each in found.items() for fault in each}
    assert "\n".join(sorted(faults)) == ""
