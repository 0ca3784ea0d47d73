"""The first admin of a new installation: made on a page, by a code that stands in the server's log only.

The code is worked out from the secret key, so every process knows it and nothing is stored. It opens nothing once there
is an admin.
"""

import base64
import logging

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from benchweb.accounts.demo_account import USERNAME
from benchweb.accounts.login.users import may_log_in
from benchweb.accounts.models import Role
from benchweb.accounts.permissions import Permission, users_who_may
from benchweb.accounts.roles.grants import RoleError, user_add
from benchweb.common.addresses import site_path
from benchweb.site.addresses import public_address

PATH = "/first-admin"
# 100 bits.
_CODE_LENGTH, _GROUP = 20, 5
# An arbitrary number of ours for PostgreSQL's advisory locks: two at once take turns.
_LOCK_KEY = 7_410_741_2
_log = logging.getLogger(__name__)


def is_wanted() -> bool:
    """Tell whether there is no admin who can log in, and no demo."""
    return not settings.DEMO and not any(may_log_in(user) for user in users_who_may(Permission.ADMIN))


def is_only_way_in() -> bool:
    """Tell whether there is no user at all, and nobody else who could vouch for one."""
    if settings.DEMO or settings.OIDC_URL or settings.LDAP_URL or settings.LOGIN_PROXY_HEADER:
        return False
    return not User.objects.exclude(username=USERNAME).exists()


def code() -> str:
    """Return the code, in groups."""
    text = base64.b32encode(salted_hmac("first admin", "code", algorithm="sha256").digest()).decode().lower()
    return "-".join(text[start : start + _GROUP] for start in range(0, _CODE_LENGTH, _GROUP))


def is_code(text: str) -> bool:
    """Tell whether this is the code, however its groups are written."""
    return constant_time_compare(_bare_code(text), _bare_code(code()))


def write_code() -> None:
    """Write to the log where the first admin is made, and by which code."""
    page = public_address(site_path(PATH))
    _log.warning("There is no admin yet. Open %s and enter the code %s", page, code())


def announce() -> None:
    """Write the code where it is wanted; for a thread of the server's start, whose database may be away."""
    try:
        if is_wanted():
            write_code()
    except DatabaseError as error:
        _log.warning("it can't be told whether there is an admin: %s", error)
    finally:
        connection.close()


def first_admin_create(*, name: str, password: str) -> User:
    """Make the first admin; raise RoleError where there is one meanwhile, or for a name that can't be had."""
    hashed = make_password(password)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("select pg_advisory_xact_lock(%s)", [_LOCK_KEY])
        if not is_wanted():
            raise RoleError("", _("There is an admin already."))
        user = user_add(name=name, role=Role.ADMIN)
        user.password = hashed
        user.save(update_fields=["password"])
    return user


def _bare_code(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())
