"""Look through a series that is longer than a window."""

from itertools import pairwise


def windows(count: int, width: int) -> list[tuple[int, int, int, int]]:
    """Return each window's start and end, and from where to where what it finds counts: about its middle half.

    Windows follow each other by half their width, so that each change lies in the middle of one; the last ends with
    the series.
    """
    if count <= width:
        return [(0, count, 0, count)]
    starts = [*range(0, count - width, width // 2), count - width]
    edges = [0, *(start + width // 4 for start in starts[1:]), count]
    return [(start, start + width, *counting) for start, counting in zip(starts, pairwise(edges), strict=True)]
