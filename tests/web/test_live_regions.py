"""What tells by itself that it has changed is no stop of the keyboard: screen readers would read it twice."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A tag of a template, whatever its values and the template's own tags hold.
_TAG = re.compile(r"<[a-z][^<>]*(?:(?:\{%.*?%\}|\{\{.*?\}\})[^<>]*)*>", re.DOTALL)
_LIVE = re.compile(r'aria-live="(?!off)|role="(?:status|alert|log)"')
_STOP = re.compile(r"\btabindex=|^<(?:a|button|input|select|textarea|summary)\b")
# What scrolls is a stop of the keyboard in browsers that make it one.
_SCROLLS = re.compile(r'class="[^"]*\b(?:plan-aside|table-scroll|long-choice|choice-list|share-list)\b')


def test_no_element_of_a_template_is_both_told_by_itself_and_a_stop_of_the_keyboard() -> None:
    tags = [
        (path.relative_to(ROOT), tag)
        for path in sorted((ROOT / "benchweb").rglob("templates/**/*.html"))
        for tag in _TAG.findall(path.read_text(encoding="utf-8"))
    ]
    live = [(path, tag) for path, tag in tags if _LIVE.search(tag)]
    assert len(live) > 40
    assert [(path, tag) for path, tag in live if _STOP.search(tag) or _SCROLLS.search(tag)] == []
