"""The fields of the mail server, among the installation's settings."""

from __future__ import annotations

import re
from email.utils import getaddresses
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from benchweb.site.mail import has_password, password_save
from benchweb.site.values import MAIL_SERVER, chosen
from benchweb.web.shared.forms import PageForm, text_field

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

# The field that is never filled in.
UNSHOWN = "email_host_password"
MAIL_FIELDS = [*map(str.lower, MAIL_SERVER), UNSHOWN, "default_from_email"]
_SCHEMES: dict[str, StrOrPromise] = {"smtp": _("none"), "smtp+starttls": "STARTTLS", "smtps": "TLS"}
# A name or an address, of IPv6 too.
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,62}(\.[A-Za-z0-9_-]{1,63})*|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")


def built_in(value: StrOrPromise) -> str:
    """Return the word for what an empty field means."""
    return gettext("built in: {value}").format(value=value)


def _schemes() -> list[tuple[str, StrOrPromise]]:
    return [("", built_in(_SCHEMES[settings.SMTP_SCHEME])), *_SCHEMES.items()]


class MailForm(PageForm):
    """How mail is sent. The password is written here and never shown again."""

    email_host = text_field(
        _("Mail server"),
        max_length=253,
        spellcheck="false",
        help_text=_("Such as mail.example.org. Without one nothing is mailed."),
    )
    email_port = forms.IntegerField(
        label=_("Port"),
        help_text=_("Empty: 25, with STARTTLS 587, with TLS 465."),
        required=False,
        min_value=1,
        max_value=65_535,
    )
    smtp_scheme = forms.ChoiceField(label=_("Encryption"), required=False, choices=_schemes)
    email_host_user = text_field(
        _("User name at the mail server"),
        spellcheck="false",
        help_text=_("Empty: without a log-in. A password that is stored is removed then."),
    )
    email_host_password = forms.CharField(
        label=_("Password at the mail server"),
        required=False,
        strip=False,
        max_length=1_000,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    default_from_email = text_field(
        _("Sender of mail"),
        max_length=320,
        help_text=_("Such as bench@example.org, or Bench <bench@example.org>."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._has_password = has_password()
        if self._has_password:
            self.fields[UNSHOWN].help_text = _("Leave it empty to keep the one that is stored.")
            self.fields[UNSHOWN].widget.attrs["placeholder"] = "••••••••"

    def clean_email_host(self) -> str:
        """Refuse what is neither a name nor an address."""
        host: str = self.cleaned_data["email_host"]
        if host and not _HOST.fullmatch(host):
            raise ValidationError(_("Write a name such as mail.example.org, or an IP address."))
        return host

    def clean_email_host_user(self) -> str:
        """Refuse line breaks and the like."""
        return _printable(self.cleaned_data["email_host_user"])

    def clean_email_host_password(self) -> str:
        """Refuse line breaks and the like."""
        return _printable(self.cleaned_data[UNSHOWN])

    def clean_default_from_email(self) -> str:
        """Refuse what is no address with or without a name."""
        sender = _printable(self.cleaned_data["default_from_email"])
        if sender:
            addresses = [address for _name, address in getaddresses([sender])]
            validate_email(addresses[0] if len(addresses) == 1 else "")
        return sender

    def clean(self) -> dict[str, Any] | None:
        """Refuse a password without a user, and another server for the password that is stored."""
        cleaned = super().clean()
        user, password = self.cleaned_data.get("email_host_user"), self.cleaned_data.get(UNSHOWN)
        if password and not user:
            self.add_error("email_host_user", _("Write the user name that the password is of."))
        elif user and self._has_password and not password and not self.errors and self._is_another_server():
            # Else whoever becomes an admin could have the password sent to a server of theirs.
            self.add_error(UNSHOWN, _("Write the password again: the one that is stored was for another server."))
        return cleaned

    def _is_another_server(self) -> bool:
        chosen.read_now()
        stored = chosen.value()
        return any((self.cleaned_data.get(name.lower()) or None) != stored.get(name) for name in MAIL_SERVER)

    def save_password(self) -> None:
        """Store the password that was written; remove the stored one with its user."""
        password: str = self.cleaned_data[UNSHOWN]
        if self.fields[UNSHOWN].disabled:
            return
        if password or not self.cleaned_data["email_host_user"]:
            password_save(password)


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValidationError(_("Line breaks and control characters can't stand here."))
    return text
