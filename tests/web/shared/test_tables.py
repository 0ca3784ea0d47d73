"""Tables stand in what scrolls: one that is wider than the window would scroll the page."""

import re
from pathlib import Path

import pytest

_TABLE = re.compile(r"(<div[^>]*>)?\s*<table class=\"(?:table|matrix)\b")
_SCROLLS = re.compile(r"class=\"(?:table-scroll|long-choice)\"")
_TEMPLATES = [path for path in sorted(Path("benchweb/web").rglob("*.html")) if "<table" in path.read_text()]


@pytest.mark.parametrize("path", _TEMPLATES, ids=lambda path: path.name)
def test_a_table_is_the_only_thing_in_what_scrolls(path: Path) -> None:
    tables = list(_TABLE.finditer(path.read_text(encoding="utf-8")))
    assert [bool(table[1] and _SCROLLS.search(table[1])) for table in tables] == [True] * len(tables)


def test_templates_have_tables() -> None:
    assert len(_TEMPLATES) > 30
