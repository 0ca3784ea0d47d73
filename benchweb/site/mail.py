"""The mail server: the environment's, else the one that admins chose on the page of site settings."""

from typing import Any

from django.conf import settings
from django.core.mail.backends.smtp import EmailBackend

from benchweb.site.models import SiteSecret
from benchweb.site.secrets import SecretUnreadable, decrypted, encrypted
from benchweb.site.values import is_locked, site_setting

# What a mail can fail by that is no fault of ours: the server, or a password of another secret key.
MAIL_FAULTS = (OSError, SecretUnreadable)
_NAME = "EMAIL_HOST_PASSWORD"


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
