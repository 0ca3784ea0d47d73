"""Judge simulated series beside a canary of their host: what its swings hide without it, and what it may not spoil.

    .venv/bin/python -m bench.regressions.canaries [--series 40] [--nights 160] [--seed 1] [--scenes weekends …]

The canary is a figure of the same night that the network can't change. It has the host's part of the series' noise and
noise of its own, which is never 0: `weekends` and `autocorrelated` are the host's (bench.regressions.series: weekends
4 % slower among gaussian noise of 1.07 %, and all of the noise autocorrelated by 0.7), `unrelated` canaries have
nothing in common with a series of that kind. Told are changes of the last window, night by night, as
bench.regressions.nights does; those that the canary moved with are the host's own, and told as that.
"""

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pool

from bench.regressions.nights import SAME, SOON, STEPS, YEAR
from bench.regressions.series import DEVIATION, WEEKEND, autocorrelated
from benchweb.statistics.changes import Change, explained_series, find_changes_beside
from benchweb.statistics.deciding import LEAST_RUNS, WINDOW_RUNS

_CANARY_STEPS = (0.2, -0.2)


@dataclass(frozen=True)
class Scene:
    """What disturbs a series, whether its canary shares that, and the canary's own noise, as shares of the level."""

    disturbance: str
    canary_noise: float
    is_shared: bool = True


SCENES = {
    "weekends, canary 0.3 %": Scene("weekends", 0.003),
    "weekends, canary 0.5 %": Scene("weekends", 0.005),
    "weekends, canary 1 %": Scene("weekends", 0.0107),
    "autocorrelated, canary 0.3 %": Scene("autocorrelated", 0.003),
    "autocorrelated, canary 0.5 %": Scene("autocorrelated", 0.005),
    "autocorrelated, canary 1 %": Scene("autocorrelated", 0.0107),
    "weekends, unrelated canary": Scene("weekends", 0.005, is_shared=False),
    "autocorrelated, unrelated canary": Scene("autocorrelated", 0.005, is_shared=False),
    "gaussian, unrelated canary": Scene("gaussian", 0.005, is_shared=False),
}


@dataclass
class _Nights:
    values: list[float]
    canary: list[float]

    def changed(self, at: int, ratio: float, *, series: bool, canary: bool) -> "_Nights":
        """Return the nights with a step of the series, its canary or both."""
        factors = [1 + ratio if night >= at else 1.0 for night in range(len(self.values))]
        return _Nights(
            [value * (factor if series else 1) for value, factor in zip(self.values, factors, strict=True)],
            [value * (factor if canary else 1) for value, factor in zip(self.canary, factors, strict=True)],
        )


def nights_of(scene: Scene, count: int, draw: random.Random) -> _Nights:
    """Draw a series and its canary."""
    host = _disturbance(scene.disturbance, count, draw)
    is_all = scene.disturbance == "autocorrelated"
    own = [0.0 if is_all else draw.gauss(0, DEVIATION) for _ in range(count)]
    seen = host if scene.is_shared else [0.0] * count
    return _Nights(
        [1 + shared + noise for shared, noise in zip(host, own, strict=True)],
        [1 + shared + draw.gauss(0, scene.canary_noise) for shared in seen],
    )


def _disturbance(kind: str, count: int, draw: random.Random) -> list[float]:
    if kind == "autocorrelated":
        return [value / 1000 - 1 for value in autocorrelated(draw, count).values]
    return [-WEEKEND if kind == "weekends" and night % 7 > 4 else 0.0 for night in range(count)]


def told_of(nights: _Nights, night: int, *, has_canary: bool) -> Iterator[Change]:
    """Yield the changes that are told after a night, with indexes of the whole series."""
    first = max(0, night + 1 - WINDOW_RUNS)
    values, canary = nights.values[first : night + 1], nights.canary[first : night + 1]
    explained = explained_series(values, [canary]) if has_canary else None
    for change in find_changes_beside(values, explained, [canary] if has_canary else []):
        yield Change(first + change.index, *(0.0,) * 2, None, None, None, change.p, moved_with=change.moved_with)


def false_alarms(scene: Scene, count: int, has_canary: bool, canary_step: float, seed: str) -> tuple[int, int]:
    """Return how many alarms an unchanged series raises as its own, and as its host's."""
    nights = nights_of(scene, count, random.Random(f"{scene} {seed}"))
    nights = nights.changed(count * 5 // 8, canary_step, series=False, canary=True)
    known: list[int] = []
    alarms = [0, 0]
    for night in range(LEAST_RUNS - 1, count):
        for change in told_of(nights, night, has_canary=has_canary):
            if all(abs(change.index - index) > SAME for index in known):
                alarms[change.moved_with is not None] += 1
            known.append(change.index)
    return alarms[0], alarms[1]


def finding(scene: Scene, count: int, ratio: float, has_canary: bool, is_host: bool, seed: str) -> str:
    """Return as whose a step is told within 15 nights: the series' own, the host's, or nobody's."""
    draw = random.Random(f"{scene} {ratio} {seed}")
    nights = nights_of(scene, count, draw)
    at = draw.randrange(count // 2, count - 2 * SOON)
    nights = nights.changed(at, ratio, series=True, canary=is_host)
    for night in range(at, at + SOON):
        for change in told_of(nights, night, has_canary=has_canary):
            if abs(change.index - at) <= SAME:
                return "own" if change.moved_with is None else "host"
    return ""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=40)
    parser.add_argument("--nights", type=int, default=160)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--scenes", nargs="+", default=[""], help="those whose names begin so")
    arguments = parser.parse_args()
    began = time.monotonic()
    seeds = [f"{arguments.seed} {number}" for number in range(arguments.series)]
    heads = [f"{step:+.0%}" for step in STEPS[:2]]
    columns = ["false", *heads, "false with canary", "as the host's", *(f"{head} with canary" for head in heads)]
    columns += [f"false, canary alone {step:+.0%}" for step in _CANARY_STEPS]
    print(f"| noise | {' | '.join(columns)} | −6 % of host and canary, of it as the host's |")
    print("|---" * (len(columns) + 2) + "|")
    with Pool(arguments.processes) as pool:
        for name, scene in SCENES.items():
            if not name.startswith(tuple(arguments.scenes)):
                continue
            row: list[str] = []
            for has_canary in (False, True):
                alarms = pool.map(partial(false_alarms, scene, arguments.nights, has_canary, 0.0), seeds)
                row += rates(alarms, arguments.nights)[: 1 + has_canary]
                for step in STEPS[:2]:
                    found = pool.map(partial(finding, scene, arguments.nights, step, has_canary, False), seeds)
                    row.append(f"{sum(map(bool, found)) / len(found):.0%}")
            for step in _CANARY_STEPS:
                alarms = pool.map(partial(false_alarms, scene, arguments.nights, True, step), seeds)
                row.append(" + ".join(rates(alarms, arguments.nights)))
            found = pool.map(partial(finding, scene, arguments.nights, STEPS[1], True, True), seeds)
            row.append(f"{sum(map(bool, found)) / len(found):.0%}, {found.count('host') / len(found):.0%}")
            print(f"| {name} | {' | '.join(row)} |", flush=True)
    print(f"\n{time.monotonic() - began:.0f} s with {arguments.processes} processes")


def rates(alarms: Sequence[tuple[int, int]], nights: int) -> list[str]:
    """Return false alarms a series-year: the series' own, and those told as the host's."""
    years = len(alarms) * nights / YEAR
    return [f"{sum(each[whose] for each in alarms) / years:.2f}" for whose in (0, 1)]


if __name__ == "__main__":
    main()
