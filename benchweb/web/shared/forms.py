"""What every form shares: the look of its widgets, and a service's refusal put at the field at fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from django import forms
from django.utils.html import format_html
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from benchweb.web.shared.zones import zone_named

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

TEXT_INPUTS = (forms.TextInput, forms.Textarea, forms.NumberInput, forms.EmailInput, forms.PasswordInput)


class PageForm(forms.Form):
    """A form that draws its widgets as the style sheet knows them."""

    required_css_class = "required"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **({"label_suffix": ""} | kwargs))
        for field in self.fields.values():
            if isinstance(field.widget, TEXT_INPUTS):
                field.widget.attrs.setdefault("class", "form-control")
            elif isinstance(field.widget, forms.Select):
                field.widget.attrs.setdefault("class", "form-select")

    @classmethod
    def of(cls, row: Any) -> Self:
        """Return the form with a row's values."""
        raise NotImplementedError

    def refuse(self, field: str, message: str, url: str = "") -> None:
        """Show a service's refusal at its field, or above the form; `url` leads to the row that it clashes with."""
        self.add_error(field if field in self.fields else None, with_link(message, url))


def with_link(message: str, url: str) -> str:
    """Return a refusal in the reader's language, with a link to the row that it speaks of where there is one."""
    return format_html('{} <a href="{}">{}</a>', message, url, _("Show it")) if url else message


def known_zone(name: str) -> str:
    """Return the name of a time zone, "" for none; refuse a name that no zone has."""
    if name and zone_named(name) is None:
        raise forms.ValidationError(_("There is no time zone of this name: choose one of the suggestions."))
    return name


def text_field(
    label: StrOrPromise,
    *,
    help_text: StrOrPromise = "",
    required: bool = False,
    max_length: int = 255,
    **attributes: StrOrPromise,
) -> forms.CharField:
    """Return a one-line text field."""
    return forms.CharField(
        label=label,
        help_text=help_text,
        required=required,
        max_length=max_length,
        widget=forms.TextInput(attrs=attributes | {"autocomplete": "off"}),
        error_messages={"required": format_lazy(_("{label} is required."), label=label)},
    )


def description_field() -> forms.CharField:
    """Return the field for free words about a row."""
    return forms.CharField(
        label=_("Description"), required=False, max_length=4000, widget=forms.Textarea(attrs={"rows": 2})
    )


class LabelsField(forms.CharField):
    """Words with commas between them, read as a list."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return typed_labels(value or "")


def typed_labels(text: str) -> list[str]:
    """Return the labels that were typed with commas between them."""
    return [label.strip() for label in text.split(",") if label.strip()]


def labels_field(help_text: StrOrPromise) -> LabelsField:
    """Return the field for a row's labels."""
    return LabelsField(
        label=_("Labels"),
        required=False,
        max_length=None,
        help_text=help_text,
        widget=forms.TextInput(attrs={"placeholder": _("rack-7, nightly"), "autocomplete": "off"}),
    )
