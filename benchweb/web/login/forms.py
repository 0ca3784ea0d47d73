"""The forms of those who are not logged in."""

from typing import Any

from allauth.mfa.base.forms import AuthenticateForm
from allauth.mfa.utils import is_mfa_enabled
from django import forms
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _

from benchweb.accounts import throttle
from benchweb.accounts.login.first_admin import is_code
from benchweb.accounts.roles.grants import user_name_fault
from benchweb.web.login.session_views import too_many
from benchweb.web.shared.forms import PageForm, text_field


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


class ResetForm(NewPasswordForm):
    """A new password by a mailed link: who has a second factor proves it, for a mailbox alone is not two."""

    code = text_field(
        _("Code"),
        required=True,
        max_length=20,
        help_text=_("Of your authenticator app, or a recovery code. Without either, ask an admin for a link."),
        autocomplete="one-time-code",
    )

    def __init__(self, user: User | None, *args: Any, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        # Of a link that leads to nobody the form isn't shown.
        if user is None or not is_mfa_enabled(user):
            del self.fields["code"]

    def clean(self) -> dict[str, Any]:
        """Refuse a wrong code; looked at last, for it is good once."""
        values = super().clean() or {}
        if "code" in self.fields and not self.errors:
            self._check(values["code"])
        return values

    def _check(self, code: str) -> None:
        # Counted apart, as no name is: who guesses codes at the log-in would else keep the password that they know.
        name = f"reset {self.user.pk}"
        if seconds := throttle.begin_factor(name):
            raise forms.ValidationError(too_many(seconds))
        if not AuthenticateForm({"code": code}, user=self.user).is_valid():
            self.add_error("code", _("This code is wrong, or was used already."))
        else:
            throttle.factor_succeeded(name)


class WelcomeForm(NewPasswordForm):
    """The password of an account, and a name where there is none yet."""

    name = text_field(_("User name"), required=True, max_length=150, autofocus="autofocus", autocapitalize="none")
    field_order = ["name"]

    def __init__(self, user: User | None, *args: Any, **kwargs: Any) -> None:
        # Passwords are compared with what is known of the account.
        super().__init__(user or User(), *args, **kwargs)
        self.fields["name"].widget.attrs["autocomplete"] = "username"
        if user is not None:
            del self.fields["name"]

    def clean_name(self) -> str:
        """Refuse a name that can't be had."""
        name: str = self.cleaned_data["name"].strip()
        if fault := user_name_fault(name):
            raise forms.ValidationError(fault)
        return name

    def refuse(self, field: str, message: str) -> None:
        """Show a refusal at its field, or above the form."""
        self.add_error(field if field in self.fields else None, message)


class FirstAdminForm(WelcomeForm):
    """A name and a password, and the code of the server's log."""

    code = text_field(_("Code"), required=True, max_length=100, autofocus="autofocus", autocapitalize="none")
    field_order = ["code", "name"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(None, *args, **kwargs)
        self.fields["name"].widget.attrs.pop("autofocus")

    def clean_code(self) -> str:
        """Refuse a wrong code."""
        text: str = self.cleaned_data["code"]
        if not is_code(text):
            raise forms.ValidationError(_("This code is wrong."))
        return text
