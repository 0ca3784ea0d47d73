"""The form of a link to a view."""

from django import forms
from django.utils.translation import gettext_lazy as _

from benchweb.web.shares.forms import ShareForm


class ViewShareForm(ShareForm):
    """Whether the link shows the view as it is now or when it is opened; for how long, and with which names."""

    shows = forms.ChoiceField(
        label=_("The link shows"),
        choices=[("frozen", _("the view as it is now")), ("live", _("the view as it is when opened"))],
        initial="frozen",
    )
