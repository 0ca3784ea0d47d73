"""Think out what is to be written before a row is: pairs, nights, stories, fates. Pure, no ORM."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import accumulate
from random import Random
from typing import Any

from benchweb.ops.synthetic.fates import Fate, NightFate, night_fates
from benchweb.ops.synthetic.scene import NAME, Planned, planned_pairs
from benchweb.ops.synthetic.shapes import METRICS
from benchweb.ops.synthetic.stories import HostStory, PairStory, host_story, pair_story
from benchweb.plans.expansion import PlannedTrial, expanded
from benchweb.runs.placement.meshes import Job, arranged, lower_bound_seconds, makespan_seconds

REPETITIONS = 3
_SECONDS = {"duration_seconds": 10}
_ONE_BYTE = {"request_size_bytes": 1, "response_size_bytes": 1, **_SECONDS}
STEPS: list[dict[str, Any]] = [
    {"kind": "tcp_stream", "params": {"message_size_bytes": [64, 256, 1024, 4096, 16384, 65536], **_SECONDS}},
    {"kind": "udp_stream", "params": {"message_size_bytes": [64, 1400], **_SECONDS}},
    {"kind": "tcp_rr", "params": _ONE_BYTE},
    {"kind": "tcp_crr", "params": _ONE_BYTE},
    {"kind": "udp_rr", "params": _ONE_BYTE},
    {"kind": "ping", "params": {"count": 100}},
]
_NIGHT_HOUR = 2
_YEAR_NIGHTS = 365
# About so many of all nights of all pairs give a run with all its points: the rest are gaps, outages, failures.
_WHOLE_RUNS = 0.9


@dataclass(frozen=True)
class Script:
    """Everything that is random but the values; `fates` may leave out the first nights, times are for all."""

    # What environments, plan, schedule and hosts are called by.
    name: str
    planned: list[Planned]
    steps: list[dict[str, Any]]
    trials: list[PlannedTrial]
    stories: list[HostStory]
    nights: list[datetime]
    pair_stories: list[PairStory]
    fates: list[NightFate]
    starts: dict[int, float]
    # Seconds from a run's begin to each trial's, and to its end: every trial takes the whole slot that it is planned.
    offsets: list[float]
    planned_seconds: float
    lower_bound_seconds: float

    @property
    def run_count(self) -> int:
        return sum(len(night.runs) for night in self.fates)

    def mtu_bytes(self, number: int, night: int) -> int:
        """Return the MTU of a pair's path in a night: the smaller of both ends'."""
        pair = self.planned[number]
        return min(self.stories[end.host].at(night).mtu for end in (pair.source, pair.sink))

    def points_of(self, fate: Fate) -> int:
        if fate.is_empty:
            return 0
        return sum(
            len(METRICS[trial.kind])
            for number, trial in enumerate(self.trials[: fate.begun])
            if number not in fate.failed
        )

    @property
    def points(self) -> int:
        return sum(self.points_of(fate) for night in self.fates for fate in night.runs.values())


def script_of_nights(pair_count: int, days: int, until: datetime, source: Random) -> Script:
    """Think out so many nights of so many pairs, the last one over by `until`."""
    planned = planned_pairs(pair_count)
    ends = [pair.ends for pair in planned]
    stories = [host_story(days, source) for _ in range(1 + max(map(max, ends)))]
    pairs = [pair_story(days, [stories[end] for end in both], source) for both in ends]
    trial_count = len(expanded(STEPS, REPETITIONS, "interleaved"))
    fates = night_fates(stories, ends, pairs, trial_count, source)
    return timed_script(NAME, planned, STEPS, stories=stories, pair_stories=pairs, fates=fates, until=until)


def timed_script(
    name: str,
    planned: list[Planned],
    steps: list[dict[str, Any]],
    *,
    stories: list[HostStory],
    pair_stories: list[PairStory],
    fates: list[NightFate],
    until: datetime,
    hour: int = _NIGHT_HOUR,
) -> Script:
    """Give each night its time, the last one over by `until`, and each run and trial its place in the night."""
    trials, days = expanded(steps, REPETITIONS, "interleaved"), len(fates)
    ends = [pair.ends for pair in planned]
    offsets = [0.0, *accumulate(trial.slot_seconds for trial in trials)]
    jobs = [Job(number, both, offsets[-1]) for number, both in enumerate(ends)]
    placed = arranged(jobs)
    night_seconds = makespan_seconds(jobs, placed)
    last = until.replace(hour=hour, minute=0, second=0, microsecond=0)
    while last + timedelta(seconds=night_seconds) > until:
        last -= timedelta(days=1)
    return Script(
        name=name,
        planned=planned,
        steps=steps,
        trials=trials,
        stories=stories,
        nights=[last - timedelta(days=days - 1 - night) for night in range(days)],
        pair_stories=pair_stories,
        fates=fates,
        starts={run.key: run.start_seconds for run in placed},
        offsets=offsets,
        planned_seconds=night_seconds,
        lower_bound_seconds=lower_bound_seconds(jobs),
    )


def script_of_points(points: int, until: datetime, source: Random) -> Script:
    """Think out at least so many points: as many pairs as a year of nights asks for, the oldest nights left out."""
    trials = expanded(STEPS, REPETITIONS, "interleaved")
    per_run = _WHOLE_RUNS * sum(len(METRICS[trial.kind]) for trial in trials)
    pairs = max(1, -int(-points // (per_run * _YEAR_NIGHTS)))
    days = min(_YEAR_NIGHTS, max(1, -int(-points // (per_run * pairs))))
    # Now and then more goes wrong than was allowed for.
    while (script := script_of_nights(pairs, days, until, source)).points < points:
        days += 1 + days // 20
    return _shortened_script(script, points)


def _shortened_script(script: Script, points: int) -> Script:
    """Leave out the first nights that so many points don't need."""
    count = 0
    for index in range(len(script.fates) - 1, -1, -1):
        count += sum(script.points_of(fate) for fate in script.fates[index].runs.values())
        if count >= points:
            return replace(script, fates=script.fates[index:])
    return script
