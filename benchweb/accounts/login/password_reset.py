"""A new password by mail: the page hands an address to a worker, which mails a link to each account that has it.

The page never looks an address up, so neither its answer nor the time it takes says whether there is an account.
"""

import logging

from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import EmailMessage
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _
from django.utils.translation import override

from benchweb.accounts.demo_account import is_shut
from benchweb.accounts.preferences import preferences_of
from benchweb.common.addresses import path_within, site_path
from benchweb.common.celery_client import send
from benchweb.site.addresses import public_address
from benchweb.site.mail import MAIL_FAULTS
from benchweb.site.values import site_setting

TASK = "workers.tasks.mail_password_reset"
WARNING_TASK = "workers.tasks.mail_factor_warning"
_log = logging.getLogger(__name__)


def can_mail() -> bool:
    """Tell whether links can be mailed: a mail server is set, and the address that links begin with.

    The address that a request names is never used: whoever sends it chooses it.
    """
    return bool(site_setting("EMAIL_HOST") and site_setting("PUBLIC_URL"))


def reset_request(*, email: str, language: str) -> bool:
    """Have links mailed to the accounts with an address; False when the broker can't take it."""
    return send(TASK, email, language)


def reset_mail(email: str, language: str) -> None:
    """Mail a link to each active account that has this address and a password."""
    if not can_mail():
        return
    with override(language):
        for user in PasswordResetForm().get_users(email):
            if not is_shut(user):
                _mail_reset(user)


def mail_link(*, to: str, subject: str, text: str, path: str, ending: str) -> None:
    """Mail a text around a link to one of our pages; one of MAIL_FAULTS when the server doesn't take it."""
    # In a worker's threads Django makes paths without the prefix that they have in a request's.
    link = public_address(site_path(path_within(path)))
    body = f"{text}\n\n{link}\n\n{ending}\n"
    EmailMessage(subject=subject, body=body, from_email=site_setting("DEFAULT_FROM_EMAIL"), to=[to]).send()


def factor_warning_request(*, user: User, address: str) -> None:
    """Have somebody told that their password is known, for wrong codes came after it."""
    if user.email and can_mail():
        send(WARNING_TASK, user.pk, address)


def factor_warning_mail(user_id: int, address: str) -> None:
    """Tell a user of wrong codes after their right password, in their language."""
    user = User.objects.filter(pk=user_id, is_active=True).exclude(email="").first()
    if user is None or not can_mail():
        return
    with override(preferences_of(user).language or site_setting("DEFAULT_LANGUAGE")):
        text = _("Somebody at {address} entered the right password of your account {name}, and then wrong codes.")
        ending = _("If that was not you, change the password on this page now: whoever it was knows it.")
        body = text.format(address=address, name=user.get_username())
        try:
            mail_link(
                to=user.email,
                subject=_("Wrong codes after your password"),
                text=body,
                path=reverse("web:password"),
                ending=ending,
            )
        except MAIL_FAULTS as error:
            _log.warning("%s could not be told of wrong codes: %s", ascii(user.get_username()), error)


def _mail_reset(user: User) -> None:
    name = user.get_username()
    text = _("Somebody, probably you, requested a new password for the account {name}. Set it on this page:")
    ending = _("The link works once, within an hour. If you did not request it, ignore this mail.")
    uid, token = urlsafe_base64_encode(force_bytes(user.pk)), default_token_generator.make_token(user)
    path = reverse("web:new_password", args=[uid, token])
    subject = _("New password for benchweb")
    try:
        mail_link(to=user.email, subject=subject, text=text.format(name=name), path=path, ending=ending)
    except MAIL_FAULTS as error:
        _log.warning("the link for a new password of %s could not be mailed: %s", ascii(name), error)
