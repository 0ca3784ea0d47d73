"""Ask "Why?" of simulated falls on 40 hosts whose cause is known: is it named first, and is nothing named when none is?

    .venv/bin/python -m bench.regressions.why [--scenes 20] [--seed 1] [--noise gaussian …]

Eight facts change by chance, each on one to eight hosts, in one night of 60 or in several; each host is an end of six
pairs. Two to five hosts fall by 8 % one to five nights before the last. Scenes: "true", one of the eight came to these
hosts alone that night; "elsewhere", to three more hosts on other nights too, and did nothing there; "half", to as many
other hosts as fell that night; "nothing", none has to do with it; "everywhere", one came to all hosts that night.
Prints how many were answered right, per noise; exits 1 when fewer than 18 of 20 in "true", "nothing" or "everywhere",
but for "true" where each run is at one of two levels 10 % apart.
"""

import argparse
import os
import random
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from math import log

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchweb.settings")

django.setup()

from bench.regressions.series import KINDS  # noqa: E402  (needs the settings)
from benchweb.catalog import catalog  # noqa: E402
from benchweb.documents.references import Label  # noqa: E402
from benchweb.regressions.why.evidence import ranked_causes  # noqa: E402
from benchweb.regressions.why.fallen import Fallen, PairOfSeries  # noqa: E402
from benchweb.regressions.why.possible import PossibleCause  # noqa: E402
from benchweb.statistics.attribution import Course, Exposure, Panel  # noqa: E402

HOSTS, NIGHTS, FACTS = 40, 60, 8
PEERS = (1, 3, 7)
FALL = 0.08
LEAST_RIGHT = 0.9
_FIRST = datetime(2026, 1, 1, 2, tzinfo=UTC)
_DAY = timedelta(days=1)
# By host, the night at which a fact changed there.
Nights = dict[int, int]
Rollout = Callable[[random.Random, Sequence[int], int], Nights]


def main() -> int:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--scenes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--noise", nargs="*", choices=sorted(KINDS), default=sorted(KINDS))
    arguments = parser.parse_args()
    print(f"{'noise':16}" + "".join(f"{name:>12}" for name in _SCENES))
    is_kept = True
    for noise in arguments.noise:
        right = {name: right_scenes(name, noise, arguments.scenes, arguments.seed) for name in _SCENES}
        print(f"{noise:16}" + "".join(f"{count:>9}/{arguments.scenes}" for count in right.values()), flush=True)
        none_named = min(right["nothing"], right["everywhere"])
        promised = none_named if noise == "bimodal" else min(right["true"], none_named)
        is_kept &= promised >= LEAST_RIGHT * arguments.scenes
    return 0 if is_kept else 1


def right_scenes(name: str, noise: str, scenes: int, seed: int) -> int:
    """Return in how many scenes the right answer comes first; where nothing is why, in how many nothing is named."""
    return sum(_is_right(name, noise, random.Random(f"{name} {noise} {seed} {number}")) for number in range(scenes))


def _is_right(name: str, noise: str, draw: random.Random) -> bool:
    begun = NIGHTS - draw.randint(1, 5)
    fallen_hosts = draw.sample(range(HOSTS), draw.randint(2, 5))
    facts = [_by_chance(draw) for _ in range(FACTS)]
    rollout, is_true = _SCENES[name]
    if rollout is not None:
        facts[0] = rollout(draw, fallen_hosts, begun)
    ranked = ranked_causes(*_scene(noise, draw, fallen_hosts, begun, facts))
    first = str(ranked[0].words) if ranked and ranked[0].is_likely else ""
    return first == ("fact 0" if is_true else "")


def _scene(
    noise: str, draw: random.Random, fallen_hosts: Sequence[int], begun: int, facts: Sequence[Nights]
) -> tuple[Fallen, list[PossibleCause]]:
    hosts = [(host, (host + peer) % HOSTS) for host in range(HOSTS) for peer in PEERS]
    pairs = [PairOfSeries(number, 1, *ends) for number, ends in enumerate(hosts)]
    courses = []
    for number, pair in enumerate(pairs):
        values = KINDS[noise](draw, NIGHTS).values
        since = begun if pair.hosts & set(fallen_hosts) else NIGHTS
        values = [value * (1 - FALL if night >= since else 1) for night, value in enumerate(values)]
        # Pairs are measured one after the other.
        times = [(_FIRST + night * _DAY + timedelta(minutes=number)).timestamp() for night in range(NIGHTS)]
        courses.append(Course(pair.hosts, times, [-log(value) for value in values]))
    fallen = Fallen(
        metric=catalog().metrics["throughput_bps"],
        begun={number: _FIRST + begun * _DAY for number, pair in enumerate(pairs) if pair.hosts & set(fallen_hosts)},
        pairs=pairs,
        panel=Panel(courses),
        is_logarithmic=True,
        versions=[],
        pairs_left_out=0,
    )
    causes = [PossibleCause("fact", Label(f"fact {number}")) for number in range(len(facts))]
    for cause, by_host in zip(causes, facts, strict=True):
        for host, night in by_host.items():
            at = (_FIRST + night * _DAY).timestamp()
            cause.exposures.append(Exposure(at, host, fallen.units_of_host(host)))
            cause.hosts[host] = f"host {host}"
    return fallen, causes


def _by_chance(draw: random.Random) -> Nights:
    """Return some hosts' nights: all in one as often as each in its own."""
    hosts, night = draw.sample(range(HOSTS), draw.randint(1, 8)), draw.randrange(NIGHTS)
    is_one_night = draw.random() < 0.5
    return {host: night if is_one_night else draw.randrange(NIGHTS) for host in hosts}


def _others(draw: random.Random, fallen_hosts: Sequence[int], count: int) -> list[int]:
    return draw.sample(sorted(set(range(HOSTS)) - set(fallen_hosts)), count)


def _exactly(_draw: random.Random, fallen_hosts: Sequence[int], begun: int) -> Nights:
    return dict.fromkeys(fallen_hosts, begun)


def _elsewhere_too(draw: random.Random, fallen_hosts: Sequence[int], begun: int) -> Nights:
    earlier = {host: draw.randrange(10, begun - 10) for host in _others(draw, fallen_hosts, 3)}
    return earlier | dict.fromkeys(fallen_hosts, begun)


def _half(draw: random.Random, fallen_hosts: Sequence[int], begun: int) -> Nights:
    return dict.fromkeys([*fallen_hosts, *_others(draw, fallen_hosts, len(fallen_hosts))], begun)


def _everywhere(_draw: random.Random, _fallen_hosts: Sequence[int], begun: int) -> Nights:
    return dict.fromkeys(range(HOSTS), begun)


# With whether that fact is why.
_SCENES: dict[str, tuple[Rollout | None, bool]] = {
    "true": (_exactly, True),
    "elsewhere": (_elsewhere_too, True),
    "half": (_half, True),
    "nothing": (None, False),
    "everywhere": (_everywhere, False),
}

if __name__ == "__main__":
    sys.exit(main())
