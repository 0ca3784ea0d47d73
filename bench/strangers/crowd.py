"""The strangers, in a process of their own: `python -m bench.strangers.crowd`, JSON in, JSON out.

Reads a Crowd; gives how often each kind was answered how. All kinds come at once, each bounded in number and rate; with
the process all their connections end.
"""

import asyncio
import json
import os
import random
import resource
import secrets
import socket
import sys
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict, dataclass

from bench.strangers.wire import Answer, Browser, Door

# How many of a kind are there at once; who is shown out comes again.
COMING = {
    "silent sockets": 1_200,
    "slow heads": 200,
    "slow bodies": 50,
    "slow readers": 20,
    "large announced": 3,
    "large pushes": 8,
}
# Whole requests, with what is wrong, so many begun in a second.
ATTEMPTS = ("passkeys", "log-ins", "share passwords", "unknown links", "tickets", "install script")
KINDS = (*COMING, *ATTEMPTS)
ANNOUNCED_BYTES, PUSHED_BYTES, PART_BYTES = 24 * 1024 * 1024, 256 * 1024, 16 * 1024
BYTE_PAUSE_SECONDS, PART_PAUSE_SECONDS, PAUSE_SECONDS = 0.5, 0.1, 0.5
# Attempts a second of each kind, and how many of them may wait for their answer.
RATE, WAITING = 3.0, 20
_SLOW_READ_BYTES = 512
_BUFFER_BYTES = 4_096


@dataclass(frozen=True)
class Crowd:
    """Where they come from, and what they know."""

    port: int
    scheme: str
    # An address of this machine, or those that the proxy tells of.
    source: str | None
    addresses: list[str]
    # The path of a link with a password that they don't know.
    share: str
    seconds: float
    # The kinds that come; all when empty.
    only: list[str]

    def door(self) -> Door:
        """Return the way in for one of them."""
        return Door(self.port, self.scheme, self.source, random.choice(self.addresses) if self.addresses else None)

    def spoken(self) -> str:
        """Return this as the process reads it."""
        return json.dumps(asdict(self))


class Strangers:
    """All kinds, and what they were answered."""

    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd
        self._answers: defaultdict[str, Counter[str]] = defaultdict(Counter)

    async def run(self) -> dict[str, dict[str, int]]:
        """Let them all come for their time; return the counts."""
        only = self._crowd.only or KINDS
        coming = {
            "silent sockets": self._silent,
            "slow heads": self._slow_head,
            "slow bodies": self._slow_body,
            "slow readers": self._slow_reader,
            "large announced": self._announced,
            "large pushes": self._pushed,
        }
        attempts = {
            "passkeys": self._passkey,
            "log-ins": self._log_in,
            "share passwords": self._share_password,
            "unknown links": self._no_link,
            "tickets": self._ticket,
            "install script": self._script,
        }
        tasks = [
            asyncio.create_task(self._again(kind, come, number / COMING[kind]))
            for kind, come in coming.items()
            if kind in only
            for number in range(COMING[kind])
        ]
        tasks += [asyncio.create_task(self._paced(kind, attempt)) for kind, attempt in attempts.items() if kind in only]
        await asyncio.sleep(self._crowd.seconds)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return {kind: dict(counts) for kind, counts in self._answers.items()}

    async def _again(self, kind: str, come: Callable[[Door], Awaitable[str]], delay: float) -> None:
        """Come, and come again as soon as one is shown out."""
        await asyncio.sleep(delay)
        while True:
            try:
                answer = await come(self._crowd.door())
            except OSError as error:
                answer = type(error).__name__
                await asyncio.sleep(PAUSE_SECONDS)
            except asyncio.CancelledError:
                self._answers[kind]["open at a round's end"] += 1
                raise
            self._answers[kind][answer] += 1

    async def _paced(self, kind: str, attempt: Callable[[], Awaitable[Answer]]) -> None:
        waiting: set[asyncio.Task[None]] = set()
        try:
            while True:
                if len(waiting) < WAITING:
                    task = asyncio.create_task(self._attempted(kind, attempt))
                    waiting.add(task)
                    task.add_done_callback(waiting.discard)
                await asyncio.sleep(1 / RATE)
        finally:
            for task in waiting:
                task.cancel()

    async def _attempted(self, kind: str, attempt: Callable[[], Awaitable[Answer]]) -> None:
        try:
            self._answers[kind][str((await attempt()).status)] += 1
        except OSError as error:
            self._answers[kind][type(error).__name__] += 1

    async def _silent(self, door: Door) -> str:
        reader, writer = await door.connect()
        try:
            return "closed" if not await reader.read(1) else "answered"
        finally:
            writer.transport.abort()

    async def _slow_head(self, door: Door) -> str:
        head = door.head("GET", "/login", {"X-Slow": "a" * 1_000})
        return await _sent_slowly(
            door, b"", (head[index : index + 1] for index in range(len(head))), BYTE_PAUSE_SECONDS
        )

    async def _slow_body(self, door: Door) -> str:
        head = door.head("POST", "/login", {"Content-Length": "60000"})
        return await _sent_slowly(door, head, (b"a" for _ in range(60_000)), BYTE_PAUSE_SECONDS)

    async def _announced(self, door: Door) -> str:
        made_up = {"Cookie": f"sessionid={secrets.token_hex(16)}; __Host-session={secrets.token_hex(16)}"}
        head = door.head("POST", "/imports", {"Content-Length": str(ANNOUNCED_BYTES), **made_up})
        parts = (b"a" * PART_BYTES for _ in range(ANNOUNCED_BYTES // PART_BYTES))
        return await _sent_slowly(door, head, parts, PART_PAUSE_SECONDS)

    async def _pushed(self, door: Door) -> str:
        """Push without a length, every other one with a made-up token."""
        await asyncio.sleep(PAUSE_SECONDS)
        token = {"Authorization": f"Bearer {secrets.token_urlsafe(32)}"} if random.random() < 0.5 else {}
        chunked = {"Transfer-Encoding": "chunked", "Content-Type": "application/json"}
        head = door.head("POST", "/api/v1/results", {**chunked, **token})
        part = f"{PART_BYTES:x}\r\n".encode() + b"a" * PART_BYTES + b"\r\n"
        parts = [part] * (PUSHED_BYTES // PART_BYTES) + [b"0\r\n\r\n"]
        return await _sent_slowly(door, head, iter(parts), 0)

    async def _slow_reader(self, door: Door) -> str:
        """Take a script some bytes at a time, through a window that is as small as can be."""
        loop = asyncio.get_running_loop()
        with socket.socket() as client:
            client.setblocking(False)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
            client.bind((door.source or "127.0.0.1", 0))
            await loop.sock_connect(client, ("127.0.0.1", door.port))
            await loop.sock_sendall(client, door.head("GET", "/static/charts.js", {}))
            first = await loop.sock_recv(client, _SLOW_READ_BYTES)
            while await loop.sock_recv(client, _SLOW_READ_BYTES):
                await asyncio.sleep(BYTE_PAUSE_SECONDS)
            return first.split(b" ", 2)[1].decode() if first else "closed"

    async def _passkey(self) -> Answer:
        browser = Browser(self._crowd.door())
        await browser.get("/login")
        await browser.get("/login/passkey", {"X-Requested-With": "XMLHttpRequest"})
        return await browser.post("/login/passkey", {"credential": "{}"})

    async def _log_in(self) -> Answer:
        browser = Browser(self._crowd.door())
        await browser.get("/login")
        return await browser.post(
            "/login", {"username": f"user{random.randrange(500)}", "password": secrets.token_hex(4)}
        )

    async def _share_password(self) -> Answer:
        browser = Browser(self._crowd.door())
        await browser.get(self._crowd.share)
        return await browser.post(f"{self._crowd.share}/unlock", {"password": secrets.token_hex(4)})

    async def _no_link(self) -> Answer:
        return await Browser(self._crowd.door()).get(f"/s/{secrets.token_urlsafe(32)}")

    async def _ticket(self) -> Answer:
        path = random.choice(["/install/claim", "/install/ready"])
        fields = {
            "ticket": secrets.token_urlsafe(32),
            "machine": "m",
            "name": "n",
            "port": "7410",
            "address": "192.0.2.1",
        }
        return await Browser(self._crowd.door()).post(path, fields)

    async def _script(self) -> Answer:
        return await Browser(self._crowd.door()).get("/install/engine.sh")


async def _sent_slowly(door: Door, head: bytes, parts: Iterable[bytes], pause_seconds: float) -> str:
    """Send part after part until the server has ended the connection; return what it said."""
    reader, writer = await door.connect()
    answer = asyncio.create_task(reader.read())
    try:
        writer.write(head)
        for part in parts:
            if answer.done():
                break
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause_seconds)
        # Whatever keeps a connection open is told at last; this one says nothing more.
        words = (await answer).split(b" ", 2)
        return words[1].decode() if len(words) > 1 else "closed"
    finally:
        answer.cancel()
        writer.transport.abort()


def main() -> None:
    """Come, and tell how it was."""
    os.nice(10)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    crowd = Crowd(**json.load(sys.stdin))
    print(json.dumps(asyncio.run(Strangers(crowd).run())))


if __name__ == "__main__":
    main()
