"""The import form: files or text, a pair, and when it was measured."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from benchweb.hosts.models import Endpoint, Pair, pair_label
from benchweb.toolformats.plain_text import MAX_BYTES

MOST_FILES = 20


class _Files(forms.ClearableFileInput):
    allow_multiple_selected = True


class _FilesField(forms.FileField):
    """Any number of files; none is no fault."""

    def clean(self, data: Any, initial: Any = None) -> Sequence["UploadedFile[Any]"]:
        files = data if isinstance(data, list) else [data] if data else []
        if len(files) > MOST_FILES:
            raise forms.ValidationError(gettext("At most {most} files at once.").format(most=MOST_FILES))
        return [super(_FilesField, self).clean(file, initial) for file in files]


class ImportForm(forms.Form):
    """Fields as they were posted; a preview needs no pair."""

    uploads = _FilesField(
        required=False,
        label=_("Files"),
        help_text=_("Or drop them on this form."),
        widget=_Files,
        allow_empty_file=True,
    )
    text = forms.CharField(
        required=False,
        label=_("Or paste text"),
        strip=False,
        max_length=MAX_BYTES,
        widget=forms.Textarea(attrs={"rows": 8, "class": "form-control", "spellcheck": "false"}),
    )
    pair = forms.ModelChoiceField(
        queryset=Pair.objects.filter(archived_at=None).select_related("source__host", "sink__host", "environment"),
        label=_("Pair"),
        empty_label=_("Choose a pair"),
        widget=forms.Select(attrs={"class": "form-select"}),
    )
    at = forms.DateTimeField(
        required=False,
        label=_("Measured at"),
        help_text=_("Without it: the time in the text, else now."),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local", "class": "form-control"}, format="%Y-%m-%dT%H:%M"),
    )

    is_judged = forms.BooleanField(
        required=False,
        label=_("Look for changes"),
        help_text=_("What changed becomes an alert; nobody is told of what was measured more than two days ago."),
        widget=forms.CheckboxInput(attrs={"class": "form-check-input"}),
    )

    def __init__(self, *args: Any, is_preview: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["pair"].required = not is_preview
        self.fields["pair"].label_from_instance = pair_name  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not cleaned.get("uploads") and not cleaned.get("text"):
            self.add_error(None, _("Choose a file or paste text."))
        return cleaned


def pair_name(pair: Pair) -> str:
    """Name a pair in the list of choices: two of the same hosts differ by mode or address."""
    name = pair_label(_reached(pair.source), _reached(pair.sink), is_one_host=pair.is_one_host)
    return f"{name} · {pair.environment.name}"


def _reached(endpoint: Endpoint) -> str:
    words = dict.fromkeys([endpoint.name, endpoint.network_mode, endpoint.data_address or endpoint.control_address])
    return f"{endpoint.host.name} ({', '.join(word for word in words if word)})"
