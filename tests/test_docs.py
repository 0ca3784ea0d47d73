"""The documentation stays short where it promises to, and its links lead somewhere."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
INDEX = DOCS / "README.md"
PARTS = {"start", "how-to", "reference", "explanation"}
# Links from outside the project lead to these.
FLAT = {"README.md", "api.md", "architecture.md", "engine.md"}
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted(DOCS.rglob("*.md")),
    *sorted((ROOT / "bench").rglob("*.md")),
    ROOT / "frontend" / "sketches" / "README.md",
]
MOST_PICTURE_BYTES = 120_000
ARCHITECTURE_WORDS, DECISION_WORDS, UNRELEASED_ENTRIES = 1_200, 300, 30
MOST_ENTRY_CHARACTERS = 180
# They say in which file of the tree something is.
GUIDES = [DOCS / "architecture.md", DOCS / "how-to" / "add-a-kind.md"]
_PATH = re.compile(r"`((?:benchweb|workers|engine|frontend|tests)/[\w/.-]+)`")
_LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")


def words(page: Path) -> int:
    return len(page.read_text(encoding="utf-8").split())


def targets(page: Path) -> Iterator[tuple[Path, str]]:
    """Read each link and image of a page: the file that it names, and the heading or nothing."""
    for target, heading in _LINK.findall(page.read_text(encoding="utf-8")):
        yield (page.parent / target).resolve() if target else page, heading


def anchors(page: Path) -> set[str]:
    """Return the names that GitHub gives a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> Iterator[str]:
    for target, heading in targets(page):
        if not target.exists() or (heading and heading not in anchors(target)):
            yield f"{page.relative_to(ROOT)}: {target.relative_to(ROOT)}#{heading}"


def test_the_architecture_is_read_in_one_sitting() -> None:
    assert words(DOCS / "architecture.md") <= ARCHITECTURE_WORDS


def test_a_decision_fits_a_screen() -> None:
    decisions = sorted((DOCS / "decisions").glob("*.md"))
    assert decisions
    assert {page.name: words(page) for page in decisions if words(page) > DECISION_WORDS} == {}


def test_what_is_new_is_told_in_few_words() -> None:
    unreleased = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1]
    parts = re.findall(r"^### (.+)$", unreleased, re.MULTILINE)
    assert set(parts) <= {"Added", "Changed", "Fixed"}
    entries = [line for line in unreleased.splitlines()[1:] if line and not line.startswith("### ")]
    assert 0 < len(entries) <= UNRELEASED_ENTRIES
    assert [entry for entry in entries if not entry.startswith("- ") or len(entry) > MOST_ENTRY_CHARACTERS] == []


def test_every_link_leads_to_a_file_and_a_heading() -> None:
    assert [link for page in PAGES for link in broken_links(page)] == []


def test_every_file_that_a_guide_names_is_there() -> None:
    named = {path for guide in GUIDES for path in _PATH.findall(guide.read_text(encoding="utf-8"))}
    assert len(named) > 40
    assert sorted(path for path in named if not (ROOT / path).exists() and "NAME" not in path) == []


def test_the_index_leads_to_every_page() -> None:
    linked = {target for target, _ in targets(INDEX)}
    assert [str(page.relative_to(DOCS)) for page in sorted(DOCS.rglob("*.md")) if page not in {INDEX, *linked}] == []


def test_every_page_is_in_one_of_four_parts() -> None:
    assert {page.name for page in DOCS.glob("*.md")} == FLAT
    assert {folder.name for folder in DOCS.iterdir() if folder.is_dir()} == PARTS | {"decisions", "images", "ui"}
    assert all(any((DOCS / part).glob("*.md")) for part in PARTS)


def test_every_picture_is_shown_by_a_page() -> None:
    shown = {target for page in PAGES for target, _ in targets(page)}
    assert [picture.name for picture in sorted((DOCS / "images").iterdir()) if picture not in shown] == []


def test_the_license_is_stated_alike_for_each_language() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    package = json.loads((ROOT / "frontend" / "package.json").read_text(encoding="utf-8"))
    locked = json.loads((ROOT / "frontend" / "package-lock.json").read_text(encoding="utf-8"))["packages"][""]
    workspace = tomllib.loads((ROOT / "engine" / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
    assert {each["license"] for each in (project, package, locked, workspace)} == {"Apache-2.0"}
    assert "Apache License" in (ROOT / project["license-files"][0]).read_text(encoding="utf-8")


def test_each_sketch_stands_beside_a_small_picture_of_the_built_page() -> None:
    folder = ROOT / "frontend" / "sketches"
    sketches = {path.stem for path in folder.glob("*.svg")}
    pictures = {path.stem: path.stat().st_size for path in folder.glob("*.webp")}
    rows = re.findall(
        r"^\| [^|]+ \| !\[sketch\]\(([\w-]+)\.svg\) \| !\[built\]\(([\w-]+)\.webp\) \|$",
        (folder / "README.md").read_text(),
        re.M,
    )
    assert sketches == pictures.keys() == {sketch for sketch, _built in rows}
    assert all(sketch == built for sketch, built in rows)
    assert max(pictures.values()) <= MOST_PICTURE_BYTES
