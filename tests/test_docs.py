"""The documentation stays short where it promises to, and its links lead somewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "bench" / "README.md",
]
ARCHITECTURE_WORDS, DECISION_WORDS, UNRELEASED_ENTRIES = 1_200, 300, 25
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


def test_what_is_new_is_told_in_few_words() -> None:
    unreleased = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1]
    parts = re.findall(r"^### (.+)$", unreleased, re.MULTILINE)
    assert set(parts) <= {"Added", "Changed", "Fixed"}
    assert 0 < len(re.findall(r"^- ", unreleased, re.MULTILINE)) <= UNRELEASED_ENTRIES


def test_every_link_leads_to_a_file() -> None:
    assert [link for page in PAGES for link in broken_links(page)] == []
