"""Those who are at work: a reader's pages, a token's calls and the probes, each at its rate, come what may."""

import asyncio
import itertools
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from bench.strangers.installation import PASSWORD, READER, Installation
from bench.strangers.wire import Answer, Browser

PAGES_A_SECOND, CALLS_A_SECOND, PROBES_A_SECOND = 2.0, 1.0, 1.0
PAGES, CALLS, PROBES, LOG_INS = "pages", "calls", "probes", "log-in"


@dataclass
class Noted:
    """Seconds by kind, and what failed."""

    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failures: list[str] = field(default_factory=list)

    def quantile(self, share: float, *kinds: str) -> float:
        """Return a quantile of some kinds together."""
        values = sorted(value for kind in kinds for value in self.seconds[kind])
        return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


class Readers:
    """Logged in once; then at work for as many rounds as there are."""

    def __init__(self, site: Installation) -> None:
        self._site = site
        self._browser = Browser(site.own_door())

    async def log_in(self) -> None:
        """Log in as the reader."""
        if not await self._browser.log_in(READER, PASSWORD):
            raise RuntimeError("the reader can't log in")

    async def round(self, seconds: float) -> Noted:
        """Work for some seconds; all that was begun is waited for."""
        noted = Noted()
        pages = itertools.cycle(["/", "/runs", "/history?kind=tcp_stream", "/hosts", f"/runs/{self._site.made.run}"])
        calls = itertools.cycle(["/api/v1/runs", f"/api/v1/runs/{self._site.made.run}", "/api/v1/hosts"])
        probes = itertools.cycle(["/livez", "/readyz"])
        token = {"Authorization": f"Bearer {self._site.made.token}"}
        door = self._site.own_door()
        begun = time.monotonic()
        await asyncio.gather(
            self._paced(noted, PAGES, PAGES_A_SECOND, begun + seconds, lambda: self._browser.get(next(pages))),
            self._paced(noted, CALLS, CALLS_A_SECOND, begun + seconds, lambda: door.ask("GET", next(calls), token)),
            self._paced(noted, PROBES, PROBES_A_SECOND, begun + seconds, lambda: door.ask("GET", next(probes))),
            self._log_in_once(noted),
        )
        return noted

    async def _log_in_once(self, noted: Noted) -> None:
        begun = time.monotonic()
        try:
            if not await Browser(self._site.own_door()).log_in(READER, PASSWORD):
                noted.failures.append("log-in: refused")
        except OSError as error:
            noted.failures.append(f"log-in: {error!r}")
        noted.seconds[LOG_INS].append(time.monotonic() - begun)

    async def _paced(
        self, noted: Noted, kind: str, rate: float, until: float, ask: Callable[[], Awaitable[Answer]]
    ) -> None:
        asked = []
        due = time.monotonic()
        while due < until:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            asked.append(asyncio.create_task(_asked(noted, kind, due, ask)))
            due += 1 / rate
        await asyncio.gather(*asked)


async def _asked(noted: Noted, kind: str, due: float, ask: Callable[[], Awaitable[Answer]]) -> None:
    """Time one request from when it was due: who has to wait for the last one waits too."""
    try:
        answer = await ask()
        if answer.status != 200:
            noted.failures.append(f"{kind}: {answer.status} {answer.content[-200:]!r}")
    except OSError as error:
        noted.failures.append(f"{kind}: {error!r}")
    noted.seconds[kind].append(time.monotonic() - due)
