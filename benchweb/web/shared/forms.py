"""What every form shares: the look of its widgets, and a service's refusal put at the field at fault."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from django import forms
from django.utils.html import format_html
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from benchweb.common.rows import row_ids
from benchweb.web.shared.edits import FieldChange, OpenedForm, opened_form
from benchweb.web.shared.zones import zone_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from django_stubs_ext import StrOrPromise

TEXT_INPUTS = (forms.TextInput, forms.Textarea, forms.NumberInput, forms.EmailInput, forms.PasswordInput)


class PageForm(forms.Form):
    """A form that draws its widgets as the style sheet knows them."""

    required_css_class = "required"
    # Of a form that changes a row: what it showed when it was opened, and what others changed since.
    opened: OpenedForm | None = None

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

    def note_opened(self, sent: Mapping[str, Any], current: PageForm) -> bool:
        """Carry what the form shows; False where somebody changed it meanwhile: then nothing may be saved.

        `current` is the form of the row as it stands, and this one itself where it is just opened.
        """
        labels = {name: str(field.label or name) for name, field in self.fields.items()}
        now = current.stated()
        self.opened = opened_form(sent, now, now if current is self else self.stated(), labels)
        if self.opened.changes:
            self.opened = replace(self.opened, changes=[self._in_words(change) for change in self.opened.changes])
        return not self.opened.changes

    @property
    def status(self) -> int:
        """Return the status of a page that shows the form."""
        return self.opened.status if self.opened else 200

    def stated(self) -> dict[str, str]:
        """Return what stands in each field; secrets are none of it."""
        return {
            name: _text_of(self[name].value())
            for name, field in self.fields.items()
            if not isinstance(field.widget, forms.PasswordInput)
        }

    def _in_words(self, change: FieldChange) -> FieldChange:
        field = self.fields[change.name]
        texts = {name: _words_of(field, getattr(change, name)) for name in ("was", "now", "typed")}
        return replace(change, **texts)

    def refuse(self, field: str, message: str, url: str = "") -> None:
        """Show a service's refusal at its field, or above the form; `url` leads to the row that it clashes with."""
        self.add_error(field if field in self.fields else None, with_link(message, url))


def _text_of(value: Any) -> str:
    """Write what stands in a field, the same whether it comes from a row or from a reader."""
    if isinstance(value, list | tuple | set):
        return ", ".join(_text_of(each) for each in value)
    return "" if value is None else str(getattr(value, "pk", value))


def _words_of(field: forms.Field, text: str) -> str:
    """Say what stands in a field: rows and choices by their names."""
    if isinstance(field, forms.ModelChoiceField) and field.queryset is not None:
        ids = row_ids(text.split(", "))
        return ", ".join(str(row) for row in field.queryset.model._default_manager.filter(pk__in=ids)) or text
    if isinstance(field, forms.ChoiceField):
        choices: Iterable[tuple[Any, Any]] = field.widget.choices
        names = {str(value): str(label) for value, label in choices if not isinstance(label, list | tuple)}
        return ", ".join(names.get(each, each) for each in text.split(", "))
    return text


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
