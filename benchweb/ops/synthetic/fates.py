"""Decide what became of each night's slot and of each run in it: pure, no ORM."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from django.utils.translation import gettext_noop

from benchweb.catalog.reasons import Reason
from benchweb.ops.synthetic.scene import host_name
from benchweb.ops.synthetic.stories import HostStory, PairStory
from benchweb.runs.models import State

_SLOT_MISSED_RATE, _TRIALS_FAIL_RATE, _CANCELLED_RATE, _BUSY_RATE = 0.006, 0.012, 0.001, 0.003
# A whole stop of some nights, once in so many.
_NIGHTS_PER_STOP = 120
SLOT_REASON = gettext_noop("benchweb was not running at this time.")
BUSY_REASON = gettext_noop("The sink's engine was busy with another controller's session: tried 3 times.")
# As the reason says.
BUSY_ATTEMPTS = 3
_CANCELLED_REASON = "Cancelled by synthetic."
_TRIAL_REASONS = (
    gettext_noop("The connection to the sink broke after 3.2 s: connection reset by peer."),
    gettext_noop("The source's engine did not answer within 10 s."),
    gettext_noop("No datagram reached the sink within 3 s."),
)


def away_reason(host: str) -> Reason:
    """Return why nothing runs with a host that is away, as a worker says it."""
    return Reason(
        "engine_unreachable", engine=Reason("engine", name=host, address=f"{host}.invalid:7410"), error="timed out"
    )


@dataclass(frozen=True)
class Fate:
    """The end of a run: its state, why, and the trials (from 0) that failed; those from `begun` on never began.

    `attempts` to begin it failed.
    """

    state: State
    reason: str
    begun: int
    failed: dict[int, str] = field(default_factory=dict)
    attempts: int = 0
    # Its trials finished, and nothing was received.
    is_empty: bool = False

    @property
    def finished(self) -> int:
        return self.begun - len(self.failed)


@dataclass(frozen=True)
class NightFate:
    """The runs of a night by the pair's place in the list; none with a reason is a missed slot."""

    night: int
    runs: dict[int, Fate]
    reason: str = ""


def night_fates(
    hosts: Sequence[HostStory],
    ends: Sequence[tuple[int, int]],
    pairs: Sequence[PairStory],
    trials: int,
    source: Random,
) -> list[NightFate]:
    """Make up every night; `ends` are each pair's source and sink as places in `hosts`."""
    nights = len(pairs[0].nights)
    stopped = _stops(nights, source)
    fates = []
    for night in range(nights):
        if night in stopped:
            fates.append(NightFate(night, {}, SLOT_REASON))
            continue
        away = {index for index, host in enumerate(hosts) if host.is_away(night)}
        runs = {
            number: _fate([end for end in ends[number] if end in away], trials, source)
            for number, pair in enumerate(pairs)
            if night >= pair.begin
        }
        fates.append(NightFate(night, runs, "" if runs else "No pair could run."))
    return [*fates[:-1], _eventful(fates[-1], trials, source)]


def _fate(away: Sequence[int], trials: int, source: Random) -> Fate:
    if away:
        return Fate(State.NONSTART, away_reason(host_name(away[0])), 0, attempts=1)
    if source.random() < _BUSY_RATE:
        return Fate(State.NONSTART, BUSY_REASON, 0, attempts=BUSY_ATTEMPTS)
    if source.random() < _CANCELLED_RATE:
        return Fate(State.CANCELLED, _CANCELLED_REASON, source.randrange(1, trials))
    if source.random() < _TRIALS_FAIL_RATE:
        return _fate_with_failures(source.randint(1, 3), trials, source)
    return Fate(State.FINISHED, "", trials)


def _fate_with_failures(count: int, trials: int, source: Random) -> Fate:
    reason = source.choice(_TRIAL_REASONS)
    failed = dict.fromkeys(source.sample(range(trials), count), reason)
    return Fate(State.FAILED, Reason("trials_failed", failed=count, total=trials), trials, failed)


def _eventful(last: NightFate, trials: int, source: Random) -> NightFate:
    """Let something have gone wrong in the last night where there are several runs: an overview has to show it."""
    if len(last.runs) < 4:
        return last
    numbers = sorted(last.runs)
    changed = {
        numbers[1]: _fate_with_failures(2, trials, source),
        numbers[3]: Fate(State.NONSTART, BUSY_REASON, 0, attempts=BUSY_ATTEMPTS),
    }
    return NightFate(last.night, last.runs | changed)


def _stops(nights: int, source: Random) -> set[int]:
    """Return the nights in which nothing ran at all; never the last, which every page starts from."""
    stopped = {night for night in range(nights) if source.random() < _SLOT_MISSED_RATE}
    for _ in range(nights // _NIGHTS_PER_STOP):
        first = source.randrange(nights)
        stopped |= set(range(first, first + source.randint(2, 4)))
    return stopped - {nights - 1}
