"""A simulated session: its states and its numbered events."""

import asyncio
import json
import time
from datetime import UTC, datetime
from typing import Any

from bench.fleet.results import stamp

FINAL_STATES = ("finished", "failed", "cancelled")


class Session:
    """One end of a trial on one engine."""

    def __init__(self, name: str, spec: dict[str, Any]) -> None:
        self.name = name
        self.spec = spec
        self.state = "prepared"
        self.code: str | None = None
        self.reason: str | None = None
        self.started_at: datetime | None = None
        self.started = 0.0
        self.heard_at = time.monotonic()
        self.events: list[bytes] = []
        self.traffic: asyncio.Task[None] | None = None
        self._news = asyncio.Event()

    @property
    def role(self) -> str:
        return str(self.spec["role"])

    @property
    def is_final(self) -> bool:
        return self.state in FINAL_STATES

    @property
    def elapsed_seconds(self) -> float:
        return time.monotonic() - self.started if self.started_at else 0.0

    def start(self) -> None:
        """Measured traffic begins."""
        self.state, self.started_at, self.started = "running", datetime.now(UTC), time.monotonic()
        self._tell({"type": "state", "state": "running", "started_at": stamp(self.started_at)})

    def interval(self, interval: dict[str, Any]) -> None:
        """Tell one interval."""
        self._tell({"type": "interval", "interval": interval})

    def finish(self, result: dict[str, Any]) -> None:
        """End with a whole result."""
        if not self.is_final:
            self.state = "finished"
            self._tell({"type": "result", "state": "finished", "result": result})

    def fail(self, state: str, code: str, reason: str, partial: dict[str, Any] | None) -> None:
        """End without one."""
        if not self.is_final:
            self.state, self.code, self.reason = state, code, reason
            self._tell({"type": "failure", "state": state, "code": code, "reason": reason, "partial": partial})

    def answer(self, data_port: int) -> dict[str, Any]:
        """Return what the calls that name the session answer."""
        return {
            "id": self.name,
            "role": self.role,
            "state": self.state,
            "code": self.code,
            "reason": self.reason,
            "last_event_id": len(self.events),
            "data_port": data_port,
        }

    async def news_after(self, count: int, patience_seconds: float) -> list[bytes]:
        """Return the events after the first `count`; nothing when none came in time."""
        if len(self.events) <= count and not self.is_final:
            try:
                await asyncio.wait_for(self._news.wait(), patience_seconds)
            except TimeoutError:
                return []
        return self.events[count:]

    def _tell(self, event: dict[str, Any]) -> None:
        whole = {"id": len(self.events) + 1, "at": stamp(datetime.now(UTC)), **event}
        self.events.append(json.dumps(whole).encode() + b"\n")
        self._news.set()
        self._news = asyncio.Event()
