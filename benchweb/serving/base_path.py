"""A site below a path of its host, as https://tools.example.org/bench/: its addresses as Django reads them."""

from collections.abc import Awaitable, Callable
from typing import Any

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]


class Mounted:
    """Serve an application below a path, whether the proxy in front takes the path away or leaves it there.

    The application gets it always, as ASGI's root_path wants it; probes from beside may ask for /livez alone.
    """

    def __init__(self, application: Application, base_path: str) -> None:
        """`base_path` begins with a slash and ends without one; empty where the site has the host to itself."""
        self._application = application
        self._base_path = base_path

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if self._base_path and "path" in scope:
            scope = scope | {"path": self._whole(scope["path"]), "root_path": self._base_path}
        await self._application(scope, receive, send)

    def _whole(self, path: str) -> str:
        if path == self._base_path:
            return f"{path}/"
        return path if path.startswith(f"{self._base_path}/") else self._base_path + path
