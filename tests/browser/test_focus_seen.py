"""No stop of the keyboard lies wholly behind what stays where it is (WCAG 2.4.11, 1.4.10).

At 400 % zoom all pages are asked by test_accessibility.py.
"""

import pytest
from playwright.sync_api import Page, ViewportSize

from tests.browser.steps import IS_WHOLE, PASSWORD, log_in, wait_until
from tests.factories import make_pair, make_plan, make_user

PHONE: ViewportSize = {"width": 390, "height": 844}
_MOST_STOPS = 400
_HAS_FORM = "document.querySelector('main form, main input, main select, main textarea') !== null"
# Of what has the focus: its markup, and whether any point of it can be seen; nothing behind the last stop, and a word
# where the round is over.
_LOOK = """async () => {
    const focused = document.activeElement;
    if (focused === null || focused === document.body) return null;
    if (focused.hasAttribute("data-seen")) return ["", true];
    focused.setAttribute("data-seen", "");
    const parts = [0.05, 0.25, 0.5, 0.75, 0.95];
    const isSeen = () => [...focused.getClientRects()].some(box => {
        const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth);
        const top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
        return right > left && bottom > top && parts.some(across => parts.some(down => {
            const at = document.elementFromPoint(left + across * (right - left), top + down * (bottom - top));
            return at && (focused.contains(at) || at.contains(focused) || at.closest("label")?.control === focused);
        }));
    });
    // The page is scrolled to it with one of the next frames.
    for (let frame = 0; frame < 10 && !isSeen(); frame++) await new Promise(requestAnimationFrame);
    return [focused.outerHTML.slice(0, 120), isSeen()];
}"""
# What stays while the page is scrolled takes no more than this part of the window's height.
_MOST_TAKEN = 0.34
_TAKEN = """() => [...document.querySelectorAll("body *")].flatMap(each => {
    const style = getComputedStyle(each), box = each.getBoundingClientRect();
    const isWide = box.width > innerWidth / 2 && style.visibility === "visible" && style.pointerEvents !== "none";
    const sticks = style.position === "sticky" && (style.top !== "auto" || style.bottom !== "auto");
    const stays = style.position === "fixed" || sticks;
    return stays && isWide ? [[each.outerHTML.slice(0, 80), box.height / innerHeight]] : [];
})"""


def unseen_stops(page: Page, *, most_taken: float = _MOST_TAKEN) -> list[str]:
    """Tab through an open page that has a form; return the stops that can't be seen, and what takes up the window."""
    if not page.evaluate(_HAS_FORM):
        return []
    taken = [(what, part) for what, part in page.evaluate(_TAKEN) if part > most_taken]
    found = [f"{part:.2f} of the window: {what}" for what, part in taken]
    for number in range(_MOST_STOPS):
        page.keyboard.press("Tab")
        markup, is_seen = page.evaluate(_LOOK) or ("behind the last", True)
        if not markup:
            assert number > 1, page.url
            return found
        if not is_seen:
            found.append(f"unseen: {markup}")
    raise AssertionError(f"{page.url} has more than {_MOST_STOPS} stops")


@pytest.mark.usefixtures("web")
def test_the_bar_at_a_phone_s_foot_hides_no_stop_of_a_launch(page: Page) -> None:
    make_user("ada", PASSWORD)
    plan = make_plan()
    for _ in range(12):
        make_pair()
    page.set_viewport_size(PHONE)
    page.emulate_media(reduced_motion="reduce")
    log_in(page)
    path = f"/launch?plan={plan.pk}"
    # With a plan chosen it says what a run takes, too: half of the window is its bound.
    page.goto(path)
    wait_until(page, IS_WHOLE)
    assert unseen_stops(page, most_taken=0.51) == []
    page.goto(path)
    bar = page.locator("#launch-form .plan-aside").bounding_box()
    rail = page.get_by_role("navigation", name="Sections").bounding_box()
    assert bar is not None
    assert rail is not None
    assert bar["y"] + bar["height"] <= rail["y"] + 1
