"""The ASGI application that uvicorn serves: Django's own, within bounds."""

import gc
import os
import threading

from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS
from django.template.loader import get_template
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchweb.settings")
# A start makes objects that stay: to search each of its many new ones for garbage takes a fifth of it.
gc.disable()
_django = get_asgi_application()

# What reads the settings when it is imported comes after them.
from benchweb.accounts.login import first_admin  # noqa: E402
from benchweb.common.followed import follow_all  # noqa: E402
from benchweb.ops.settings_checks import settings_are_usable  # noqa: E402
from benchweb.serving.base_path import Mounted  # noqa: E402
from benchweb.serving.bounds import Bounded  # noqa: E402
from benchweb.serving.connections import allow_connections  # noqa: E402

if faults := [str(message) for message in settings_are_usable() if message.is_serious()]:
    raise ImproperlyConfigured("\n".join(faults))
# Before the first connection is made; workers and migrations have no such limit.
_database = settings.DATABASES[DEFAULT_DB_ALIAS]["OPTIONS"]
_database["options"] += f" -c statement_timeout={round(settings.STATEMENT_SECONDS * 1000)}"
_database["application_name"] = "benchweb web"


def _load_all() -> None:
    """Import every view and compile every page's template, for which else the first readers would wait."""
    _ = get_resolver().url_patterns
    for folder in settings.TEMPLATE_FOLDERS:
        for file in sorted(folder.rglob("*.html")):
            get_template(file.relative_to(folder).as_posix())


_bounded = Bounded(_django, requests_at_once=settings.REQUESTS_AT_ONCE, views_at_once=settings.DATABASE_POOL)
application = Mounted(_bounded, settings.BASE_PATH)
_load_all()
allow_connections()
follow_all()
if not settings.DEMO:
    # In a thread: the server's own runs an event loop already, where the database can't be asked.
    threading.Thread(target=first_admin.announce, name="first-admin", daemon=True).start()

# What was loaded stays: nothing of it need be searched for garbage while a page is made.
gc.collect()
gc.freeze()
gc.enable()
