"""Settings: read from the environment and the state folder only, checked at start by benchweb.ops.settings_checks."""

import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from benchweb.common.connection_actor import forget_actor
from benchweb.login_settings import *  # noqa: F403
from benchweb.login_settings import LDAP_BACKENDS
from benchweb.login_settings import words as _words

BASE_DIR = Path(__file__).resolve().parent.parent
BENCHWEB_HOME = Path(os.environ.get("BENCHWEB_HOME", BASE_DIR / ".benchweb")).resolve()
# Written by `up`: where the running database and broker are, so that other commands find them.
RUNTIME_FILE = BENCHWEB_HOME / "runtime.json"
TESTING = "pytest" in sys.modules


def _runtime() -> dict[str, str]:
    try:
        return dict(json.loads(RUNTIME_FILE.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _setting(name: str, default: str = "") -> str:
    return os.environ.get(f"BENCHWEB_{name}") or _runtime().get(name.lower(), default)


def _secret_key() -> str:
    if value := os.environ.get("BENCHWEB_SECRET_KEY"):
        return value
    try:
        return (BENCHWEB_HOME / "secret-key").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:
        # Told by benchweb.ops.settings_checks.
        return None


# Connections of one process to the database at most.
DATABASE_POOL = int(os.environ.get("BENCHWEB_DATABASE_POOL") or "16")


# For so long a statement of a page or of the API may run; 0 for any time. Set by benchweb.asgi:
# workers and migrations have no such limit.
STATEMENT_SECONDS = float(os.environ.get("BENCHWEB_STATEMENT_SECONDS") or "15")


def _database(url: str) -> dict[str, Any]:
    """Turn postgresql://user:password@host:port/name?host=/socket/folder into Django's mapping."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    # psycopg's pool: a thread gives its connection back by close(), so nobody holds one while waiting.
    pool = {"min_size": 0, "max_size": DATABASE_POOL, "timeout": 10, "reset": forget_actor}
    # Web servers and workers say more: by this name an operator knows who holds a lock.
    options = {"connect_timeout": 5, "options": "", "application_name": "benchweb"}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path.lstrip("/") or "benchweb",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.get("host") or parts.hostname or "",
        "PORT": str(parts.port or query.get("port") or ""),
        "CONN_MAX_AGE": 0,
        # A connection of the pool that a restarted database cut is replaced before a request has it.
        "CONN_HEALTH_CHECKS": True,
        # A cursor of the server's would stay with a connection that was given back to the pool while a file is sent.
        "DISABLE_SERVER_SIDE_CURSORS": True,
        "OPTIONS": options if TESTING else options | {"pool": pool},
    }


DATABASE_URL = _setting("DATABASE_URL", "postgresql:///benchweb")
REDIS_URL = _setting("REDIS_URL", "redis://127.0.0.1:6379/0")
SECRET_KEY = _secret_key()
# Former keys: what they signed or encrypted stays good until they are left out, see `manage.py rotate_secrets`.
SECRET_KEY_FALLBACKS = _words(os.environ.get("BENCHWEB_SECRET_KEY_FALLBACKS", ""))
# Runs that one worker process executes at a time: they wait on the network.
WORKER_RUNS = int(os.environ.get("BENCHWEB_WORKER_RUNS", "300"))
# Requests that one web server answers or lets wait at a time; who comes then is told to come again.
REQUESTS_AT_ONCE = int(os.environ.get("BENCHWEB_REQUESTS_AT_ONCE") or "256")
# Live streams that one user may have open in one web process.
LIVE_STREAMS_PER_USER = int(os.environ.get("BENCHWEB_LIVE_STREAMS_PER_USER") or "20")
DEMO = os.environ.get("BENCHWEB_DEMO") == "1"


def _networks(name: str) -> str:
    """Return what a variable lists; "none" lists nothing, and lets admins list nothing either."""
    return " ".join(word for word in os.environ.get(name, "").split() if word != "none")


# Networks that engines may be in, read by benchweb.hosts.addresses.
ENGINE_NETWORKS = _networks("BENCHWEB_ENGINE_NETWORKS")
# Private networks that notifications may go to, read by benchweb.notifications.egress.
NOTIFY_PRIVATE_NETWORKS = _networks("BENCHWEB_NOTIFY_PRIVATE_NETWORKS")
# The role of a user who was given none: viewer, operator, editor or admin.
DEFAULT_ROLE = os.environ.get("BENCHWEB_DEFAULT_ROLE") or "viewer"
# Who has to have a second factor: nobody, admins or all.
SECOND_FACTOR = os.environ.get("BENCHWEB_SECOND_FACTOR") or "nobody"
# The zone of times until a browser has told its own, and of new schedules and digests.
DEFAULT_TIME_ZONE = os.environ.get("BENCHWEB_DEFAULT_TIME_ZONE") or "UTC"
# The language of messages, which no browser chooses.
DEFAULT_LANGUAGE = os.environ.get("BENCHWEB_DEFAULT_LANGUAGE") or "en"
# At what address people open these pages: links in notifications begin with it.
PUBLIC_URL = os.environ.get("BENCHWEB_PUBLIC_URL", "")
# The path that these pages have of their host, as /bench; empty where they have it to themselves.
BASE_PATH = os.environ.get("BENCHWEB_BASE_PATH", "").rstrip("/")
FORCE_SCRIPT_NAME = BASE_PATH or None
# So many days after its end a message is removed from the log of its channel, with its attempts; 0 keeps all.
DELIVERY_DAYS = int(os.environ.get("BENCHWEB_DELIVERY_DAYS") or "180")
# So many days after it is made a share link expires, unless its maker says otherwise; 0 is never.
SHARE_DAYS = int(os.environ.get("BENCHWEB_SHARE_DAYS") or "30")
# Which share links there may be, each "allowed" or "forbidden": any at all, live ones, ones without an end.
SHARE_LINKS = os.environ.get("BENCHWEB_SHARE_LINKS") or "allowed"
SHARE_LIVE = os.environ.get("BENCHWEB_SHARE_LIVE") or "allowed"
SHARE_ENDLESS = os.environ.get("BENCHWEB_SHARE_ENDLESS") or "allowed"
# So many days the audit log keeps its entries, at least 30; 0 keeps all.
AUDIT_DAYS = int(os.environ.get("BENCHWEB_AUDIT_DAYS") or "730")
# So many days after a run's end its trials keep their intervals; 0 keeps all, until an admin decides otherwise.
INTERVAL_DAYS = int(os.environ.get("BENCHWEB_INTERVAL_DAYS") or "0")
# So many days after a run's end its engines' documents are removed; its figures and histograms stay. 0 keeps all.
DETAIL_DAYS = int(os.environ.get("BENCHWEB_DETAIL_DAYS") or "0")
# A folder for a backup of each night, none without; how many are kept; and the hour of UTC in which it is made.
BACKUP_DIR = os.environ.get("BENCHWEB_BACKUP_DIR", "")
BACKUP_KEEP = int(os.environ.get("BENCHWEB_BACKUP_KEEP") or "7")
BACKUP_HOUR = int(os.environ.get("BENCHWEB_BACKUP_HOUR") or "6")
# Whether one is restored beside the database each week, 1 or 0; by itself only on the embedded server.
BACKUP_TEST = os.environ.get("BENCHWEB_BACKUP_TEST", "")
DEBUG = os.environ.get("BENCHWEB_DEBUG") == "1"
# Extra catalog sections merged over engine/schema/catalog.json: for private kinds, and for the tests.
CATALOG_OVERLAY = os.environ.get("BENCHWEB_CATALOG_OVERLAY", "")

# The mail server, smtp://user:password@host:port; smtps:// with TLS from the beginning, smtp+starttls:// by STARTTLS.
SMTP_URL = os.environ.get("BENCHWEB_SMTP_URL", "")
_smtp = urlsplit(SMTP_URL)
SMTP_PORTS = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}
EMAIL_HOST = _smtp.hostname or ""
SMTP_SCHEME = _smtp.scheme or "smtp"
# 0 is the usual one of the scheme.
EMAIL_PORT = _port(_smtp) or 0
EMAIL_HOST_USER = unquote(_smtp.username or "")
EMAIL_HOST_PASSWORD = unquote(_smtp.password or "")
# Of each step of a conversation with it.
EMAIL_TIMEOUT = 8
EMAIL_BACKEND = "benchweb.site.mail.SiteEmailBackend"
DEFAULT_FROM_EMAIL = os.environ.get("BENCHWEB_MAIL_FROM") or "benchweb@localhost"

ALLOWED_HOSTS = _words(os.environ.get("BENCHWEB_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]"))
CSRF_TRUSTED_ORIGINS = _words(os.environ.get("BENCHWEB_TRUSTED_ORIGINS", ""))
BEHIND_TLS = os.environ.get("BENCHWEB_BEHIND_TLS") == "1"
# Proxies whose X-Forwarded-For is believed, as addresses or networks. One that ends TLS is on this machine, which a
# container sees as its network's gateway; other containers are no proxies.
_usual_proxies = ["127.0.0.0/8", "::1", *_words(os.environ.get("BENCHWEB_OUTSIDE_GATEWAY", ""))] if BEHIND_TLS else []
TRUSTED_PROXIES = _words(os.environ.get("BENCHWEB_TRUSTED_PROXIES", "")) or _usual_proxies
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS else None
# A plan of 100 steps has 20 fields a step, empty ones included.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 4_000
SESSION_COOKIE_SECURE = BEHIND_TLS
CSRF_COOKIE_SECURE = BEHIND_TLS
# By these names a browser takes them by TLS only, and from this very host where the site has it to itself: then no
# neighbour below the same domain plants one.
_COOKIES = ("__Secure-" if BASE_PATH else "__Host-") if BEHIND_TLS else ""
SESSION_COOKIE_NAME = f"{_COOKIES}session" if BEHIND_TLS else "sessionid"
CSRF_COOKIE_NAME = f"{_COOKIES}csrf" if BEHIND_TLS else "csrftoken"
# Two sites on one host, each below a path of its own, don't take each other's.
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = f"{BASE_PATH}/"
# Django sets the cookie of messages for the whole host.
if BASE_PATH:
    MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
X_FRAME_OPTIONS = "DENY"
# A browser that came once by TLS comes by TLS only, for a year; 0 tells nothing.
SECURE_HSTS_SECONDS = int(os.environ.get("BENCHWEB_HSTS_SECONDS") or "31536000") if BEHIND_TLS else 0
# Our own files and nothing inline; the style sheet's small pictures are data. Share pages have a stricter one.
SECURE_CSP = {
    "default-src": ["'self'"],
    "img-src": ["'self'", "data:"],
    "object-src": ["'none'"],
    "base-uri": ["'none'"],
    "form-action": ["'self'"],
    "frame-ancestors": ["'none'"],
}
FEATURES_NOT_USED = [
    *("accelerometer", "autoplay", "bluetooth", "browsing-topics", "camera", "display-capture", "geolocation"),
    *("gyroscope", "hid", "magnetometer", "microphone", "midi", "payment", "serial", "usb", "xr-spatial-tracking"),
]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "django_htmx",
    # Second factors, passkeys and OpenID Connect: docs/decisions/0031-log-in.md.
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "ninja",
    "benchweb.site",
    "benchweb.accounts",
    "benchweb.idempotency",
    "benchweb.hosts",
    "benchweb.plans",
    "benchweb.runs",
    "benchweb.results",
    "benchweb.schedules",
    "benchweb.annotations",
    "benchweb.dashboards",
    "benchweb.regressions",
    "benchweb.notifications",
    "benchweb.imports",
    "benchweb.sharing",
    "benchweb.reports",
    "benchweb.ops",
    "benchweb.web",
]

MIDDLEWARE = [
    # Outermost: what any other logs has the request's id.
    "benchweb.web.middleware.request_ids.RequestIdMiddleware",
    "benchweb.web.middleware.slow_pages.SlowPageMiddleware",
    "benchweb.web.middleware.streams.StreamMiddleware",
    # Before all others, so that no answer goes out without: refusals and faults too.
    "benchweb.web.middleware.security_headers.SecurityHeadersMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "benchweb.web.middleware.compression.CompressionMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "benchweb.web.middleware.language.LanguageMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "benchweb.web.middleware.proxy_login.ProxyLoginMiddleware",
    "benchweb.web.middleware.actors.ActorMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "benchweb.web.access.middleware.PermissionMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "benchweb.web.middleware.button_addresses.ButtonAddressMiddleware",
    "benchweb.web.middleware.storable_text.StorableTextMiddleware",
    "benchweb.web.middleware.csv_files.SpreadsheetMiddleware",
    "benchweb.web.middleware.downloads.DownloadMiddleware",
    "benchweb.web.middleware.time_limit.TimeLimitMiddleware",
]

ROOT_URLCONF = "benchweb.urls"
ASGI_APPLICATION = "benchweb.asgi.application"
# Each feature has its own: web/hosts/templates/hosts/host.html is "hosts/host.html".
TEMPLATE_FOLDERS = sorted((BASE_DIR / "benchweb" / "web").glob("*/templates"))
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": TEMPLATE_FOLDERS,
        "APP_DIRS": True,
        "OPTIONS": {
            "libraries": {
                **{name: f"benchweb.web.{name}.tags" for name in ("compare", "facts", "matrix", "series")},
                **{
                    name: f"benchweb.web.tags.{name}"
                    for name in ("addresses", "carry", "next_step", "prose", "show", "sparklines", "terms", "times")
                },
                "access": "benchweb.web.access.tags",
                "availability": "benchweb.web.hosts.tags",
                "lanes": "benchweb.web.timeline.tags",
            },
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "benchweb.web.access.context.can",
                "benchweb.web.shared.context.shell",
                "benchweb.web.shared.navigation.navigation",
            ],
        },
    }
]

DATABASES = {"default": _database(DATABASE_URL)}
# Counters of failed log-ins: shared by all web servers, and each one's own while the broker is away.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "benchweb",
        "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1},
    },
    "local": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "KEY_PREFIX": "benchweb",
        "OPTIONS": {"MAX_ENTRIES": 20_000},
    },
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# For so long a mailed link sets a new password.
PASSWORD_RESET_TIMEOUT = 3_600
PASSWORD_HASHERS = ["benchweb.accounts.hashing.PooledPasswordHasher"]
# Makes what a link to a view shows: a path and a time zone in, a FrozenView for each language out.
SHARED_VIEW_BUILDER = "benchweb.web.view_shares.building.built"
AUTHENTICATION_BACKENDS = [
    "benchweb.accounts.backend.PasswordBackend",
    "benchweb.ops.login.DemoBackend",
    "benchweb.accounts.login.proxy.ProxyBackend",
    # Asked last: who has a password of benchweb's own gets in while the directory is away.
    *LDAP_BACKENDS,
]
# Not cached_db: who is logged in stays so while the broker is away.
SESSION_ENGINE = "benchweb.accounts.sessions"
LOGIN_URL = "web:login"
LOGIN_REDIRECT_URL = "web:overview"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
# Made of benchweb/locale by benchweb.ops.translations.
LOCALE_PATHS = [BENCHWEB_HOME / "locale"]
LANGUAGE_COOKIE_NAME = "language"
LANGUAGE_COOKIE_PATH = f"{BASE_PATH}/"
LANGUAGE_COOKIE_AGE = 31_536_000
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_SECURE = BEHIND_TLS
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = f"{BASE_PATH}/static/"
STATIC_ROOT = BENCHWEB_HOME / "static"
STATICFILES_DIRS = [BASE_DIR / "frontend" / "dist"]
WHITENOISE_USE_FINDERS = DEBUG or TESTING
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if TESTING or DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

LOG_FORMAT = os.environ.get("BENCHWEB_LOG_FORMAT") or "line"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "json": {"()": "benchweb.common.log_lines.JsonLines"},
    },
    # 503 is how /healthz says "not yet": an answer, no fault. Who is refused by 429 is logged once, by the throttle.
    "filters": {
        "no_refusals": {
            "()": "django.utils.log.CallbackFilter",
            "callback": lambda record: getattr(record, "status_code", 0) not in (429, 503),
        },
        "without_links": {"()": "benchweb.accounts.audit.link_log.WithoutLinks"},
        "without_stacks": {"()": "benchweb.common.short_logs.WithoutStacks"},
        "without_leavers": {"()": "benchweb.common.short_logs.WithoutLeavers"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "json" if LOG_FORMAT == "json" else "line",
            "filters": ["no_refusals", "without_leavers", "without_links", "without_stacks"],
        },
    },
    "loggers": {
        # Paths of receivers may be secrets, and at this level it would tell each.
        "urllib3": {"level": "INFO"},
        # The web server's own lines, too.
        **({"uvicorn": {"handlers": [], "propagate": True}} if LOG_FORMAT == "json" else {}),
    },
    "root": {"handlers": ["console"], "level": os.environ.get("BENCHWEB_LOG_LEVEL", "INFO")},
}
