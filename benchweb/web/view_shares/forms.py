"""The form of a link to a view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.utils.translation import gettext_lazy as _

from benchweb.site.values import is_allowed
from benchweb.web.shares.forms import ShareForm

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


def _shows() -> list[tuple[str, StrOrPromise]]:
    frozen, live = ("frozen", _("the view as it is now")), ("live", _("the view as it is when opened"))
    return [frozen, live] if is_allowed("SHARE_LIVE") else [frozen]


class ViewShareForm(ShareForm):
    """Whether the link shows the view as it is now or when it is opened; for how long, and with which names."""

    shows = forms.ChoiceField(
        label=_("The link shows"),
        choices=_shows,
        initial="frozen",
    )
