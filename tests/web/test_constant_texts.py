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


def test_a_sentence_with_places_is_said_in_each_language_and_what_fills_it_is_escaped() -> None:
    template = Template(
        "{% load i18n %}{% blocktranslate trimmed with id=run %}\n  Compare run {{ id }}\n{% endblocktranslate %}"
    )
    said = []
    for language, run in (("en", 7), ("zh-hans", "<b>"), ("en", 8)):
        with override(language):
            said.append(template.render(Context({"run": run})))
    assert said == ["Compare run 7", "对比运行 &lt;b&gt;", "Compare run 8"]


def test_a_sentence_that_counts_has_the_form_of_each_number() -> None:
    template = Template(
        "{% load i18n %}{% blocktranslate count number=many with what=kind %}{{ number }} {{ what }}"
        "{% plural %}{{ number }} {{ what }}s{% endblocktranslate %}"
    )
    said = [template.render(Context({"many": many, "kind": "<x>"})) for many in (1, 2, 1, 1_000, 0, True, 1.5)]
    assert said == [
        "1 &lt;x&gt;",
        "2 &lt;x&gt;s",
        "1 &lt;x&gt;",
        *("1000 &lt;x&gt;s", "0 &lt;x&gt;s", "True &lt;x&gt;", "1.5 &lt;x&gt;s"),
    ]


def test_a_sentence_takes_names_from_the_page_and_says_nothing_of_unknown_ones() -> None:
    source = "{% blocktranslate %}{{ name }} at 100 % of {{ nobody }}{% endblocktranslate %}"
    assert rendered(source, name="a&b") == "a&amp;b at 100 % of "


def test_a_sentence_with_a_meaning_or_kept_in_a_variable_is_as_django_has_it() -> None:
    assert rendered("{% blocktranslate asvar kept %}Run {{ id }}{% endblocktranslate %}[{{ kept }}]", id=3) == "[Run 3]"
    with override("zh-hans"):
        source = "{% blocktranslate context 'end of a sentence' %}.{% endblocktranslate %}"
        assert rendered(source) == "。"
