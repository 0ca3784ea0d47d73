"""The mail server: the environment's, else the one that admins chose on the page of site settings."""

import logging
import smtplib
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.smtp import EmailBackend

from benchweb.site.installation import QUIET, is_copy
from benchweb.site.models import SiteSecret
from benchweb.site.secrets import SecretUnreadable, decrypted, encrypted
from benchweb.site.values import is_locked, site_setting

# What a mail can fail by that is no fault of ours: the server, or a password of another secret key.
MAIL_FAULTS = (OSError, SecretUnreadable)
_NAME = "EMAIL_HOST_PASSWORD"
# RFC 3834: nobody's absence is answered to a program.
_BY_PROGRAM = {"Auto-Submitted": "auto-generated"}
_log = logging.getLogger(__name__)


class _Refusals(smtplib.SMTP):
    """Keeps whom a server refused of a mail that it took for others, which Django leaves unread."""

    refused: Mapping[str, tuple[int, bytes]] = {}

    def sendmail(self, *arguments: Any, **options: Any) -> dict[str, tuple[int, bytes]]:
        self.refused = refused = super().sendmail(*arguments, **options)
        return refused


class _RefusalsByTls(_Refusals, smtplib.SMTP_SSL):
    pass


class SiteEmailBackend(EmailBackend):
    """Django's SMTP with the mail server in force; SecretUnreadable when its password can't be read."""

    def __init__(self, **options: Any) -> None:
        scheme = site_setting("SMTP_SCHEME")
        server = {
            "host": site_setting("EMAIL_HOST"),
            "port": site_setting("EMAIL_PORT") or settings.SMTP_PORTS[scheme],
            "username": site_setting("EMAIL_HOST_USER"),
            "password": _password(),
            "use_tls": scheme == "smtp+starttls",
            "use_ssl": scheme == "smtps",
        }
        super().__init__(**server | options)

    @property
    def connection_class(self) -> type[_Refusals]:
        """A connection that tells of single refused recipients."""
        return _RefusalsByTls if self.use_ssl else _Refusals

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Send mails, each marked as a program's; none from a copy."""
        if is_copy():
            _log.warning("%d mails are not sent: %s", len(email_messages), QUIET)
            return 0
        for mail in email_messages:
            mail.extra_headers = _BY_PROGRAM | mail.extra_headers
        return super().send_messages(email_messages)

    def refused(self) -> Mapping[str, tuple[int, bytes]]:
        """Return the recipients that the last mail of the open connection was refused for, with the answers."""
        return self.connection.refused if isinstance(self.connection, _Refusals) else {}


def has_password() -> bool:
    """Tell whether a password is stored."""
    return SiteSecret.objects.filter(name=_NAME).exists()


def password_save(password: str) -> None:
    """Store another password of the mail server; an empty one removes it."""
    if password:
        SiteSecret.objects.update_or_create(name=_NAME, defaults={"secret_encrypted": encrypted(password)})
    else:
        SiteSecret.objects.filter(name=_NAME).delete()


def _password() -> str:
    stored = None if is_locked(_NAME) else SiteSecret.objects.filter(name=_NAME).first()
    return settings.EMAIL_HOST_PASSWORD if stored is None else decrypted(stored.secret_encrypted)
