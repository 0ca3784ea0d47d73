"""Settings of the ways to log in beside name and password: from the environment, checked by settings_checks."""

import os
import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit


def words(text: str, separator: str = ",") -> list[str]:
    r"""Split a list with commas or another separator; with a backslash before it, as `\,`, it is part of a word."""
    found = re.split(rf"(?<!\\){re.escape(separator)}", text)
    return [word.replace(f"\\{separator}", separator).strip() for word in found if word.strip()]


def _pairs(text: str) -> dict[str, str]:
    """Read "netops=operator,leads=admin"; a name may hold = itself, as those of directories do."""
    return {name.strip(): value.strip() for name, _, value in (word.rpartition("=") for word in words(text))}


def oidc_provider(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return allauth's settings of an OpenID provider: code flow with PKCE."""
    app = {
        "provider_id": "oidc",
        "name": environment.get("BENCHWEB_OIDC_NAME", ""),
        "client_id": environment.get("BENCHWEB_OIDC_CLIENT_ID", ""),
        "secret": environment.get("BENCHWEB_OIDC_CLIENT_SECRET", ""),
        "settings": {"server_url": environment["BENCHWEB_OIDC_URL"].rstrip("/"), "oauth_pkce_enabled": True},
    }
    scopes = ["openid", "profile", "email", *environment.get("BENCHWEB_OIDC_SCOPES", "").split()]
    return {"APPS": [app], "SCOPE": scopes}


# Which groups of the provider, the directory or the proxy have which role.
GROUP_ROLES = _pairs(os.environ.get("BENCHWEB_GROUP_ROLES", ""))
# Whether somebody whom these know gets an account at their first log-in, or has to have one before.
CREATE_USERS = os.environ.get("BENCHWEB_CREATE_USERS") != "0"
# Whether an account that has a password is that of whom these know by the same name.
TRUST_NAMES = os.environ.get("BENCHWEB_TRUST_NAMES") == "1"
# Where log-out leads to: a path that a proxy in front of us ends its own session at.
LOGOUT_REDIRECT_URL = os.environ.get("BENCHWEB_LOGOUT_PATH") or "web:login"

# So long after its log-in a session ends.
SESSION_COOKIE_AGE = int(float(os.environ.get("BENCHWEB_SESSION_HOURS") or "336") * 3600)

# A header in which a proxy names the user it has logged in, and the proxies that are believed.
LOGIN_PROXY_HEADER = os.environ.get("BENCHWEB_LOGIN_PROXY_HEADER", "")
LOGIN_PROXY_MAIL_HEADER = os.environ.get("BENCHWEB_LOGIN_PROXY_MAIL_HEADER", "")
LOGIN_PROXY_GROUPS_HEADER = os.environ.get("BENCHWEB_LOGIN_PROXY_GROUPS_HEADER", "")
# What stands between groups: one that no group's name has, for else half a name may be that of another group.
LOGIN_PROXY_GROUPS_SEPARATOR = os.environ.get("BENCHWEB_LOGIN_PROXY_GROUPS_SEPARATOR") or ","
LOGIN_PROXIES = words(os.environ.get("BENCHWEB_LOGIN_PROXIES", ""))

# What django-allauth leaves to us: our own log-in page, throttle and mail stay.
ACCOUNT_ADAPTER = "benchweb.web.login.adapters.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_UNIQUE_EMAIL = False
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_RATE_LIMITS = False

# Second factors and passkeys. Guesses are limited by ours; addresses open no account, so none needs to be verified.
MFA_ADAPTER = "benchweb.web.second_factors.adapter.FactorAdapter"
MFA_FORMS = {
    "add_webauthn": "benchweb.web.second_factors.forms.NewPasskeyForm",
    "authenticate_webauthn": "benchweb.web.second_factors.forms.CodePasskeyForm",
    "login_webauthn": "benchweb.web.second_factors.forms.LoginPasskeyForm",
    "reauthenticate_webauthn": "benchweb.web.second_factors.forms.ConfirmPasskeyForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "benchweb"
# A clock may be half a minute off.
MFA_TOTP_TOLERANCE = 1
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_RATE_LIMITS = False

# An OpenID provider, by the address that its issuer's metadata are below.
OIDC_URL = os.environ.get("BENCHWEB_OIDC_URL", "").rstrip("/")
OIDC_NAME = os.environ.get("BENCHWEB_OIDC_NAME") or "single sign-on"
OIDC_CLIENT_ID = os.environ.get("BENCHWEB_OIDC_CLIENT_ID", "")
# Claims with the user name and with groups; a dot leads into one, as in realm_access.roles.
OIDC_NAME_CLAIM = os.environ.get("BENCHWEB_OIDC_NAME_CLAIM") or "preferred_username"
OIDC_GROUPS_CLAIM = os.environ.get("BENCHWEB_OIDC_GROUPS_CLAIM") or "groups"
SOCIALACCOUNT_ADAPTER = "benchweb.web.login.provider_adapter.ProviderAdapter"
SOCIALACCOUNT_PROVIDERS = {"openid_connect": oidc_provider(os.environ) if OIDC_URL else {}}

LDAP_SCHEMES = ("ldap", "ldap+starttls", "ldaps")
# Of each answer of the directory.
_LDAP_SECONDS = 5
# How groups name their members, by their object class; "group" is Active Directory's.
LDAP_GROUP_CLASSES = {
    "groupOfNames": "NestedGroupOfNamesType",
    "groupOfUniqueNames": "NestedGroupOfUniqueNamesType",
    "posixGroup": "PosixGroupType",
    "group": "NestedActiveDirectoryGroupType",
}


def ldap_settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return django-auth-ldap's settings; it is installed only where they are made."""
    import ldap
    from django_auth_ldap import config

    parts = urlsplit(environment["BENCHWEB_LDAP_URL"])
    name = environment.get("BENCHWEB_LDAP_NAME_ATTRIBUTE") or "uid"
    users = f"(&{environment.get('BENCHWEB_LDAP_USER_FILTER', '')}({name}=%(user)s))"
    options: dict[int, Any] = {
        ldap.OPT_NETWORK_TIMEOUT: _LDAP_SECONDS,
        ldap.OPT_TIMEOUT: _LDAP_SECONDS,
        ldap.OPT_REFERRALS: 0,
        ldap.OPT_X_TLS_REQUIRE_CERT: ldap.OPT_X_TLS_DEMAND,
    }
    if authority := environment.get("BENCHWEB_LDAP_CA_FILE"):
        options[ldap.OPT_X_TLS_CACERTFILE] = authority
    return {
        "AUTH_LDAP_SERVER_URI": f"{'ldaps' if parts.scheme == 'ldaps' else 'ldap'}://{parts.netloc}",
        "AUTH_LDAP_START_TLS": parts.scheme == "ldap+starttls",
        # The last one makes OpenLDAP look at those of TLS before it.
        "AUTH_LDAP_CONNECTION_OPTIONS": options | {ldap.OPT_X_TLS_NEWCTX: 0},
        "AUTH_LDAP_BIND_DN": environment.get("BENCHWEB_LDAP_BIND_DN", ""),
        "AUTH_LDAP_BIND_PASSWORD": environment.get("BENCHWEB_LDAP_BIND_PASSWORD", ""),
        "AUTH_LDAP_USER_SEARCH": config.LDAPSearch(
            environment.get("BENCHWEB_LDAP_USERS_DN", ""), ldap.SCOPE_SUBTREE, users
        ),
        "LDAP_NAME_ATTRIBUTE": name,
        **_ldap_groups(environment),
    }


def _ldap_groups(environment: Mapping[str, str]) -> dict[str, Any]:
    import ldap
    from django_auth_ldap import config

    base = environment.get("BENCHWEB_LDAP_GROUPS_DN")
    if not base:
        return {"AUTH_LDAP_GROUP_SEARCH": None}
    group_class = environment.get("BENCHWEB_LDAP_GROUP_CLASS") or "groupOfNames"
    return {
        "AUTH_LDAP_GROUP_SEARCH": config.LDAPSearch(base, ldap.SCOPE_SUBTREE, f"(objectClass={group_class})"),
        "AUTH_LDAP_GROUP_TYPE": getattr(config, LDAP_GROUP_CLASSES[group_class])(),
    }


# ldaps://host:port, ldap+starttls://host:port; ldap:// only to this machine.
LDAP_URL = os.environ.get("BENCHWEB_LDAP_URL", "")
LDAP_USERS_DN = os.environ.get("BENCHWEB_LDAP_USERS_DN", "")
LDAP_GROUP_CLASS = os.environ.get("BENCHWEB_LDAP_GROUP_CLASS", "")
LDAP_IS_INSTALLED = find_spec("django_auth_ldap") is not None
LDAP_NAME_ATTRIBUTE = "uid"
AUTH_LDAP_GROUP_SEARCH: Any = None
# Wrong ones are told by the checks, which run once these are loaded.
LDAP_BACKENDS = ["benchweb.accounts.login.ldap.DirectoryBackend"] if LDAP_URL and LDAP_IS_INSTALLED else []
if LDAP_BACKENDS and LDAP_GROUP_CLASS in {"", *LDAP_GROUP_CLASSES}:
    globals().update(ldap_settings(os.environ))
