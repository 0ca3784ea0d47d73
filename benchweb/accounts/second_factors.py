"""Say who has to have a second factor before they do anything else; a setting of the site says whom it concerns."""

from allauth.mfa.utils import is_mfa_enabled
from django.contrib.auth.models import User
from django.db import models
from django.utils.translation import gettext_lazy as _

from benchweb.accounts.permissions import Permission, access_of, is_service
from benchweb.site.values import site_setting


class Required(models.TextChoices):
    """Of whom a second factor is required."""

    NOBODY = "nobody", _("Nobody")
    ADMINS = "admins", _("Admins")
    ALL = "all", _("Everybody")


def lacks_factor(user: User, *, by_proxy: bool) -> bool:
    """Tell whether somebody has to set up a second factor first; no query where none is required.

    Whom a proxy logged in is the proxy's to ask; a session of theirs that was opened otherwise is ours.
    """
    required = site_setting("SECOND_FACTOR")
    if by_proxy or required == Required.NOBODY or is_service(user):
        return False
    if required == Required.ADMINS and not access_of(user).may(Permission.ADMIN):
        return False
    return not is_mfa_enabled(user)
