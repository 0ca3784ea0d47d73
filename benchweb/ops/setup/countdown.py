"""Estimate how long cargo still compiles the engine; standard library only."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

# Cargo's count of what it compiles, then what is under way: "Building [===>   ] 45/120: tokio, ring(build)".
_PROGRESS = re.compile(r"\] (\d+)/(\d+)(?:: (.*))?$")
# CPU seconds of all that takes more than one, in the order in which cargo begins them; the engine's own come last.
COSTS = {
    "syn": 3.2,
    "cc": 1.5,
    "ring(build)": 9.0,
    "miniz_oxide": 1.3,
    "ring": 3.2,
    "serde_core": 2.5,
    "http": 1.7,
    "clap_derive": 1.7,
    "nom": 2.4,
    "deranged": 1.5,
    "clap_builder": 8.4,
    "tokio": 10.2,
    "serde_derive": 3.5,
    "linux-raw-sys": 1.6,
    "rustix": 7.3,
    "sha2": 1.3,
    "serde_json": 2.8,
    "rustls-webpki": 2.4,
    "regex-lite": 2.0,
    "hyper": 2.7,
    "proto": 6.4,
    "rustls": 11.0,
    "net": 1.3,
    "yasna": 1.2,
    "clap_mangen": 1.3,
    "rcgen": 1.7,
    "kinds": 42.0,
    "clap_complete": 2.0,
    "agent": 29.6,
}
# What any other takes.
OTHER_SECONDS = 0.3
# Each of these waits for the one before: no number of processors makes the build shorter.
CHAIN = ("syn", "serde_derive", "proto", "kinds")
# What ended so long ago, in CPU seconds of the measured build, counts half: the machine had other work then.
HALF_LIFE_SECONDS = 20.0
# The machine is taken for the measured one until it has shown as much.
PRIOR_SECONDS = 5.0
# When no more than this is to come after what takes longer than expected, nobody knows how long it goes on.
LAST_SECONDS = 3.0


@dataclass
class Countdown:
    """What cargo's progress told so far; it compiles as many crates at once as there are `processors`."""

    processors: int
    _begun_at: dict[str, float] = field(default_factory=dict)
    _active: Sequence[str] = ()
    _units_left: int = 0
    # Of what ended: how long it took here, and in the measured build.
    _taken_seconds: float = PRIOR_SECONDS
    _measured_seconds: float = PRIOR_SECONDS

    def note(self, line: str, seconds: float) -> None:
        """Take in a line of cargo's output, written `seconds` after the build's start."""
        found = _PROGRESS.search(line.rstrip())
        if not found:
            return
        active = [name for name in (found[3] or "").split(", ") if name]
        # With processors to spare a crate is compiled by several, faster than its CPU seconds.
        if len(self._active) >= self.processors:
            for name in set(self._active) - set(active):
                self._learn(name, seconds)
        for name in active:
            self._begun_at.setdefault(name, seconds)
        self._active, self._units_left = active, int(found[2]) - int(found[1])

    def _learn(self, name: str, seconds: float) -> None:
        measured = COSTS.get(name, 0)
        kept = 0.5 ** (measured / HALF_LIFE_SECONDS)
        self._measured_seconds = self._measured_seconds * kept + measured
        self._taken_seconds = self._taken_seconds * kept + (seconds - self._begun_at[name] if measured else 0)

    def seconds_left(self, seconds: float) -> float | None:
        """Return how long the build goes on; 0 when it takes longer than expected, None before cargo counts."""
        if not self._active:
            return None
        pace = self._pace(seconds)
        left = {name: _cost(name) * pace for name in self._waiting()}
        waiting = sum(left.values()) + (self._units_left - len(self._active) - len(left)) * OTHER_SECONDS * pace
        left |= {name: max(0.0, _cost(name) * pace - seconds + self._begun_at[name]) for name in self._active}
        rest = waiting + sum(left[name] for name in self._active)
        if rest < LAST_SECONDS * pace and any(left[name] == 0 for name in self._active):
            return 0.0
        return max(1.0, rest / self.processors, sum(left.get(name, 0) for name in CHAIN))

    def _pace(self, seconds: float) -> float:
        """Return how long a CPU second of the measured build takes here, by what ended and what is late."""
        pace = self._taken_seconds / self._measured_seconds
        ages = {name: seconds - self._begun_at[name] for name in self._active if name in COSTS}
        late = {name: age for name, age in ages.items() if age > COSTS[name] * pace}
        measured = self._measured_seconds + sum(COSTS[name] for name in late)
        return (self._taken_seconds + sum(late.values())) / measured

    def _waiting(self) -> list[str]:
        """Return what has not begun: where only some crates are stale, those are the last ones."""
        count = self._units_left - len(self._active)
        waiting = [name for name in COSTS if name not in self._begun_at]
        return waiting[max(0, len(waiting) - count) :]


def _cost(name: str) -> float:
    return COSTS.get(name, OTHER_SECONDS)
