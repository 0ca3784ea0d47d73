"""Templates load the libraries that they use, and no others."""

import re
from pathlib import Path

import pytest
from django.template import engines

TEMPLATES = sorted(Path("benchweb/web").rglob("*.html"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_uses_each_library_that_it_loads(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    loaded = re.findall(r"\w+", " ".join(re.findall(r"{% load ([^%]+) %}", source)))
    tags, filters = set(re.findall(r"{% *(\w+)", source)), set(re.findall(r"\|(\w+)", source))
    libraries = engines["django"].engine.template_libraries  # type: ignore[attr-defined]
    unused = [
        name for name in loaded if not (libraries[name].tags.keys() & tags or libraries[name].filters.keys() & filters)
    ]
    assert unused == []
