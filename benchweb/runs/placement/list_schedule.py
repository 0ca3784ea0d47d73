"""A list schedule: whenever places are free, the one with most left to do begins the job that helps it most. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

# Ends that differ by less are one moment: sums of the same lengths in another order differ in the last bits.
_SAME_MOMENT_SECONDS = 1e-6


def listed(
    places: Sequence[tuple[int, ...]],
    seconds: Sequence[float],
    free_at: Sequence[float],
    *,
    longest_first: bool = False,
) -> list[float]:
    """Return each job's start.

    A job's first two places are those with most to do; `free_at` says from when on each place can be had. Of a place's
    jobs the longest is taken with that partner that has most left to do, or, `longest_first`, the longest of all.
    """
    schedule = _Schedule(places, seconds, longest_first)
    schedule.run(free_at)
    return schedule.starts


class _Schedule:
    """The state at one moment: which places are idle, and what waits between which two of them."""

    def __init__(self, places: Sequence[tuple[int, ...]], seconds: Sequence[float], longest_first: bool) -> None:
        self.starts = [0.0] * len(places)
        self._places = places
        self._seconds = seconds
        self._longest_first = longest_first
        count = 1 + max((place for each in places for place in each), default=-1)
        self._remaining = [0.0] * count
        # A bit per place: those idle, and of each place the partners that it still has jobs with.
        self._idle = 0
        self._partners = [0] * count
        self._ends: list[tuple[float, int]] = []
        self._waiting: dict[tuple[int, int], list[int]] = defaultdict(list)
        # The longest last, where it is taken from.
        for job in sorted(range(len(places)), key=seconds.__getitem__):
            first, second = _ends_of(places[job])
            self._waiting[first, second].append(job)
            self._partners[first] |= 1 << second
            self._partners[second] |= 1 << first
            for place in places[job]:
                self._remaining[place] += seconds[job]

    def run(self, free_at: Sequence[float]) -> None:
        """Play the schedule through: at each end of a job, start what then can start."""
        # A place that isn't free at first ends a job numbered below zero.
        self._ends = [(at, -1 - place) for place, at in enumerate(free_at)]
        heapify(self._ends)
        while self._ends:
            now = self._ends[0][0]
            while self._ends and self._ends[0][0] <= now + _SAME_MOMENT_SECONDS:
                now, job = heappop(self._ends)
                for place in self._places[job] if job >= 0 else (-1 - job,):
                    self._idle |= 1 << place
            self._start_what_can(now)

    def _start_what_can(self, now: float) -> None:
        able = [place for place in _bits(self._idle) if self._partners[place] & self._idle]
        for place in sorted(able, key=lambda each: -self._remaining[each]):
            if self._idle >> place & 1:
                job = self._chosen(place)
                if job is not None:
                    self._start(job, now)

    def _chosen(self, place: int) -> int | None:
        """Take the best job of an idle place whose other places are idle as well."""
        partners = list(_bits(self._partners[place] & self._idle))
        if self._longest_first:
            partners.sort(key=lambda each: -self._seconds[self._waiting[_key(place, each)][-1]])
        else:
            partners.sort(key=lambda each: -self._remaining[each])
        for partner in partners:
            waiting = self._waiting[_key(place, partner)]
            for index in range(len(waiting) - 1, -1, -1):
                if all(self._idle >> each & 1 for each in self._places[waiting[index]]):
                    return self._taken(place, partner, index)
        return None

    def _taken(self, place: int, partner: int, index: int) -> int:
        waiting = self._waiting[_key(place, partner)]
        job = waiting.pop(index)
        if not waiting:
            self._partners[place] &= ~(1 << partner)
            self._partners[partner] &= ~(1 << place)
        return job

    def _start(self, job: int, now: float) -> None:
        self.starts[job] = now
        for place in self._places[job]:
            self._idle &= ~(1 << place)
            self._remaining[place] -= self._seconds[job]
        heappush(self._ends, (now + self._seconds[job], job))


def _ends_of(places: tuple[int, ...]) -> tuple[int, int]:
    return _key(places[0], places[1] if len(places) > 1 else places[0])


def _key(first: int, second: int) -> tuple[int, int]:
    return (first, second) if first < second else (second, first)


def _bits(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
