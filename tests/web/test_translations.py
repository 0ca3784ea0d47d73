"""Simplified Chinese is complete: every text of the pages is found, marked and translated."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.test import Client

from benchweb.ops import extraction
from benchweb.ops.extraction import Text
from benchweb.ops.translations import read, sources
from benchweb.web.shared.context import TEXTS
from tests.factories import make_run, make_schedule

TEMPLATES = sorted((extraction.PACKAGE / "web").rglob("*.html"))
_PLACES = re.compile(r"%\(\w+\)[sd]|\{\w+(?:[:!][^}]*)?\}")
# Words that are the same in every language: names, formats, symbols of the statistics, units, code.
_UNTRANSLATED = {
    "benchweb",
    "CSV",
    "JSON",
    "PNG",
    "SVG",
    "n",
    "n=",
    "v",
    "s",
    "of",
    "Esc",
    "g",
    "i",
    "EN",
    "UTC",
    "English",
}
_ATTRIBUTES = ("title", "aria-label", "placeholder", "alt", "data-label")
_TAG = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
# The block `look` holds names of the style sheet's.
_BLOCK = re.compile(r"\{% (blocktranslate|comment|block look)\b.*?%\}.*?\{% end\1 %\}", re.DOTALL)


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.parts[-3])
def test_every_text_is_translated_and_none_is_left_over(path: Path) -> None:
    entries = read(path)
    found = extraction.texts()
    assert {Text(entry.msgid, entry.msgid_plural, entry.msgctxt or "") for entry in entries} == set(found)
    assert [entry.msgid for entry in entries if not entry.translated()] == []


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.parts[-3])
def test_a_translation_fills_in_what_the_text_fills_in(path: Path) -> None:
    for entry in read(path):
        wanted = set(_PLACES.findall(entry.msgid_plural or entry.msgid))
        assert set(_PLACES.findall(entry.msgstr or entry.msgstr_plural[0])) in (
            wanted,
            set(_PLACES.findall(entry.msgid)) | wanted,
        ), entry.msgid


def test_the_page_lists_what_its_scripts_say() -> None:
    said_there = {
        text.msgid for path in extraction.SCRIPTS.rglob("*.ts") for text in extraction.of_script(path.read_text())
    }
    assert set(TEXTS) == said_there


class _Bare(HTMLParser):
    """Collects the words that a template says without marking them."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._code = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._code += tag in ("code", "kbd", "pre", "script", "style")
        self.words += [value or "" for name, value in attributes if name in _ATTRIBUTES]

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in ("code", "kbd", "pre", "script", "style")

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.words += data.split()


def bare_words(source: str) -> list[str]:
    """Return a template's unmarked words."""
    parser = _Bare()
    parser.feed(_TAG.sub(" ", _BLOCK.sub(" ", source)))
    words = (re.sub(r"^\W+|\W+$", "", word) for words in parser.words for word in words.split())
    return [word for word in words if re.search("[A-Za-z]", word) and word not in _UNTRANSLATED]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_says_nothing_that_is_not_marked(path: Path) -> None:
    assert bare_words(path.read_text(encoding="utf-8")) == []


def test_unmarked_words_are_found_in_texts_and_attributes() -> None:
    marked = '<p>{% translate "Yes" %} <code>ls</code> {{ x }}</p>{% blocktranslate %}more{% endblocktranslate %}'
    assert bare_words(marked) == []
    assert bare_words('<p title="Old host">No {% if a %}way{% endif %}</p>') == ["Old", "host", "No", "way"]


def test_pages_speak_chinese_from_their_title_to_their_tables(signed_in: Client) -> None:
    run = make_run()
    make_schedule(target={"pairs": [run.pair_id]})
    signed_in.cookies["language"] = "zh-hans"
    paths = [
        "/",
        "/hosts",
        "/environments",
        "/pairs",
        "/plans",
        "/plans/new",
        "/launch",
        "/schedules",
        "/schedules/new",
    ]
    paths += ["/timeline", "/timeline/week", "/runs", "/campaigns", "/tokens", "/views", "/search?q=a", "/matrix"]
    paths += ["/history", "/compare", f"/runs/{run.pk}", f"/hosts/{run.pair.source.host_id}", f"/pairs/{run.pair_id}"]
    names = {run.plan_version.plan.name, run.pair.source.host.name, run.pair.sink.host.name, "ada", "nightly", "lab"}
    for path in paths:
        page = signed_in.get(path).content.decode()
        head = re.search(r"<title>(.*?)</title>", page, re.DOTALL)
        heading = re.search(r"<h1[^>]*>(.*?)</h1>", page, re.DOTALL)
        assert head and heading, path
        for text in (re.sub("<[^>]*>", "", heading[1]), *re.findall(r'<th scope="col"[^>]*>([^<]+)</th>', page)):
            words = set(re.findall("[A-Za-z][a-z]{2,}", text)) - {word for name in names for word in name.split("-")}
            assert not words, (path, text)
