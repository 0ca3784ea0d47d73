"""The ASGI application that uvicorn serves."""

import asyncio
import contextlib
import contextvars
import functools
import gc
import os
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import django
from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.conf import settings
from django.contrib.postgres.signals import register_type_handlers
from django.core.cache import close_caches
from django.core.exceptions import ImproperlyConfigured, RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.base import reset_urlconf
from django.core.signals import request_finished, request_started
from django.db import DEFAULT_DB_ALIAS, close_old_connections, reset_queries
from django.db.backends.signals import connection_created
from django.http import FileResponse, HttpRequest
from django.http.response import HttpResponseBase
from django.template.loader import get_template
from django.urls import ResolverMatch, get_resolver, set_script_prefix

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchweb.settings")
django.setup(set_prefix=False)

# What reads the settings when it is imported comes after them.
from benchweb.asgi_bounds import PROBES, Bounded  # noqa: E402
from benchweb.checks import settings_are_usable  # noqa: E402

if faults := [str(message) for message in settings_are_usable() if message.is_serious()]:
    raise ImproperlyConfigured("\n".join(faults))
# Before the first connection is made; workers and migrations have no such limit.
settings.DATABASES[DEFAULT_DB_ALIAS]["OPTIONS"]["options"] += (
    f" -c statement_timeout={round(settings.STATEMENT_SECONDS * 1000)}"
)
# Addresses whose view is remembered: longer ones would let strangers fill the memory.
_LONGEST_KEPT = 120
_TEMPLATES = Path(__file__).parent / "web" / "templates"
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class OneVisit(ASGIHandler):
    """Do a whole request in one visit to a thread: middleware, view, and giving the connection back.

    Django's own handler goes there and back for each step of each middleware, makes a thread and three tasks a request:
    a fifth of a small answer's time. No view waits in the event loop: what streams gives a response whose content is
    asynchronous, and is sent as Django's handler does.
    """

    def __init__(self) -> None:
        super().__init__()
        # As many as there may be connections to the database: who finds all busy waits here, in order.
        self._threads = ThreadPoolExecutor(settings.DATABASE_POOL, thread_name_prefix="request")
        # Whoever asks whether all is well is told at once, however much there is to do.
        self._probe_threads = ThreadPoolExecutor(2, thread_name_prefix="probe")

    def load_middleware(self, is_async: bool = False) -> None:
        """Load the chain as a server of synchronous applications would."""
        super().load_middleware(is_async=False)

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        """Find the view of an address: the same for everyone, so what was found before is known."""
        path = request.path_info
        request.resolver_match = _view_of(path) if len(path) <= _LONGEST_KEPT else get_resolver().resolve(path)
        return request.resolver_match

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Read the request, have it answered, send the answer."""
        if scope["type"] != "http":
            raise ValueError(f"benchweb answers HTTP, not {scope['type']}.")
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        # What a request sets (its language, its prefix of addresses) stays with this copy, not with the thread.
        context = contextvars.copy_context()
        answer = functools.partial(context.run, self._answer, scope, body)
        threads = self._probe_threads if scope["path"] in PROBES else self._threads
        response = await asyncio.get_running_loop().run_in_executor(threads, answer)
        if response.streaming:
            await asyncio.create_task(self._stream(response, receive, send), context=context)
        else:
            await self.send_response(response, send)

    def _answer(self, scope: Message, body: IO[bytes]) -> Any:
        """Make the response; one that doesn't stream is closed, its content being there."""
        set_script_prefix(get_script_prefix(scope))
        request_started.send(sender=self.__class__, scope=scope)
        request, refusal = self.create_request(scope, body)
        response: Any = refusal if request is None else self.get_response(request)
        if isinstance(response, FileResponse):
            response.block_size = self.chunk_size
        response._handler_class = self.__class__
        if response.streaming:
            # What follows is read in another thread; this one keeps no connection meanwhile.
            close_old_connections()
        else:
            response.close()
            body.close()
        return response

    async def _stream(self, response: HttpResponseBase, receive: Receive, send: Send) -> None:
        """Send until the content ends or the client leaves; what is read in a thread is read in one of its own."""
        async with ThreadSensitiveContext():
            sending = asyncio.ensure_future(self.send_response(response, send))
            leaving = asyncio.ensure_future(receive())
            try:
                await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
            finally:
                leaving.cancel()
                sending.cancel()
                try:
                    with contextlib.suppress(asyncio.CancelledError):
                        await sending
                finally:
                    await sync_to_async(response.close)()


@functools.lru_cache(maxsize=2_048)
def _view_of(path: str) -> ResolverMatch:
    return get_resolver().resolve(path)


def _load_all() -> None:
    """Import every view and compile every page's template, for which else the first readers would wait."""
    _ = get_resolver().url_patterns
    for file in sorted(_TEMPLATES.rglob("*.html")):
        get_template(file.relative_to(_TEMPLATES).as_posix())


# What Django does around every request that nothing here needs: no view sets URLs of its own or uses a cache, a thread
# keeps no connection from one request to the next, none of the pool's is asked again for types that no table has
# (hstore, citext), and statements are only remembered for a developer.
request_started.disconnect(close_old_connections)
request_finished.disconnect(close_caches)
request_finished.disconnect(reset_urlconf)
connection_created.disconnect(register_type_handlers)
if not settings.DEBUG:
    request_started.disconnect(reset_queries)

application = Bounded(OneVisit(), requests_at_once=settings.REQUESTS_AT_ONCE)
_load_all()

# What was loaded stays: nothing of it need be searched for garbage while a page is made.
gc.collect()
gc.freeze()
# A page leaves some thousands of objects in cycles. They are freed a few at a time: fifty thousand at once made every
# twentieth page half again as long.
gc.set_threshold(1_000, 20, 100)
