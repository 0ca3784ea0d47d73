"""The ASGI application that uvicorn serves."""

import gc
import os
from pathlib import Path
from typing import Any

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.template.loader import get_template
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchweb.settings")
django.setup(set_prefix=False)
_TEMPLATES = Path(__file__).parent / "web" / "templates"


class OneHop(ASGIHandler):
    """Run all middleware and the view in one visit to the request's thread.

    Django's own handler goes there and back for each step of each middleware. No view waits in the event loop: what
    streams gives a response whose content is asynchronous.
    """

    def load_middleware(self, is_async: bool = False) -> None:
        """Load the chain as a server of synchronous applications would, and reach it from the event loop."""
        super().load_middleware(is_async=False)
        chain: Any = self._middleware_chain  # type: ignore[has-type]
        self._middleware_chain = sync_to_async(chain, thread_sensitive=True)


def _load_all() -> None:
    """Import every view and compile every page's template, for which else the first readers would wait."""
    _ = get_resolver().url_patterns
    for file in sorted(_TEMPLATES.rglob("*.html")):
        get_template(file.relative_to(_TEMPLATES).as_posix())


application = OneHop()
_load_all()

# What was loaded stays: nothing of it need be searched for garbage while a page is made.
gc.collect()
gc.freeze()
# A page leaves some thousands of objects in cycles. They are freed a few at a time: fifty thousand at once made every
# twentieth page half again as long.
gc.set_threshold(1_000, 20, 100)
