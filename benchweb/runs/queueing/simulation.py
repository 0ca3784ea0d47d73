"""Play the queues of resources through, by the rule that runs are dispatched by: pure, no clock, no ORM.

A run begins when nothing on its resources excludes it, and it overtakes nobody who waits there and excludes it: except
where the one overtaken waits anyway until something else ends, and the run would be over by then (backfill).
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import inf

# How many that can't begin are looked past on a resource for one that can.
_MOST_PASSED_OVER = 20
# Ends that differ by less are one moment.
_SAME_MOMENT_SECONDS = 1e-6


@dataclass(frozen=True, slots=True)
class Queued:
    """A run in the queues: its place in the order, since when it is there, and how long it takes.

    `slot_seconds` is what everybody reckons with, `seconds` what it really takes.
    """

    key: int
    resources: tuple[int, ...]
    planned_seconds: float
    slot_seconds: float
    seconds: float
    exclusive: bool = True
    launched_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Played:
    """When a run began and ended."""

    key: int
    from_seconds: float
    until_seconds: float


def played(runs: Sequence[Queued]) -> list[Played]:
    """Return when each run began and ended, in the order of their beginnings."""
    return _Queues(runs).play()


class _Resource:
    """Who waits, in order, all and the exclusive alone; and who is there, with the end expected of each."""

    def __init__(self) -> None:
        self.waiting: list[tuple[float, int, int]] = []
        self.waiting_exclusive: list[tuple[float, int, int]] = []
        self.ends: dict[int, float] = {}
        self.is_exclusive = False

    def excludes(self, run: Queued) -> bool:
        return bool(self.ends) and (self.is_exclusive or run.exclusive)

    def queues_for(self, run: Queued) -> tuple[list[tuple[float, int, int]], ...]:
        return (self.waiting, self.waiting_exclusive) if run.exclusive else (self.waiting,)


class _Queues:
    def __init__(self, runs: Sequence[Queued]) -> None:
        self._runs = runs
        self._resources = {resource: _Resource() for run in runs for resource in run.resources}
        # An entry of a queue: the order, then the run's number in `runs`.
        self._entries = [(run.planned_seconds, run.key, number) for number, run in enumerate(runs)]
        self._shortest_seconds = min((run.slot_seconds for run in runs), default=0.0)
        self._played: list[Played] = []
        # Launches are numbered from -1 downwards, ends by the run that ends.
        self._events = [(run.launched_seconds, -1 - number) for number, run in enumerate(runs)]
        heapify(self._events)

    def play(self) -> list[Played]:
        while self._events:
            now = self._events[0][0]
            touched: set[int] = set()
            while self._events and self._events[0][0] <= now + _SAME_MOMENT_SECONDS:
                now, number = heappop(self._events)
                touched.update(self._ended(number) if number >= 0 else self._launched(-1 - number, now))
            self._start_what_can(touched, now)
        return self._played

    def _launched(self, number: int, now: float) -> Iterable[int]:
        run = self._runs[number]
        if not run.resources:
            self._start(number, now)
        for resource in run.resources:
            for queue in self._resources[resource].queues_for(run):
                insort(queue, self._entries[number])
        return run.resources

    def _ended(self, number: int) -> Iterable[int]:
        for resource in self._runs[number].resources:
            del self._resources[resource].ends[number]
        return self._runs[number].resources

    def _start_what_can(self, touched: set[int], now: float) -> None:
        while touched:
            resource = self._resources[touched.pop()]
            if resource.ends and resource.is_exclusive:
                continue
            passed_over = 0
            for entry in resource.waiting[:]:
                run = self._runs[entry[2]]
                if self._may_start(run, entry, now):
                    self._start(entry[2], now)
                    touched.update(run.resources)
                    if run.exclusive:
                        break
                elif run.exclusive:
                    passed_over += 1
                    # Nobody behind it could be over before its turn comes, or it would take too long to find.
                    if self._blocked_until(run) < now + self._shortest_seconds or passed_over > _MOST_PASSED_OVER:
                        break

    def _may_start(self, run: Queued, entry: tuple[float, int, int], now: float) -> bool:
        for used in run.resources:
            resource = self._resources[used]
            if resource.excludes(run):
                return False
            queued = resource.waiting if run.exclusive else resource.waiting_exclusive
            if queued and queued[0] < entry:
                first = self._runs[queued[0][2]]
                if now + run.slot_seconds > self._blocked_until(first) + _SAME_MOMENT_SECONDS:
                    return False
        return True

    def _blocked_until(self, run: Queued) -> float:
        """Return the expected end of what keeps a run from starting; long ago if only others that wait do."""
        resources = (self._resources[resource] for resource in run.resources)
        return max(
            (end for resource in resources if resource.excludes(run) for end in resource.ends.values()), default=-inf
        )

    def _start(self, number: int, now: float) -> None:
        run = self._runs[number]
        for used in run.resources:
            resource = self._resources[used]
            for queue in resource.queues_for(run):
                del queue[bisect_left(queue, self._entries[number])]
            resource.ends[number] = now + run.slot_seconds
            resource.is_exclusive = run.exclusive
        end = now + run.seconds
        heappush(self._events, (end, number))
        self._played.append(Played(run.key, now, end))
