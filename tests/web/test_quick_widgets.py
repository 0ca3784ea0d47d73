"""Widgets written by functions are, to the letter, those of Django's templates."""

from datetime import date, time
from decimal import Decimal
from typing import Any

import pytest
from django import forms
from django.forms.renderers import DjangoTemplates
from django.test import override_settings
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy, override

from benchweb.web.quick_widgets import _WRITERS, Renderer

NASTY = "<b>\"a\" & 'b'</b>"
CHOICES = [
    ("", gettext_lazy("everything")),
    (1, "one"),
    (NASTY, NASTY),
    (mark_safe("&amp;"), mark_safe("<i>")),
    (None, 7),
]
GROUPS = [("Free", CHOICES), (NASTY, [("x", "y")]), (gettext_lazy("optional"), [(True, False)])]
INPUTS = [
    forms.TextInput,
    forms.NumberInput,
    forms.EmailInput,
    forms.URLInput,
    forms.PasswordInput,
    forms.HiddenInput,
    forms.DateInput,
    forms.DateTimeInput,
    forms.TimeInput,
]
VALUES: list[Any] = ["", None, "plain", NASTY, mark_safe("&lt;"), 0, 12_345.678, Decimal("1.50"), True]
ATTRIBUTES: list[dict[str, Any]] = [
    {},
    {"class": "form-control", "required": True, "disabled": False, "data-x": NASTY, "max": 1_000, "step": 0.5},
    {"id": "id_it", "placeholder": gettext_lazy("optional"), "value-of": None, "title": mark_safe("&amp;")},
]


def both_ways(widget: forms.Widget, value: Any, attributes: dict[str, Any]) -> tuple[str, str]:
    return tuple(
        widget.render(NASTY, value, attrs=attributes, renderer=renderer) for renderer in (Renderer(), DjangoTemplates())
    )


@pytest.mark.parametrize("attributes", ATTRIBUTES)
@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_an_input_is_djangos(kind: type[forms.TextInput], attributes: dict[str, Any], language: str) -> None:
    assert kind.template_name in _WRITERS
    with override(language):
        for value in [*VALUES, date(2026, 1, 2), time(3, 4)]:
            ours, djangos = both_ways(kind(), value, attributes)
            assert ours == djangos


@pytest.mark.parametrize("attributes", ATTRIBUTES)
@pytest.mark.parametrize("choices", [[], CHOICES, GROUPS, [*CHOICES, *GROUPS]])
@pytest.mark.parametrize("kind", [forms.Select, forms.SelectMultiple])
def test_a_select_is_djangos(kind: type[forms.Select], choices: list[Any], attributes: dict[str, Any]) -> None:
    assert kind.template_name in _WRITERS
    for value in ([], ["1"], [NASTY, "x"]):
        given = value if kind.allow_multiple_selected else (value or [None])[0]
        with override_settings(LANGUAGE_CODE="zh-hans"):
            ours, djangos = both_ways(kind(choices=choices), given, attributes)
        assert ours == djangos


def test_what_has_no_function_is_left_to_django() -> None:
    for widget in (forms.CheckboxInput(), forms.Textarea(), forms.RadioSelect(choices=CHOICES)):
        ours, djangos = both_ways(widget, "1", {"id": "a"})
        assert ours == djangos
