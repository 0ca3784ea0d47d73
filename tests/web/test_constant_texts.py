"""Texts of templates that are looked up once a language."""

from django.template import Context, Template
from django.utils.translation import override


def rendered(source: str, **values: object) -> str:
    return Template("{% load i18n %}" + source).render(Context(values))


def test_a_text_of_the_template_is_said_in_each_readers_language() -> None:
    template = Template("{% load i18n %}<b>{% translate 'Runs' %}</b>")
    said = []
    for language in ("en", "zh-hans", "en", "zh-hans"):
        with override(language):
            said.append(template.render(Context()))
    assert said == ["<b>Runs</b>", "<b>运行</b>"] * 2


def test_what_comes_from_the_context_is_looked_up_and_escaped_each_time() -> None:
    template = Template("{% load i18n %}{% translate word %}")
    assert [template.render(Context({"word": word})) for word in ("Runs", "<Hosts>")] == ["Runs", "&lt;Hosts&gt;"]


def test_a_text_that_is_kept_in_a_variable_is_not_shown() -> None:
    assert rendered("{% translate 'Runs' as word %}[{{ word }}]") == "[Runs]"


def test_per_cent_signs_and_meanings_are_as_django_has_them() -> None:
    assert rendered("{% translate '100 % of it' %}") == "100 % of it"
    with override("zh-hans"):
        assert rendered("{% translate '.' context 'end of a sentence' %}") == "。"
