"""The circle method: in which order the pairs of a mesh are best taken. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

Places = tuple[int, ...]


def connected(links: Iterable[Sequence[int]]) -> dict[int, int]:
    """Return each linked place one that stands for all that it is connected with, directly or not."""
    above: dict[int, int] = {}
    for first, second in links:
        above[_root(above, first)] = _root(above, second)
    return {place: _root(above, place) for place in above}


def circle_order(places: Sequence[Places]) -> list[int]:
    """Order jobs so that in a full mesh each takes the first round in which both its places are free.

    Of n places that are connected (one is added to an odd number) the last stands still and the others move round it:
    i and j meet in round i + j modulo n - 1, the last and i in round 2i. What meets again does so in the next lap. Jobs
    of more than two places come first, for they are the hardest to fit in, those of one last, for they fit in anywhere.
    """
    wide = [job for job, each in enumerate(places) if len(each) > 2]
    pairs = [job for job, each in enumerate(places) if len(each) == 2]
    single = [job for job, each in enumerate(places) if len(each) < 2]
    return [*_by_turn(wide, places), *_by_turn(pairs, places), *single]


def _by_turn(jobs: Sequence[int], places: Sequence[Places]) -> list[int]:
    """Order jobs by the lap and round in which their first two places meet."""
    pairs = [(min(places[job][:2]), max(places[job][:2])) for job in jobs]
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
    """Number the places of each connected part from 0, upwards, and give how many rounds a lap in it has, by place."""
    root_of = connected(pairs)
    size: dict[int, int] = defaultdict(int)
    number = {}
    for place in sorted(root_of):
        number[place] = size[root_of[place]]
        size[root_of[place]] += 1
    return number, {place: (size[root] + 1) // 2 * 2 - 1 for place, root in root_of.items()}


def _root(above: dict[int, int], place: int) -> int:
    above.setdefault(place, place)
    while above[place] != place:
        above[place] = above[above[place]]
        place = above[place]
    return place
