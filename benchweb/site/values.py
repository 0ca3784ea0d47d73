"""The settings in force: the environment's, else what an admin chose on the page, else the built-in ones."""

import os
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import transaction

from benchweb.common.followed import Followed
from benchweb.site.models import SiteSetting

# All in one variable, as nobody sets a host here and its password there.
MAIL_SERVER = ("EMAIL_HOST", "EMAIL_PORT", "SMTP_SCHEME", "EMAIL_HOST_USER")
NAMES = (
    *("DEFAULT_ROLE", "DEFAULT_TIME_ZONE", "DEFAULT_LANGUAGE", "PUBLIC_URL", "SECOND_FACTOR"),
    *("SHARE_DAYS", "AUDIT_DAYS", "DELIVERY_DAYS", "INTERVAL_DAYS", "DETAIL_DAYS"),
    *("SHARE_LINKS", "SHARE_LIVE", "SHARE_ENDLESS"),
    *("ENGINE_NETWORKS", "NOTIFY_PRIVATE_NETWORKS"),
    *(*MAIL_SERVER, "DEFAULT_FROM_EMAIL"),
)
_VARIABLES = {
    **dict.fromkeys((*MAIL_SERVER, "EMAIL_HOST_PASSWORD"), "BENCHWEB_SMTP_URL"),
    "DEFAULT_FROM_EMAIL": "BENCHWEB_MAIL_FROM",
}


def _stored_values() -> dict[str, Any]:
    return dict(SiteSetting.objects.values_list("name", "value"))


# What admins chose, by name.
chosen: Followed[dict[str, Any]] = Followed(_stored_values, unread={})


def site_setting(name: str) -> Any:
    """Return a setting by its name in benchweb.settings, such as "SHARE_DAYS"."""
    value = None if is_locked(name) else chosen.value().get(name)
    return getattr(settings, name) if value is None else value


def is_allowed(name: str) -> bool:
    """Tell whether a setting that is "allowed" or "forbidden" allows it."""
    return bool(site_setting(name) == "allowed")


def is_locked(name: str) -> bool:
    """Tell whether the environment sets it, so that no page can."""
    return bool(os.environ.get(variable(name)))


def variable(name: str) -> str:
    """Return the name of the environment's variable of a setting."""
    return _VARIABLES.get(name, f"BENCHWEB_{name}")


@transaction.atomic
def site_settings_save(values: Mapping[str, Any]) -> None:
    """Store settings by name; None is the built-in one. What the environment sets stays as it is."""
    was = _stored_values()
    for name in NAMES:
        value = values.get(name)
        if name not in values or is_locked(name) or value == was.get(name):
            continue
        if value is None:
            SiteSetting.objects.filter(name=name).delete()
        else:
            SiteSetting.objects.update_or_create(name=name, defaults={"value": value})
    transaction.on_commit(chosen.read_now)
