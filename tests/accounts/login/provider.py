"""A real OpenID provider, django-oauth-toolkit with its log-in page, for one client: `python -m` with what it needs.

It is a site of its own, so it runs as a process of its own and knows nothing of benchweb.
"""

import json
import sys
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIServer, make_server

PASSWORD = "a password of the provider"  # pragma: allowlist secret
CLIENT, CLIENT_SECRET = "benchweb", "a secret of the client"  # pragma: allowlist secret
_LOGIN = """<!doctype html><title>Provider</title><form method=post>{% csrf_token %}
<label>Name <input name=username></label><label>Secret <input name=password type=password></label>
<input type=hidden name=next value="{{ next }}"><button>Sign in</button></form>"""


def main(port: int, folder: Path, callback: str, people: dict[str, dict[str, Any]]) -> None:
    """Serve until ended; people are claims by name."""
    _configure(port, folder, people)
    import django

    django.setup()
    _fill(callback, people)
    from django.core.wsgi import get_wsgi_application

    with make_server("127.0.0.1", port, get_wsgi_application(), server_class=WSGIServer) as server:
        print("provider is ready", flush=True)
        server.serve_forever()


def _configure(port: int, folder: Path, people: dict[str, dict[str, Any]]) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa
    from django.conf import settings

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    formats = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    settings.configure(
        SECRET_KEY="a key of the provider",  # pragma: allowlist secret
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF="tests.accounts.login.provider_urls",
        LOGIN_URL="/sign-in",
        PEOPLE=people,
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / "provider.sqlite"}},
        INSTALLED_APPS=[
            *(f"django.contrib.{name}" for name in ("auth", "contenttypes", "sessions")),
            "oauth2_provider",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "OPTIONS": {
                    "loaders": [("django.template.loaders.locmem.Loader", {"registration/login.html": _LOGIN})]
                },
            }
        ],
        # Another name than benchweb's, for both are on one host.
        SESSION_COOKIE_NAME="provider_session",
        CSRF_COOKIE_NAME="provider_csrf",
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        USE_TZ=True,
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_ISS_ENDPOINT": f"http://127.0.0.1:{port}",
            "OIDC_RSA_PRIVATE_KEY": key.private_bytes(serialization.Encoding.PEM, *formats).decode(),
            "PKCE_REQUIRED": True,
            "SCOPES": {name: name for name in ("openid", "profile", "email")},
            "OAUTH2_VALIDATOR_CLASS": "tests.accounts.login.provider_urls.Claims",
        },
    )


def _fill(callback: str, people: dict[str, dict[str, Any]]) -> None:
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from oauth2_provider.models import Application

    call_command("migrate", verbosity=0)
    for name in people:
        User.objects.create_user(name, password=PASSWORD)
    Application.objects.create(
        name="benchweb",
        client_id=CLIENT,
        client_secret=CLIENT_SECRET,
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        redirect_uris=callback,
        algorithm=Application.RS256_ALGORITHM,
        skip_authorization=True,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4]))
