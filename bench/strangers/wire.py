"""HTTP as the bench speaks it: a connection for each request, from an address of choice."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class Door:
    """Where an installation is asked, and from which address: one of this machine, or one that a proxy tells."""

    port: int
    scheme: str = "http"
    source: str | None = None
    forwarded_for: str | None = None

    def head(self, method: str, path: str, headers: Mapping[str, str]) -> bytes:
        """Return the head of a request."""
        all_headers = {"Host": f"127.0.0.1:{self.port}", **headers}
        if self.forwarded_for:
            all_headers |= {"X-Forwarded-For": self.forwarded_for, "X-Forwarded-Proto": self.scheme}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in all_headers.items())]
        return "".join(f"{line}\r\n" for line in [*lines, ""]).encode()

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection."""
        source = (self.source, 0) if self.source else None
        return await asyncio.open_connection("127.0.0.1", self.port, local_addr=source)

    async def ask(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> "Answer":
        """Send a request at once and read the whole answer; ConnectionError when there is none."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            reader, writer = await self.connect()
            try:
                length = {"Content-Length": str(len(body))} if method == "POST" else {}
                writer.write(self.head(method, path, {"Connection": "close", **length, **(headers or {})}) + body)
                return parsed(await reader.read())
            finally:
                writer.transport.abort()


@dataclass(frozen=True)
class Answer:
    """Status, cookies that were set, and all that came."""

    status: int
    cookies: Mapping[str, str]
    content: bytes


def parsed(answer: bytes) -> Answer:
    """Read an answer; ConnectionError where it is none."""
    head = answer.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    words = head[0].split()
    if len(words) < 2 or not words[1].isdigit():
        raise ConnectionError("closed without an answer")
    pairs = [
        line.partition(":")[2].strip().partition(";")[0] for line in head if line.lower().startswith("set-cookie:")
    ]
    return Answer(int(words[1]), dict(pair.split("=", 1) for pair in pairs), answer)


@dataclass
class Browser:
    """Keeps cookies, and sends forms as its pages do."""

    door: Door
    cookies: dict[str, str] = field(default_factory=dict)

    async def get(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        """Ask for a page."""
        return await self._ask("GET", path, headers or {}, b"")

    async def post(self, path: str, fields: Mapping[str, str]) -> Answer:
        """Send a form; the token against forgery is the cookie's own."""
        return await self.post_body(path, urlencode(fields).encode(), "application/x-www-form-urlencoded")

    async def post_body(self, path: str, body: bytes, content_type: str) -> Answer:
        """Send a body of another kind."""
        forgery = next((value for name, value in self.cookies.items() if "csrf" in name), "")
        headers = {"Content-Type": content_type, "X-CSRFToken": forgery}
        headers["Origin"] = f"{self.door.scheme}://127.0.0.1:{self.door.port}"
        return await self._ask("POST", path, headers, body)

    async def log_in(self, name: str, password: str) -> bool:
        """Log in by the page; tell whether it went well."""
        await self.get("/login")
        return (await self.post("/login", {"username": name, "password": password})).status == 302

    async def _ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        answer = await self.door.ask(method, path, {**headers, **({"Cookie": cookie} if cookie else {})}, body)
        self.cookies.update(answer.cookies)
        return answer
