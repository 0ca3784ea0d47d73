"""Whose turn it is: which waiting runs may start now, and what keeps the others; pure, times in seconds from now."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Waiting:
    """A run in the queues of its resources."""

    run: int
    # All of them, whether their queues were looked at or not.
    resources: tuple[int, ...]
    is_exclusive: bool
    seconds: float
    # Among the first of each of its queues: only then is everybody known whom it would overtake.
    is_near: bool = True


@dataclass(frozen=True)
class Occupied:
    """A resource that a run has; `until` is when it is expected to end."""

    resource: int
    run: int
    is_exclusive: bool
    until: float


@dataclass(frozen=True)
class Blocked:
    """Why a run waits: the run that has the resource and ends last, or None and its place in the queue."""

    run: int
    resource: int
    blocker: Occupied | None
    position: int


@dataclass(frozen=True)
class Turns:
    """The runs that may start, in the order of the queue, and why others can't."""

    start: list[int] = field(default_factory=list)
    blocked: list[Blocked] = field(default_factory=list)


@dataclass(frozen=True)
class _Before:
    """One who waits before another on a resource, with the time from which it is expected to have it."""

    is_exclusive: bool
    starts: float
    ends: float


def turns(waiting: Iterable[Waiting], occupied: Iterable[Occupied]) -> Turns:
    """Decide in the order of the queue.

    A run starts when none of its resources is occupied against it, and none who waits there before it is overtaken;
    or if it would end before that one is expected to start (backfill, which delays nobody). Both normal: no overtaking.
    """
    taken: dict[int, list[Occupied]] = defaultdict(list)
    for occupant in occupied:
        taken[occupant.resource].append(occupant)
    queues: dict[int, list[_Before]] = defaultdict(list)
    decided = Turns()
    for run in waiting:
        blockers = [holder for resource in run.resources for holder in taken[resource] if _conflict(holder, run)]
        before = [earlier for resource in run.resources for earlier in queues[resource] if _conflict(earlier, run)]
        if run.is_near and not blockers and all(run.seconds <= earlier.starts for earlier in before):
            decided.start.append(run.run)
            for resource in run.resources:
                taken[resource].append(Occupied(resource, run.run, run.is_exclusive, run.seconds))
            continue
        decided.blocked.append(_blocked(run, blockers, queues))
        starts = max([0.0, *(blocker.until for blocker in blockers), *(earlier.ends for earlier in before)])
        for resource in run.resources:
            queues[resource].append(_Before(run.is_exclusive, starts, starts + run.seconds))
    return decided


def _blocked(run: Waiting, blockers: Sequence[Occupied], queues: dict[int, list[_Before]]) -> Blocked:
    longest = max(run.resources, key=lambda resource: len(queues[resource]))
    position = len(queues[longest]) + 1
    if position > 1 or not blockers:
        return Blocked(run.run, longest, None, position)
    last = max(blockers, key=lambda blocker: blocker.until)
    return Blocked(run.run, last.resource, last, position)


def _conflict(one: Occupied | _Before, run: Waiting) -> bool:
    return one.is_exclusive or run.is_exclusive
