"""Checks of the settings at start: a wrong one is told with the variable's name, before it does harm."""

import json
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from benchweb.accounts.login.checks import login_faults
from benchweb.accounts.models import Role
from benchweb.accounts.roles.routes import first_parts
from benchweb.common.loopback import is_loopback_name
from benchweb.common.names import unit_fault
from benchweb.hosts.addresses import NetworksError, parsed_networks
from benchweb.site.addresses import BASE_PATH_FORM, has_own_path

SHORTEST_SECRET = 32
# The database refuses to remove later ones, see accounts.audit.triggers.
FEWEST_AUDIT_DAYS = 30
MOST_SHARE_DAYS = 3_650


@register()
def settings_are_usable(**_: Any) -> list[CheckMessage]:
    """Check what comes from the environment."""
    own = [*_secret_key(), *_addresses(), *_proxies(), *_demo(), *_debug(), *_catalog_overlay(), *_catalog_units()]
    days = [*_days_kept(), *_audit_days(), *_share_days()]
    more = [*_share_links(), *_default_role(), *_defaults(), *login_faults()]
    return [*own, *_log_format(), *_backups(), *_networks(), *_mail_server(), *_public_url(), *days, *more]


def _secret_key() -> list[CheckMessage]:
    if len(settings.SECRET_KEY) >= SHORTEST_SECRET:
        return []
    return [
        Error(
            f"BENCHWEB_SECRET_KEY has fewer than {SHORTEST_SECRET} characters.",
            hint="Make one with 'openssl rand -hex 32' and keep it: engine tokens are encrypted with it.",
            id="benchweb.E001",
        )
    ]


def _addresses() -> list[CheckMessage]:
    wanted = {
        "BENCHWEB_DATABASE_URL": (settings.DATABASE_URL, ("postgresql", "postgres")),
        "BENCHWEB_REDIS_URL": (settings.REDIS_URL, ("redis", "rediss", "unix")),
    }
    return [
        Error(f"{name} must begin with {' or '.join(f'{scheme}://' for scheme in schemes)}.", id="benchweb.E002")
        for name, (value, schemes) in wanted.items()
        if urlsplit(value).scheme not in schemes
    ]


def _proxies() -> list[CheckMessage]:
    return [
        Error(
            f"BENCHWEB_TRUSTED_PROXIES holds {word}, which is neither an address nor a network.",
            hint="Write addresses and networks with commas between, such as 10.0.0.5,192.168.3.0/24.",
            id="benchweb.E005",
        )
        for word in settings.TRUSTED_PROXIES
        if not _is_network(word)
    ]


def _is_network(text: str) -> bool:
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _demo() -> list[CheckMessage]:
    reachable = _public_hosts()
    if not settings.DEMO or not reachable:
        return []
    return [
        Error(
            f"The demo is on while BENCHWEB_ALLOWED_HOSTS names {', '.join(reachable)}.",
            hint="The demo is for this machine only: start with --no-demo for others, or name no others.",
            id="benchweb.E006",
        )
    ]


def _debug() -> list[CheckMessage]:
    public = [f"BENCHWEB_ALLOWED_HOSTS names {host}" for host in _public_hosts()]
    if settings.PUBLIC_URL and not is_loopback_name(urlsplit(settings.PUBLIC_URL).hostname or ""):
        public.append(f"BENCHWEB_PUBLIC_URL is {settings.PUBLIC_URL}")
    if settings.BEHIND_TLS:
        public.append("BENCHWEB_BEHIND_TLS is 1")
    if not settings.DEBUG or not public:
        return []
    return [
        Error(
            f"BENCHWEB_DEBUG is 1 while {' and '.join(public)}.",
            hint="It shows source and settings to whoever meets an error: leave it out, or serve this machine only.",
            id="benchweb.E031",
        )
    ]


def _public_hosts() -> list[str]:
    return [host for host in settings.ALLOWED_HOSTS if not is_loopback_name(host)]


def _catalog_overlay() -> list[CheckMessage]:
    if not settings.CATALOG_OVERLAY or Path(settings.CATALOG_OVERLAY).is_file():
        return []
    return [Error(f"BENCHWEB_CATALOG_OVERLAY names no file: {settings.CATALOG_OVERLAY}.", id="benchweb.E003")]


def _catalog_units() -> list[CheckMessage]:
    """Check the units of the private catalog: they stand in every page and file."""
    if not settings.CATALOG_OVERLAY or not Path(settings.CATALOG_OVERLAY).is_file():
        return []
    overlay = json.loads(Path(settings.CATALOG_OVERLAY).read_text(encoding="utf-8"))
    return [
        Error(f"BENCHWEB_CATALOG_OVERLAY: the unit of {name} in {section}: {fault}", id="benchweb.E019")
        for section in ("metrics", "parameters")
        for name, entry in overlay.get(section, {}).items()
        if (fault := unit_fault(entry.get("unit") or ""))
    ]


def _networks() -> list[CheckMessage]:
    values = {
        "BENCHWEB_ENGINE_NETWORKS": (settings.ENGINE_NETWORKS, "benchweb.E004"),
        "BENCHWEB_NOTIFY_PRIVATE_NETWORKS": (settings.NOTIFY_PRIVATE_NETWORKS, "benchweb.E007"),
    }
    hint = "Write networks such as 10.0.0.0/8 with spaces between them, with ! before each that is denied."
    return [
        Error(f"{name}: {fault}", hint=hint, id=identifier)
        for name, (value, identifier) in values.items()
        if (fault := _networks_fault(value))
    ]


def _networks_fault(text: str) -> str:
    try:
        parsed_networks(text)
    except NetworksError as error:
        return str(error)
    return ""


def _mail_server() -> list[CheckMessage]:
    if not settings.SMTP_URL:
        return []
    parts = urlsplit(settings.SMTP_URL)
    if parts.scheme in settings.SMTP_PORTS and parts.hostname and _has_port(settings.SMTP_URL):
        return []
    # The value has a password in it.
    # pragma: allowlist nextline secret
    hint = "Write smtp://user:password@host:port, or smtps:// or smtp+starttls://; % and two digits for other signs."
    return [Error("BENCHWEB_SMTP_URL names no mail server.", hint=hint, id="benchweb.E008")]


def _has_port(url: str) -> bool:
    try:
        return urlsplit(url).port != 0
    except ValueError:
        return False


def _public_url() -> list[CheckMessage]:
    parts, base = urlsplit(settings.PUBLIC_URL), settings.BASE_PATH
    if base and not BASE_PATH_FORM.fullmatch(base):
        example = "Write a path such as /bench, with letters, digits, - and _."
        return [Error(f"BENCHWEB_BASE_PATH is no path: {base}", hint=example, id="benchweb.E042")]
    if settings.PUBLIC_URL and parts.scheme not in ("http", "https"):
        return [Error("BENCHWEB_PUBLIC_URL must begin with http:// or https://.", id="benchweb.E009")]
    if base and base.split("/")[1] in first_parts():
        hint = "A proxy that takes the path away would leave an address of which nobody can tell whose it is."
        return [Error(f"BENCHWEB_BASE_PATH begins as a page does: {base}", hint=hint, id="benchweb.E045")]
    if not has_own_path(settings.PUBLIC_URL):
        path = f"BENCHWEB_PUBLIC_URL has the path {parts.path}, and BENCHWEB_BASE_PATH is {base or 'empty'}."
        hint = f"Set BENCHWEB_BASE_PATH={parts.path.rstrip('/')}, or leave the path out of the address."
        # Until there was a base path, a path in the address was ignored.
        return [Error(path, hint=hint, id="benchweb.E043") if base else Warning(path, hint=hint, id="benchweb.W043")]
    return []


def _log_format() -> list[CheckMessage]:
    if settings.LOG_FORMAT in ("line", "json"):
        return []
    return [Error("BENCHWEB_LOG_FORMAT is neither line nor json.", id="benchweb.E037")]


def _days_kept() -> list[CheckMessage]:
    kept = {
        "DELIVERY_DAYS": ("all messages", "benchweb.E010"),
        "INTERVAL_DAYS": ("all intervals", "benchweb.E036"),
        "DETAIL_DAYS": ("all details", "benchweb.E044"),
    }
    return [
        Error(f"BENCHWEB_{name} is below 0.", hint=f"0 keeps {what}.", id=number)
        for name, (what, number) in kept.items()
        if getattr(settings, name) < 0
    ]


def _backups() -> list[CheckMessage]:
    faults = [
        *(["BENCHWEB_BACKUP_DIR is no whole path: begin it with /."] if _is_relative(settings.BACKUP_DIR) else []),
        *(
            ["BENCHWEB_BACKUP_KEEP is below 1: without backups leave out BENCHWEB_BACKUP_DIR."]
            * (settings.BACKUP_KEEP < 1)
        ),
        *(["BENCHWEB_BACKUP_TEST is neither 1 nor 0."] * (settings.BACKUP_TEST not in ("", "0", "1"))),
        *(["BENCHWEB_BACKUP_HOUR is not from 0 to 23."] * (not 0 <= settings.BACKUP_HOUR <= 23)),
    ]
    return [Error(fault, id="benchweb.E035") for fault in faults]


def _is_relative(path: str) -> bool:
    return bool(path) and not Path(path).is_absolute()


def _audit_days() -> list[CheckMessage]:
    if settings.AUDIT_DAYS == 0 or settings.AUDIT_DAYS >= FEWEST_AUDIT_DAYS:
        return []
    text = f"BENCHWEB_AUDIT_DAYS is neither 0 nor at least {FEWEST_AUDIT_DAYS}."
    return [Error(text, hint="0 keeps all entries.", id="benchweb.E011")]


def _default_role() -> list[CheckMessage]:
    if settings.DEFAULT_ROLE in Role.values:
        return []
    return [Error(f"BENCHWEB_DEFAULT_ROLE must be one of {', '.join(Role.values)}.", id="benchweb.E012")]


def _defaults() -> list[CheckMessage]:
    zone = (
        []
        if settings.DEFAULT_TIME_ZONE in available_timezones()
        else ["BENCHWEB_DEFAULT_TIME_ZONE names no time zone."]
    )
    known = dict(settings.LANGUAGES)
    language = [f"BENCHWEB_DEFAULT_LANGUAGE must be one of {', '.join(known)}."]
    faults = [*zone, *([] if settings.DEFAULT_LANGUAGE in known else language)]
    return [Error(fault, id="benchweb.E030") for fault in faults]


def _share_links() -> list[CheckMessage]:
    return [
        Error(f"BENCHWEB_{name} must be allowed or forbidden.", id="benchweb.E034")
        for name in ("SHARE_LINKS", "SHARE_LIVE", "SHARE_ENDLESS")
        if getattr(settings, name) not in ("allowed", "forbidden")
    ]


def _share_days() -> list[CheckMessage]:
    if 0 <= settings.SHARE_DAYS <= MOST_SHARE_DAYS:
        return []
    text = f"BENCHWEB_SHARE_DAYS is not from 0 to {MOST_SHARE_DAYS}."
    return [Error(text, hint="0 lets links stand until they are revoked.", id="benchweb.E013")]
