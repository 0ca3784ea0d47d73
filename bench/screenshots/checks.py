"""What a script can see of a page that looks wrong: too wide, texts cut off, words of another language."""

import re

from playwright.sync_api import Page

_OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Texts that their own box cuts off, and texts that reach out of the window; what scrolls by itself may.
_CUT_OFF = """() => {
    const found = [];
    const scrolls = (each) => ["auto", "scroll"].includes(getComputedStyle(each).overflowX);
    for (const each of document.querySelectorAll("body *")) {
        if (each.closest(".visually-hidden, .skip-link, svg, dialog:not([open])") || !each.checkVisibility()) continue;
        const style = getComputedStyle(each);
        // A table's head on a phone is there for the ears.
        if (style.clipPath !== "none") continue;
        const own = [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        if (each.tagName === "SELECT") {
            const canvas = document.createElement("canvas").getContext("2d");
            canvas.font = style.font;
            const width = canvas.measureText(each.selectedOptions[0]?.label ?? "").width;
            const room = each.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
            if (width > room + 1) found.push(`select ${each.name}: ${each.selectedOptions[0].label}`);
        } else if (each.tagName === "INPUT") {
            // What was typed may be longer than its field; what is asked for may not.
            const isEmpty = each.placeholder && !each.value;
            if (isEmpty && each.scrollWidth > each.clientWidth + 1) found.push(`placeholder: ${each.placeholder}`);
        } else if (["hidden", "clip"].includes(style.overflowX) && each.scrollWidth > each.clientWidth + 1) {
            found.push(`cut off: ${each.className || each.tagName}: ${each.textContent.trim().slice(0, 60)}`);
        } else if (own) {
            const box = each.getBoundingClientRect();
            let parent = each;
            while (parent && !scrolls(parent)) parent = parent.parentElement;
            const isOut = box.width > 0 && (box.right > document.documentElement.clientWidth + 1 || box.left < -1);
            if (isOut && !parent) found.push(`out of the window: ${each.textContent.trim().slice(0, 60)}`);
        }
    }
    return [...new Set(found)].slice(0, 12);
}"""
_LONG_SELECTS = """() => [...document.querySelectorAll("select")]
    .filter((each) => each.options.length > 100 && each.checkVisibility())
    .map((each) => `${each.options.length} options in ${each.name || each.id}`)"""
_MANY_ROWS = """() => [...document.querySelectorAll("tbody, ul, ol")]
    .filter((each) => each.children.length > 200)
    .map((each) => `${each.children.length} rows in ${each.className || each.parentElement.className}`)"""
# Names that people gave, addresses and commands are what they are in every language.
_TEXTS = """() => {
    const kept = "code, pre, .mono, body [lang], script, style, option, a[href^='/s/'], .command-line, noscript";
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const parent = node.parentElement;
        if (parent && !parent.closest(kept) && parent.checkVisibility()) found.push(node.textContent.trim());
    }
    for (const each of document.querySelectorAll("[title], [placeholder], [aria-label]"))
        if (!each.closest(kept))
            for (const name of ["title", "placeholder", "aria-label"])
                found.push((each.getAttribute(name) || "").trim());
    return [...new Set(found)];
}"""
# A phrase, not a name: two words of letters with a blank between them; or one word, written as labels are.
_PHRASE = re.compile(r"\b[A-Za-z][a-z']{2,} [a-z']{2,}\b|^[A-Z][a-z]{3,}$")


def faults(page: Page, language: str) -> list[str]:
    """Return what looks wrong, a line each."""
    if not page.evaluate("document.body instanceof HTMLBodyElement"):
        return []
    overflow = page.evaluate(_OVERFLOW)
    texts = [f"WIDER THAN THE WINDOW by {overflow} px"] if overflow > 0 else []
    texts += page.evaluate(_CUT_OFF) + page.evaluate(_LONG_SELECTS) + page.evaluate(_MANY_ROWS)
    if language != "en":
        texts += [f"English: {text[:80]}" for text in page.evaluate(_TEXTS) if _PHRASE.search(text)]
    return texts
