"""Templates of quick parts say what Django's say."""

from collections import UserDict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest
from django.template import Context, Engine, Template
from django.template.loader import get_template
from django.utils.functional import SimpleLazyObject
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy, override

from benchweb.charts.verdict import Setting
from benchweb.web.quick_templates import ConstantPart, QuickTag, QuickVariableNode, quicken


class Row(NamedTuple):
    name: str
    count: int


@dataclass
class Host:
    name: str
    rows: list[Row]

    @property
    def label(self) -> str:
        return f"host {self.name}"

    @property
    def broken(self) -> str:
        raise ValueError("no host")

    def said(self) -> str:
        return "said"

    def delete(self) -> str:
        raise AssertionError("a page must not delete")

    delete.alters_data = True  # type: ignore[attr-defined]


class Named(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return f"no {name}"


LIBRARIES = {"show": "benchweb.web.templatetags.show", "i18n": "benchweb.web.templatetags.constant_i18n"}
ENGINE = Engine(builtins=[], libraries=LIBRARIES)
VALUES: dict[str, Any] = {
    "host": Host("a<b>", [Row("x & y", 3)]),
    "row": Row("x & y", 1234),
    "document": {"name": "<i>", "items": "own", "1": "one"},
    "named": Named(),
    "user_dict": UserDict(name="held"),
    "lazy": SimpleLazyObject(lambda: Host("lazy", [])),
    "word": gettext_lazy("Runs"),
    "safe": SafeString("<b>"),
    "text": "<b>'\"&",
    "nothing": None,
    "ratio": 0.5,
    "many": 12345,
    "at": datetime(2026, 1, 2, tzinfo=UTC),
    "call": lambda: "called",
    "rows": [Row("a", 1), Row("b", 2)],
    "settings": [Setting("mode", "Mode", "<b>'\"&", "")],
}
SOURCES = [
    "{{ host.name }} {{ host.label }} {{ host.said }} [{{ host.delete }}]",
    "{{ host.rows.0.name }} {{ host.rows.0.0 }} {{ host.rows.7.name }}",
    "{{ row.name }} {{ row.count }} {{ row.1 }}",
    "{{ document.name }} {{ document.items }} {{ document.1 }} {{ document.keys|length }} [{{ document.missing }}]",
    "{{ named.something }} {{ named.items }} {{ user_dict.name }} {{ lazy.name }} {{ lazy.label }}",
    "{{ word }} {{ safe }} {{ text }} {{ text|upper }} {{ text|default:safe }} {{ safe.upper }}",
    "{{ nothing }} [{{ missing }}] [{{ missing.name }}] {{ nothing.name }} {{ missing|default:host.name }}",
    "{{ ratio }} {{ many }} {{ at }} {{ 12.5 }} {{ 'a<b' }} {{ True }} {{ call }} {{ text.3 }}",
    "{% autoescape off %}{{ text }} {{ host.name }} {{ safe }}{% endautoescape %}",
    "{% for each in rows %}{{ forloop.counter }} {{ each.name }}{% if not forloop.last %}, {% endif %}{% endfor %}",
    "{% for name, count in rows %}{{ name }}{{ count }}{% empty %}none{% endfor %}",
    "{% if host.rows and row.count > 1000 %}yes{% elif missing.name %}no{% endif %}",
    "{% if not nothing.name %}!{% endif %}",
    "{% with each=host.rows.0 %}{{ each.name }}{% endwith %}{% firstof missing nothing text %}",
    "{% load show %}{% metric many 'bit/s' n=3 %} {% half ratio %} {% between at at %}",
    "{% load show %}{% when at 'absolute' as shown %}[{{ shown }}] {% state 'failed' text %} {{ text|said }}",
    "{% load show %}{% autoescape off %}{% settings settings %}{% endautoescape %} {% settings settings %}",
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("is_localized", [True, False])
def test_quick_parts_say_what_django_says(source: str, is_localized: bool) -> None:
    template, quick = Template(source, engine=ENGINE), Template(source, engine=ENGINE)
    quicken(quick.nodelist)
    said = [each.render(Context(VALUES, use_l10n=is_localized)) for each in (template, quick)]
    assert said[0] == said[1]
    assert said[0].strip()


def test_a_property_that_raises_is_not_silenced() -> None:
    quick = Template("{{ host.broken }}", engine=ENGINE)
    quicken(quick.nodelist)
    with pytest.raises(ValueError, match="no host"):
        quick.render(Context(VALUES))


def test_what_stands_side_by_side_and_never_changes_is_one_part_in_each_language() -> None:
    source = "{% load i18n %}<th>{% translate 'Runs' %}</th><th>{% translate 'Hosts' %}</th>{{ text }}<i>"
    quick = Template(source, engine=ENGINE)
    quicken(quick.nodelist)
    assert len(quick.nodelist.get_nodes_by_type(ConstantPart)) == 1
    said = []
    for language in ("en", "zh-hans", "en", "zh-hans"):
        with override(language):
            said.append(quick.render(Context({"text": "<"})))
    assert said == ["<th>Runs</th><th>Hosts</th>&lt;<i>", "<th>运行</th><th>主机</th>&lt;<i>"] * 2


def test_pages_templates_are_made_of_quick_parts() -> None:
    nodes = get_template("partials/run_row.html").template.nodelist
    assert {type(node) for node in nodes.get_nodes_by_type(QuickVariableNode.__base__)} == {QuickVariableNode}
    assert nodes.get_nodes_by_type(QuickTag)


def test_while_templates_are_debugged_they_stay_as_they_are() -> None:
    loaders = [
        ("benchweb.web.quick_templates.Loader", [("django.template.loaders.locmem.Loader", {"a.html": "{{ text }}"})])
    ]
    debugged, usual = Engine(loaders=loaders, debug=True), Engine(loaders=loaders)
    assert not debugged.get_template("a.html").nodelist.get_nodes_by_type(QuickVariableNode)
    assert usual.get_template("a.html").nodelist.get_nodes_by_type(QuickVariableNode)
    assert usual.get_template("a.html") is usual.get_template("a.html")


def test_what_is_called_is_called_at_every_place() -> None:
    class Maker:
        name = "not made"

        def __call__(self) -> Row:
            return Row("made", 1)

    quick = Template("{{ maker.name }} {{ maker.count }} {{ held.maker.name }}", engine=ENGINE)
    quicken(quick.nodelist)
    assert quick.render(Context({"maker": Maker(), "held": {"maker": Maker()}})) == "made 1 made"
