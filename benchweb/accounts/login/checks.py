"""Checks of the settings of log-ins at start: a wrong one is named, before it lets in somebody or nobody."""

from ipaddress import ip_network
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error

from benchweb.accounts.models import Role
from benchweb.accounts.second_factors import Required
from benchweb.common.loopback import is_loopback_name


def login_faults() -> list[CheckMessage]:
    """Return what is wrong with them."""
    return [*_group_roles(), *_proxy(), *_directory(), *_provider(), *_second_factor()]


def _second_factor() -> list[CheckMessage]:
    if settings.SECOND_FACTOR in Required.values:
        return []
    return [Error(f"BENCHWEB_SECOND_FACTOR must be one of {', '.join(Required.values)}.", id="benchweb.E041")]


def _group_roles() -> list[CheckMessage]:
    wrong = [name for name, role in settings.GROUP_ROLES.items() if not name or role not in Role.values]
    if not wrong:
        return []
    text = f"BENCHWEB_GROUP_ROLES gives no role that there is to {', '.join(map(repr, wrong))}."
    hint = f"Write groups and roles such as netops=operator,leads=admin; roles are {', '.join(Role.values)}."
    return [Error(text, hint=hint, id="benchweb.E020")]


def _proxy() -> list[CheckMessage]:
    wrong = [word for word in settings.LOGIN_PROXIES if not _is_network(word)]
    if wrong:
        text = f"BENCHWEB_LOGIN_PROXIES holds {', '.join(wrong)}, neither an address nor a network."
        return [Error(text, hint="Write addresses with commas between, such as 10.0.0.5.", id="benchweb.E021")]
    if settings.LOGIN_PROXY_HEADER and not settings.LOGIN_PROXIES:
        text = "BENCHWEB_LOGIN_PROXY_HEADER is set, but no proxy is named that may send it."
        hint = "Name each proxy's own address in BENCHWEB_LOGIN_PROXIES: whoever it names can be anybody."
        return [Error(text, hint=hint, id="benchweb.E022")]
    return []


def _directory() -> list[CheckMessage]:
    if not settings.LDAP_URL:
        return []
    not_installed = "django-auth-ldap is not installed, see docs/how-to/log-in.md"
    faults = {
        "benchweb.E023": "" if settings.LDAP_IS_INSTALLED else not_installed,
        "benchweb.E024": _address_fault(settings.LDAP_URL),
        "benchweb.E025": "" if settings.LDAP_USERS_DN else "BENCHWEB_LDAP_USERS_DN is not set",
        "benchweb.E026": _group_class_fault(settings.LDAP_GROUP_CLASS),
    }
    return [Error(f"BENCHWEB_LDAP_URL: {text}.", id=identifier) for identifier, text in faults.items() if text]


def _provider() -> list[CheckMessage]:
    if not settings.OIDC_URL:
        return []
    parts = urlsplit(settings.OIDC_URL)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback_name(parts.hostname or ""))
    faults = []
    if not is_safe or not parts.hostname:
        hint = "Tokens are believed because they come by TLS. Only a provider on this machine may do without."
        faults.append(Error("BENCHWEB_OIDC_URL must begin with https://.", hint=hint, id="benchweb.E027"))
    if not settings.OIDC_CLIENT_ID:
        faults.append(Error("BENCHWEB_OIDC_CLIENT_ID is not set.", id="benchweb.E028"))
    return list(faults)


def _address_fault(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in settings.LDAP_SCHEMES or not parts.hostname:
        return "write ldaps://host:port or ldap+starttls://host:port"
    if parts.scheme == "ldap" and not is_loopback_name(parts.hostname):
        return "passwords would cross the network in clear: write ldaps:// or ldap+starttls://"
    return ""


def _group_class_fault(name: str) -> str:
    known = settings.LDAP_GROUP_CLASSES
    return "" if name in {"", *known} else f"BENCHWEB_LDAP_GROUP_CLASS must be one of {', '.join(known)}"


def _is_network(word: str) -> bool:
    try:
        network = ip_network(word, strict=False)
    except ValueError:
        return False
    # All addresses are no named proxy.
    return network.prefixlen > 0
