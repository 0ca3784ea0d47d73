"""The forms of those who are not logged in."""

from typing import Any

from django import forms
from django.contrib.auth.forms import SetPasswordForm
from django.utils.translation import gettext_lazy as _

from benchweb.web.shared.forms import PageForm


class MailAddressForm(PageForm):
    """Where a link is mailed to."""

    email = forms.EmailField(
        label=_("Mail address"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "email", "autofocus": True}),
    )


class NewPasswordForm(SetPasswordForm):  # type: ignore[type-arg]
    """Django's, with widgets as the style sheet knows them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **({"label_suffix": ""} | kwargs))
        for field in self.fields.values():
            field.widget.attrs.setdefault("class", "form-control")
