"""A list schedule: of the free resources the one with most left to do begins the job that helps it most. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

# Ends that differ by less are one moment: sums of the same lengths in another order differ in the last bits.
_SAME_MOMENT_SECONDS = 1e-6


def listed(
    resources: Sequence[tuple[int, ...]],
    seconds: Sequence[float],
    free_at: Sequence[float],
    *,
    longest_first: bool = False,
) -> list[float]:
    """Return each job's start.

    A job's first two resources are those with most to do; `free_at` says from when on each resource is free. Of a
    resource's jobs the longest is taken with that partner that has most left to do, or, `longest_first`, the longest
    of all.
    """
    schedule = _Schedule(resources, seconds, longest_first)
    schedule.run(free_at)
    return schedule.starts


class _Schedule:
    """The state at one moment: which resources are idle, and what waits between which two of them."""

    def __init__(self, resources: Sequence[tuple[int, ...]], seconds: Sequence[float], longest_first: bool) -> None:
        self.starts = [0.0] * len(resources)
        self._resources = resources
        self._seconds = seconds
        self._longest_first = longest_first
        count = 1 + max((resource for used in resources for resource in used), default=-1)
        self._remaining = [0.0] * count
        # A bit per resource: those idle, and of each resource the partners that it still has jobs with.
        self._idle = 0
        self._partners = [0] * count
        self._ends: list[tuple[float, int]] = []
        self._waiting: dict[tuple[int, int], list[int]] = defaultdict(list)
        # The longest last, where it is taken from.
        for job in sorted(range(len(resources)), key=seconds.__getitem__):
            first, second = _ends_of(resources[job])
            self._waiting[first, second].append(job)
            self._partners[first] |= 1 << second
            self._partners[second] |= 1 << first
            for resource in resources[job]:
                self._remaining[resource] += seconds[job]

    def run(self, free_at: Sequence[float]) -> None:
        """Play the schedule through: at each end of a job, start what then can start."""
        # A resource that isn't free at first ends a job numbered below zero.
        self._ends = [(at, -1 - resource) for resource, at in enumerate(free_at)]
        heapify(self._ends)
        while self._ends:
            now = self._ends[0][0]
            while self._ends and self._ends[0][0] <= now + _SAME_MOMENT_SECONDS:
                now, job = heappop(self._ends)
                for resource in self._resources[job] if job >= 0 else (-1 - job,):
                    self._idle |= 1 << resource
            self._start_what_can(now)

    def _start_what_can(self, now: float) -> None:
        able = [resource for resource in _bits(self._idle) if self._partners[resource] & self._idle]
        for resource in sorted(able, key=lambda able_resource: -self._remaining[able_resource]):
            if self._idle >> resource & 1:
                job = self._chosen(resource)
                if job is not None:
                    self._start(job, now)

    def _chosen(self, resource: int) -> int | None:
        """Take the best job of an idle resource whose other resources are idle as well."""
        partners = list(_bits(self._partners[resource] & self._idle))
        if self._longest_first:
            partners.sort(key=lambda partner: -self._seconds[self._waiting[_key(resource, partner)][-1]])
        else:
            partners.sort(key=lambda partner: -self._remaining[partner])
        for partner in partners:
            waiting = self._waiting[_key(resource, partner)]
            for index in range(len(waiting) - 1, -1, -1):
                if all(self._idle >> resource & 1 for resource in self._resources[waiting[index]]):
                    return self._taken(resource, partner, index)
        return None

    def _taken(self, resource: int, partner: int, index: int) -> int:
        waiting = self._waiting[_key(resource, partner)]
        job = waiting.pop(index)
        if not waiting:
            self._partners[resource] &= ~(1 << partner)
            self._partners[partner] &= ~(1 << resource)
        return job

    def _start(self, job: int, now: float) -> None:
        self.starts[job] = now
        for resource in self._resources[job]:
            self._idle &= ~(1 << resource)
            self._remaining[resource] -= self._seconds[job]
        heappush(self._ends, (now + self._seconds[job], job))


def _ends_of(resources: tuple[int, ...]) -> tuple[int, int]:
    return _key(resources[0], resources[1] if len(resources) > 1 else resources[0])


def _key(first: int, second: int) -> tuple[int, int]:
    return (first, second) if first < second else (second, first)


def _bits(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
