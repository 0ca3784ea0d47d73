"""A site below a path of its host, as https://tools.example.org/bench/: its addresses as Django reads them."""

from benchweb.serving.bounds import Application, Receive, Scope, Send


class Mounted:
    """Serve an application below a path, whether the proxy in front takes the path away or leaves it there.

    The application gets it always, as ASGI's root_path wants it; probes from beside may ask for /livez alone.
    """

    def __init__(self, application: Application, base_path: str) -> None:
        """`base_path` begins with a slash and ends without one; empty where the site has the host to itself."""
        self._application = application
        self._base_path = base_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        base = self._base_path
        if not base or "path" not in scope:
            await self._application(scope, receive, send)
        elif scope["path"] == base:
            # Its cookies are below the slash.
            query = scope.get("query_string", b"")
            await _redirect(send, f"{base}/".encode() + (b"?" + query if query else b""))
        else:
            path = scope["path"]
            whole = path if path.startswith(f"{base}/") else base + path
            await self._application(scope | {"path": whole, "root_path": base}, receive, send)


async def _redirect(send: Send, location: bytes) -> None:
    headers = [(b"location", location), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 308, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
