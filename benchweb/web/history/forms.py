"""A note on the history: what happened, when, and what it concerns."""

from datetime import UTC, datetime, tzinfo
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchweb.annotations.services import MOST_CHARACTERS
from benchweb.charts.history.query import FIRST_YEAR, LAST_YEAR
from benchweb.common.rows import row_id
from benchweb.hosts.models import Environment, Host, Pair
from benchweb.web.shared.forms import PageForm

_SCOPES: dict[str, type[Environment] | type[Host] | type[Pair]] = {
    "environment": Environment,
    "host": Host,
    "pair": Pair,
}


class ReaderTimeField(forms.Field):
    """A time as `<input type=datetime-local>` sends it, in the reader's zone; one with an offset keeps it."""

    def __init__(self, label: Any, *, zone: tzinfo, required: bool = False) -> None:
        super().__init__(
            label=label,
            required=required,
            widget=forms.TextInput(attrs={"type": "datetime-local", "class": "form-control"}),
            error_messages={"required": _("Enter a time.")},
        )
        self.zone = zone

    def to_python(self, value: Any) -> datetime | None:
        if not value:
            return None
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError as error:
            raise forms.ValidationError(_("This is not a valid time: choose a date and a time of day.")) from error
        if not FIRST_YEAR <= moment.year <= LAST_YEAR:
            raise forms.ValidationError(_("No results in that year: choose another."))
        # In UTC: PostgreSQL knows no offset of 16 hours or more.
        return (moment if moment.tzinfo else moment.replace(tzinfo=self.zone)).astimezone(UTC)


class AnnotationForm(PageForm):
    """Write a note; `about` is empty for everything, else such as host:7."""

    text = forms.CharField(
        label=_("Note"),
        max_length=MOST_CHARACTERS,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        error_messages={"required": _("Describe briefly what happened.")},
    )

    def __init__(self, *args: Any, zone: tzinfo, scopes: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", _("everything")), *scopes]
        self.fields["at"] = ReaderTimeField(_("From"), zone=zone, required=True)
        self.fields["until"] = ReaderTimeField(_("Until"), zone=zone)
        about = forms.Select(choices=choices, attrs={"class": "form-select"})
        self.fields["about"] = forms.CharField(label=_("About"), required=False, widget=about)

    def clean_about(self) -> dict[str, Any]:
        """Return the row that the note is about, by the name of its field; empty for everything."""
        text = self.cleaned_data["about"]
        if not text:
            return {}
        what, _colon, number = text.partition(":")
        model, pk = _SCOPES.get(what), row_id(number)
        row = model.objects.filter(pk=pk).first() if model and pk is not None else None
        if row is None:
            raise forms.ValidationError(_("No such host, pair or environment: choose one from the list."))
        return {what: row}
