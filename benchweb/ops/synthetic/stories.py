"""Tell what happened to synthetic hosts and pairs night by night: upgrades, outages, drifts, steps. Pure, no ORM."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

MTUS = (1500, 9000)
_KERNELS = ("6.1.0-28-amd64", "6.1.0-31-amd64", "6.6.52", "6.12.9", "6.12.21", "6.18.4")
_NIGHTS_PER_UPGRADE = 110
_NIGHTS_PER_OUTAGE = 140
# A pair in this share has become worse or better within the last nights: something for a dashboard to show.
_RECENT_CHANGE_SHARE = 0.15
_RECENT_NIGHTS = 10
# Jumbo frames make a sixth of the packets: so many nights ago at least, or a dashboard would show nothing else.
_MTU_NIGHTS_AGO = 45


@dataclass(frozen=True)
class StagedChange:
    """From a night on a host has this kernel and MTU, has booted so often, and is faster or slower by a factor."""

    night: int
    kernel: str
    mtu: int
    boot: int
    speed: float


@dataclass(frozen=True)
class HostStory:
    """A host's changes, the first at night 0, and the nights in which its engine did not answer."""

    changes: tuple[StagedChange, ...]
    outages: tuple[range, ...]

    def at(self, night: int) -> StagedChange:
        return next(change for change in reversed(self.changes) if change.night <= night)

    def is_away(self, night: int) -> bool:
        return any(night in outage for outage in self.outages)


@dataclass(frozen=True)
class PairNight:
    """A pair in a night: factors of speed and delay near 1, and the deviation of repetitions."""

    speed: float
    delay: float
    deviation: float


@dataclass(frozen=True)
class PairStory:
    """A pair night by night; before night `begin` it was not in the schedule."""

    begin: int
    nights: tuple[PairNight, ...]


def host_story(nights: int, source: Random) -> HostStory:
    """Make up a host's story: an upgrade now and then, and outages of one to four nights."""
    changes = [StagedChange(0, source.choice(_KERNELS[:2]), MTUS[0], 1, 1.0)]
    for night in sorted(source.sample(range(1, nights), min(nights - 1, _count(nights, _NIGHTS_PER_UPGRADE, source)))):
        changes.append(_changed_host(changes[-1], night, source, may_be_mtu=night <= nights - _MTU_NIGHTS_AGO))
    outages = tuple(
        range(first, min(first + source.randint(1, 4), nights))
        for first in (source.randrange(nights) for _ in range(_count(nights, _NIGHTS_PER_OUTAGE, source)))
    )
    return HostStory(tuple(changes), outages)


def pair_story(nights: int, ends: Sequence[HostStory], source: Random) -> PairStory:
    """Make up a pair's story, its own and that of its two hosts."""
    begin = int(nights * source.uniform(0.1, 0.4)) if source.random() < 0.1 else 0
    level, yearly_drift = source.gauss(1, 0.03), source.gauss(-0.01, 0.03)
    deviation = source.lognormvariate(-4.6, 0.5)
    # Two weeks or so in which something else used the path: everything spreads.
    noisy = _stretch(nights, source)
    recent = nights - source.randint(1, _RECENT_NIGHTS) if source.random() < _RECENT_CHANGE_SHARE else nights
    step = 1 + source.choice((-1, -1, 1)) * source.uniform(0.06, 0.16)
    wander, story = 0.0, list[PairNight]()
    for night in range(nights):
        wander = 0.85 * wander + source.gauss(0, deviation)
        busy = 3.5 if night in noisy else 1.0
        speed = level * (1 + yearly_drift * night / 365 + wander) * (step if night >= recent else 1.0)
        for end in ends:
            speed *= end.at(night).speed
        # Weekends are quieter; what slows the path also delays it, less than in proportion.
        weekly = 1 - 0.01 * (night % 7 >= 5)
        delay = max(0.5, (1 + source.gauss(0, deviation) * busy) * weekly / speed**0.7)
        story.append(PairNight(max(0.05, speed), delay, deviation * busy))
    return PairStory(begin, tuple(story))


def _changed_host(last: StagedChange, night: int, source: Random, *, may_be_mtu: bool) -> StagedChange:
    """Upgrade the kernel, change the MTU, or neither, and boot: facts that come again would be one row."""
    what = source.random()
    if what < 0.6:
        newer = _KERNELS[min(len(_KERNELS) - 1, _KERNELS.index(last.kernel) + 1)]
        return StagedChange(night, newer, last.mtu, last.boot + 1, last.speed * source.uniform(0.94, 1.05))
    if what < 0.8 and may_be_mtu:
        return StagedChange(night, last.kernel, MTUS[last.mtu == MTUS[0]], last.boot + 1, last.speed)
    return StagedChange(night, last.kernel, last.mtu, last.boot + 1, last.speed)


def _count(nights: int, nights_per_event: int, source: Random) -> int:
    """Return how many events so many nights have, one in the mean per `nights_per_event`."""
    return int(nights / nights_per_event + source.random())


def _stretch(nights: int, source: Random) -> range:
    first = source.randrange(nights)
    return range(first, first + source.randint(5, 20)) if source.random() < 0.5 else range(0)
