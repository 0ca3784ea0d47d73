"""Sources measured at once on one clock: the window that all share, what each gave in it, and how evenly: pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Counted(NamedTuple):
    """What an interface counted."""

    octets: float
    packets: float


class Window(NamedTuple):
    """A span of one clock, in seconds."""

    begin: float
    end: float

    @property
    def seconds(self) -> float:
        """Return how long it is."""
        return self.end - self.begin


@dataclass(frozen=True)
class Slice:
    """A piece of what was measured; without a rate or counts where the engine told none."""

    window: Window
    rate: float | None
    # By the interface's name.
    counted: tuple[str, Counted] | None = None


Course = Sequence[Slice]


def span_of(course: Course) -> Window | None:
    """Return from when to when a source measured; None for one that didn't."""
    return Window(course[0].window.begin, course[-1].window.end) if course else None


def common_window(courses: Sequence[Course]) -> Window | None:
    """Return the window in which all of them measured; None where there is none."""
    spans = [span_of(course) for course in courses]
    known = [span for span in spans if span is not None]
    if not known or len(known) < len(spans):
        return None
    window = Window(max(span.begin for span in known), min(span.end for span in known))
    return window if window.seconds > 0 else None


def shares_within(courses: Sequence[Course], window: Window, pieces: int) -> list[tuple[Window, list[float] | None]]:
    """Return each course's share of what all gave together in each of so many equal pieces of a window.

    None of a piece in which one of them told no rate, or nothing was carried.
    """
    seconds = window.seconds / pieces
    cells = [Window(window.begin + seconds * n, window.begin + seconds * (n + 1)) for n in range(pieces)]
    return [(cell, _shares([rate_within(course, cell) for course in courses])) for cell in cells]


def _shares(rates: Sequence[float | None]) -> list[float] | None:
    known = [rate for rate in rates if rate is not None]
    whole = sum(known)
    return [rate / whole for rate in known] if len(known) == len(rates) and whole > 0 else None


def rate_within(course: Course, window: Window) -> float | None:
    """Return a course's mean rate over a window; None where it told none."""
    parts = [(interval.rate, _shared(interval, window)) for interval in course if interval.rate is not None]
    seconds = sum(shared for _rate, shared in parts)
    return sum(rate * shared for rate, shared in parts) / seconds if seconds > 0 else None


def counted_within(course: Course, window: Window) -> dict[str, Counted]:
    """Return what a course's interfaces counted in a window, counts spread evenly over a slice; {} where some lack."""
    sums: dict[str, Counted] = {}
    for interval in course:
        share = _shared(interval, window) / interval.window.seconds if interval.window.seconds > 0 else 0.0
        if share <= 0:
            continue
        if interval.counted is None:
            return {}
        name, counted = interval.counted
        before = sums.get(name, Counted(0.0, 0.0))
        sums[name] = Counted(before.octets + share * counted.octets, before.packets + share * counted.packets)
    return sums


def fairness(rates: Sequence[float]) -> float | None:
    """Return Jain's index, (Σx)² / (n·Σx²): 1 when all are alike, 1/n when one has everything; None for nothing.

    R. Jain, D. Chiu, W. Hawe: A quantitative measure of fairness and discrimination, DEC-TR-301, 1984.
    """
    squares = sum(rate * rate for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares > 0 else None


def _shared(each: Slice, window: Window) -> float:
    return max(0.0, min(each.window.end, window.end) - max(each.window.begin, window.begin))
