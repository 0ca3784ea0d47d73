"""The documentation stays short where it promises to, and its links lead somewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "bench" / "README.md",
]
ARCHITECTURE_WORDS, DECISION_WORDS = 1_200, 300
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")


def words(page: Path) -> int:
    return len(page.read_text(encoding="utf-8").split())


def broken_links(page: Path) -> Iterator[str]:
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        if not (page.parent / target).exists():
            yield f"{page.relative_to(ROOT)}: {target}"


def test_the_architecture_is_read_in_one_sitting() -> None:
    assert words(ROOT / "docs" / "architecture.md") <= ARCHITECTURE_WORDS


def test_a_decision_fits_a_screen() -> None:
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert decisions
    assert {page.name: words(page) for page in decisions if words(page) > DECISION_WORDS} == {}


def test_every_link_leads_to_a_file() -> None:
    assert [link for page in PAGES for link in broken_links(page)] == []
