"""What is left when the strangers are gone: descriptors, connections, memory, rows, bytes of logs, room for bodies."""

import asyncio
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.strangers.installation import PASSWORD, READER, SECOND, Installation
from bench.strangers.wire import Answer, Browser, Door

# The web process keeps so many connections to database and broker once it had use for them.
KEPT_DESCRIPTORS = 32
GROWN_BYTES, LOG_BYTES_A_MINUTE = 64 * 1024 * 1024, 64 * 1024
# Two of these are more than what is left of all room for bodies, or of one's, if some of it leaked.
LARGE_BYTES = 23 * 1024 * 1024
_TABLES = {
    "sessions": "select count(*) from accounts_usersession where user_id is null",
    "audit log": "select count(*) from accounts_auditentry where user_id is null",
    "idempotency": "select count(*) from idempotency_keptanswer",
}
_LONGEST_SESSION = """
select coalesce(extract(epoch from max(expire_date) - now()), 0) from accounts_usersession where user_id is null
"""
_LISTENING, _TIME_WAIT = "0A", "06"


@dataclass(frozen=True)
class Reading:
    """One look at the web process, the database and the logs."""

    pid: int
    descriptors: int
    connections: int
    memory_bytes: int
    log_bytes: int
    rows: dict[str, int]

    def __str__(self) -> str:
        rows = ", ".join(f"{count:,} of {name}" for name, count in self.rows.items())
        return (
            f"process {self.pid}, {self.descriptors} descriptors, {self.connections} connections, "
            f"{self.memory_bytes / 1e6:.0f} MB, logs {self.log_bytes:,} B; rows without a user: {rows}"
        )


def reading(site: Installation) -> Reading:
    """Look now."""
    pid = site.web_pid()
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return Reading(
        pid=pid,
        descriptors=len(list(Path(f"/proc/{pid}/fd").iterdir())),
        connections=_connections(site.port),
        memory_bytes=int(status["VmRSS"].split()[0]) * 1024,
        log_bytes=sum(path.stat().st_size for path in site.logs()),
        rows={name: int(site.rows(query)[0][0]) for name, query in _TABLES.items()},
    )


def faults(site: Installation, before: Reading, after: Reading, seconds: float) -> Iterator[str]:
    """Say what is left that shouldn't be."""
    limits = site.made.limits
    windows = seconds // limits.window_seconds + 2
    places = max(1, len(site.strangers()[1]))
    if after.pid != before.pid:
        yield f"the web process was started anew: {before.pid} is {after.pid}"
    if after.connections > before.connections:
        yield f"{after.connections} connections"
    if after.descriptors > before.descriptors + KEPT_DESCRIPTORS:
        yield f"{after.descriptors - before.descriptors} more descriptors"
    if after.memory_bytes > before.memory_bytes + GROWN_BYTES:
        yield f"{(after.memory_bytes - before.memory_bytes) / 1e6:.0f} MB more memory"
    if after.log_bytes > before.log_bytes + LOG_BYTES_A_MINUTE * seconds / 60:
        yield f"{after.log_bytes - before.log_bytes:,} B of logs"
    grown = {name: after.rows[name] - before.rows[name] for name in _TABLES}
    # What is begun is kept for longer than a window.
    if grown["sessions"] > limits.begun_logins * places * windows:
        yield f"{grown['sessions']} sessions of nobody"
    # Log-ins that failed: of passwords and of passkeys, each counted by itself.
    if grown["audit log"] > 2 * limits.entries_of_one * places * windows:
        yield f"{grown['audit log']} entries in the audit log"
    if grown["idempotency"]:
        yield f"{grown['idempotency']} kept answers"
    if (longest := float(site.rows(_LONGEST_SESSION)[0][0])) > limits.stranger_seconds:
        yield f"a session of nobody that lasts {longest:.0f} s"


async def refused_afterwards(site: Installation) -> list[str]:
    """Use all room that there is at once: what was counted and never given back shows as a refusal."""
    readers = [Browser(site.own_door()) for _ in range(2)]
    for browser, name in zip(readers, (READER, SECOND), strict=True):
        if not await browser.log_in(name, PASSWORD):
            return [f"{name} can't log in"]
    boundary = "of-the-bench"
    lines = [f"--{boundary}", 'Content-Disposition: form-data; name="uploads"; filename="x.txt"', "", "a" * 99]
    body = "\r\n".join([*lines, f"--{boundary}--", ""]).encode()
    large = body.replace(b"a" * 99, (b"a" * 99 + b"\n") * (LARGE_BYTES // 100))
    kind = f"multipart/form-data; boundary={boundary}"
    previews = (browser.post_body("/imports/preview", large, kind) for browser in readers)
    imports = await asyncio.gather(*map(_status, previews))
    refused = [f"an import of {LARGE_BYTES:,} B: {answer}" for answer in imports if answer != "200"]
    source, addresses = site.strangers()
    door = Door(site.port, site.scheme, source, addresses[0] if addresses else None)
    bodies = await asyncio.gather(*(_status(_halved(door)) for _ in range(site.made.limits.bodies_of_address)))
    # Answered by the view: it looks for the token against forgery first.
    return refused + [f"a body of a stranger: {answer}" for answer in bodies if answer != "403"]


async def _halved(door: Door) -> Answer:
    """Send a small body in two parts, the second when all others have sent their first."""
    reader, writer = await door.connect()
    try:
        writer.write(door.head("POST", "/login", {"Content-Length": "10", "Connection": "close"}) + b"a" * 5)
        await asyncio.sleep(3)
        writer.write(b"a" * 5)
        async with asyncio.timeout(60):
            words = (await reader.read()).split(b" ", 2)
        return Answer(int(words[1]) if len(words) > 1 else 0, {}, b"")
    finally:
        writer.transport.abort()


async def _status(asked: Awaitable[Answer]) -> str:
    try:
        return str((await asked).status)
    except OSError as error:
        return repr(error)


def _connections(port: int) -> int:
    """Count the server's ends of connections to its port."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(f":{port:04X}") and row[3] not in (_LISTENING, _TIME_WAIT) for row in rows)
