"""The form that adds a view, or a part of it, to a dashboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from benchweb.dashboards.models import LONGEST_NAME, Tile
from benchweb.web.shared.forms import PageForm, text_field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchweb.dashboards.models import Dashboard
    from benchweb.dashboards.parts import DocumentPart

_NEW = "new"


class TileForm(PageForm):
    """Where to, what of the view, and how wide."""

    dashboard = forms.ChoiceField(label=_("Dashboard"))
    name = text_field(_("Name of the new dashboard"), max_length=LONGEST_NAME)
    part = forms.ChoiceField(label=_("What"), required=False)
    width = forms.ChoiceField(label=_("Width"), choices=Tile.Width.choices, initial=Tile.Width.HALF)

    def __init__(
        self, *args: Any, dashboards: Iterable[Dashboard], parts: Iterable[DocumentPart], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        known = [(str(row.pk), row.name) for row in dashboards]
        self.fields["dashboard"].choices = [*known, (_NEW, gettext("a new one"))]  # type: ignore[attr-defined]
        each = [(part.key, str(part.title)) for part in parts]
        whole = [("", gettext("all of the page"))]
        self.fields["part"].choices = each if len(each) == 1 else whole + each  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Ask for a name where a dashboard is to be made."""
        data = super().clean() or self.cleaned_data
        if self.is_new and not data.get("name"):
            self.add_error("name", gettext("Give the new dashboard a name."))
        return data

    @property
    def is_new(self) -> bool:
        """Tell whether a dashboard is to be made for it."""
        return self.cleaned_data.get("dashboard") == _NEW
