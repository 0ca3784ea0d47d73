"""The circle method: in which order the pairs of a mesh are best taken. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

Vertices = tuple[int, ...]


def connected(links: Iterable[Sequence[int]]) -> dict[int, int]:
    """Return each linked vertex one that stands for all that it is connected with, directly or not."""
    above: dict[int, int] = {}
    for first, second in links:
        above[_root(above, first)] = _root(above, second)
    return {vertex: _root(above, vertex) for vertex in above}


def circle_order(vertices: Sequence[Vertices]) -> list[int]:
    """Order jobs so that in a full mesh each takes the first round in which both its vertices are free.

    Of n vertices that are connected (one is added to an odd number) the last stands still and the others move round it:
    i and j meet in round i + j modulo n - 1, the last and i in round 2i. What meets again does so in the next lap. Jobs
    of more than two vertices come first, for they are the hardest to fit in; those of one come last, they fit anywhere.
    """
    wide = [job for job, ends in enumerate(vertices) if len(ends) > 2]
    pairs = [job for job, ends in enumerate(vertices) if len(ends) == 2]
    single = [job for job, ends in enumerate(vertices) if len(ends) < 2]
    return [*_by_turn(wide, vertices), *_by_turn(pairs, vertices), *single]


def _by_turn(jobs: Sequence[int], vertices: Sequence[Vertices]) -> list[int]:
    """Order jobs by the lap and round in which their first two vertices meet."""
    pairs = [(min(vertices[job][:2]), max(vertices[job][:2])) for job in jobs]
    number, rounds = _numbered(pairs)
    laps: dict[tuple[int, int], int] = defaultdict(int)
    turns = []
    for job, (low, high) in zip(jobs, pairs, strict=True):
        turns.append((laps[low, high], _round(number[low], number[high], rounds[low]), job))
        laps[low, high] += 1
    return [job for _, _, job in sorted(turns)]


def _round(low: int, high: int, rounds: int) -> int:
    return (2 * low if high == rounds else low + high) % rounds


def _numbered(pairs: Sequence[tuple[int, int]]) -> tuple[dict[int, int], dict[int, int]]:
    """Number the vertices of each connected part from 0; return them, and by vertex the rounds of a lap in its part."""
    root_of = connected(pairs)
    size: dict[int, int] = defaultdict(int)
    number = {}
    for vertex in sorted(root_of):
        number[vertex] = size[root_of[vertex]]
        size[root_of[vertex]] += 1
    return number, {vertex: (size[root] + 1) // 2 * 2 - 1 for vertex, root in root_of.items()}


def _root(above: dict[int, int], vertex: int) -> int:
    above.setdefault(vertex, vertex)
    while above[vertex] != vertex:
        above[vertex] = above[above[vertex]]
        vertex = above[vertex]
    return vertex
