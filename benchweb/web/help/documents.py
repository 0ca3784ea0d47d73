"""The documentation's files as pages: which there are, and what each says as HTML."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

import markdown
from django.urls import reverse
from django.utils.safestring import SafeString
from markdown.extensions.toc import TocExtension

FOLDER = Path(__file__).resolve().parents[3] / "docs"
# What people read who use the pages; what explains the code stays with the code.
_PARTS = ("start", "how-to", "reference", "explanation")
_BESIDE = ("engine.md", "api.md")
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_ENTRY = re.compile(r"^- \[([^\]]+)\]\(([^)]+)\)(?:: (.*))?$")
_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)


@dataclass(frozen=True)
class HelpEntry:
    """A document in the list of all: its title, its name without `.md`, and what it is about."""

    title: str
    name: str
    about: str


@dataclass(frozen=True)
class HelpDocument:
    """A document as HTML of our own files; `title` is its first heading."""

    title: str
    html: SafeString


def contents() -> list[tuple[str, list[HelpEntry]]]:
    """Return the parts of the documentation with their documents, as docs/README.md lists them."""
    parts: list[tuple[str, list[HelpEntry]]] = []
    for line in (FOLDER / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            parts.append((line[3:], []))
        elif line.startswith("### "):
            break
        elif (found := _ENTRY.match(line)) and parts and _is_shown(found[2]):
            entry = HelpEntry(found[1], found[2].removesuffix(".md"), found[3] or "")
            if entry.name not in [listed.name for listed in parts[-1][1]]:
                parts[-1][1].append(entry)
    return parts


def document(name: str) -> HelpDocument | None:
    """Return a document by its name, such as `how-to/install`; None where there is none of this name."""
    path = f"{name}.md"
    # Names are compared with those of files that are there: none leads out of the folder.
    return _document(name) if path in _names() else None


def image_path(name: str) -> Path | None:
    """Return the file of a picture of the documentation; None where there is none of this name."""
    return next((path for path in (FOLDER / "images").glob("*.png") if path.stem == name), None)


def _names() -> set[str]:
    paths = (path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.md"))
    return {path for path in paths if _is_shown(path)}


def _is_shown(path: str) -> bool:
    return path in _BESIDE or path.split("/", maxsplit=1)[0] in _PARTS


@lru_cache(maxsize=64)
def _document(name: str) -> HelpDocument:
    """Return a document; kept, for its file stays as it is while the server runs."""
    source = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    title = source.split("\n", maxsplit=1)[0].removeprefix("# ")
    extensions = ["fenced_code", "sane_lists", TocExtension(slugify=_anchor)]
    extensions.append("markdown.extensions.tables")
    configs = {"markdown.extensions.tables": {"use_align_attribute": True}}
    html = markdown.markdown(_with_links(source, name), extensions=extensions, extension_configs=configs)
    html = _TABLE.sub(lambda found: f'<div class="table-scroll" tabindex="0">{found[0]}</div>', html)
    # Our own files: nothing in them comes from users.
    html = html.replace("<pre>", '<pre tabindex="0">').replace("<img ", '<img loading="lazy" ')
    return HelpDocument(title, SafeString(html))


def _anchor(heading: str, separator: str) -> str:
    """Return the id of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


def _with_links(source: str, name: str) -> str:
    """Have links between documents lead to their pages; what is no page here keeps its words only."""
    return _LINK.sub(lambda found: _link(found[1], found[2], found[3], name), source)


def _link(mark: str, words: str, target: str, name: str) -> str:
    if target.startswith(("http://", "https://", "#")):
        return f"{mark}[{words}]({target})"
    path, _hash, anchor = target.partition("#")
    found = _normal(PurePosixPath(name).parent / path)
    if mark:
        return f"![{words}]({reverse('web:help_image', args=[PurePosixPath(found).stem])})"
    if found not in _names():
        return words
    address = reverse("web:help_document", args=[found.removesuffix(".md")])
    return f"[{words}]({address}{'#' if anchor else ''}{anchor})"


def _normal(path: PurePosixPath) -> str:
    """Return a path without its steps up; one that leads out of the documentation is none of its files."""
    parts: list[str] = []
    for part in path.parts:
        if part != "..":
            parts.append(part)
        elif parts:
            parts.pop()
        else:
            return ""
    return "/".join(parts)
