"""The sample environment: sixty nights of a small mesh that nobody measured, judged as measured ones are.


A fall that is still there, one that came back, a night in which nothing ran, a limit that is broken and a run that
never began: what pages of alerts, nights, history, matrix and comparison are there for, before anything is measured.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from benchweb.hosts.models import Host, Pair
from benchweb.ops.synthetic.fates import BUSY_ATTEMPTS, BUSY_REASON, SLOT_REASON, Fate, NightFate
from benchweb.ops.synthetic.generation import written_in_turn
from benchweb.ops.synthetic.scene import SAMPLE, SAMPLE_HOSTS, sample_pairs
from benchweb.ops.synthetic.script import REPETITIONS, Script, timed_script
from benchweb.ops.synthetic.stories import MTUS, HostStory, PairNight, PairStory, StagedChange
from benchweb.plans.expansion import expanded
from benchweb.regressions.judge import judge_run
from benchweb.regressions.models import Alert, AlertTransition, RunJudgement
from benchweb.regressions.signals import untold
from benchweb.regressions.thresholds.rules import ThresholdValues, threshold_create
from benchweb.results.models import Point, RecentMedians, Result, RunFigure, Series
from benchweb.results.run_summaries import make_recent_unseen
from benchweb.runs.bulk import new_ids
from benchweb.runs.models import Run, State, Trial

NIGHTS = 60
# Enough before them for a usual level, enough of them for a fall to be found, to end and to be gone for a while.
JUDGED_NIGHTS = 12
_SEED = 48
_TRIAL = {"duration_seconds": 10}
_STEPS: list[dict[str, Any]] = [
    {"kind": "tcp_stream", "params": {"message_size_bytes": [64, 512, 4096, 16384, 65536], **_TRIAL}},
    {"kind": "udp_stream", "params": {"message_size_bytes": [64, 1400], **_TRIAL}},
    {"kind": "tcp_rr", "params": {"request_size_bytes": 1, "response_size_bytes": 1, **_TRIAL}},
]
_KERNELS = ("6.12.9", "6.12.21")
# What happens, by places of hosts and nights from 0: all that this host receives is slower from a night on, with a new
# kernel; two hosts were slower to each other for some nights; in one night nothing ran.
_FALLEN_HOST, _FELL, _FALLEN_SPEED, _FALLEN_DELAY = 3, NIGHTS - 5, 0.86, 1.2
_RECOVERED_HOSTS, _RECOVERED, _RECOVERED_SPEED = {0, 1}, range(NIGHTS - 8, NIGHTS - 3), 0.78
_GAP = NIGHTS - 10
_RUNS = SAMPLE_HOSTS * (SAMPLE_HOSTS - 1) * (NIGHTS - 1)
# A pair that never began in the last night, and one with a limit that it kept until the host fell.
_UNBEGUN, _LIMITED = (2, 0), (0, _FALLEN_HOST)
_LIMIT_KIND, _LIMIT_METRIC, _LIMITED_BYTES, _LIMIT_FACTOR = "tcp_stream", "throughput_bps", 65536, 0.95
_JUDGED_AFTER = timedelta(minutes=2)
# Of whoever looks before three in the morning the last night at two is a day ago: nothing would be of the last day.
_HOUR, _EARLY, _EVENING_HOUR = 2, 3, 22
# An arbitrary number of ours for PostgreSQL's advisory locks: two that make it at once take turns.
_LOCK = 7_410_489


def is_there() -> bool:
    """Tell whether there is anything made up: the sample, or what generate_history wrote."""
    return Host.objects.filter(is_synthetic=True).exists()


def reserve_runs() -> int:
    """Keep ids for the sample's runs, which are older than what is launched before they are written; the first."""
    return new_ids(Run, _RUNS)[0]


@transaction.atomic
def make_sample(
    until: datetime, *, first_run: int | None = None, before_each: Callable[[], None] = lambda: None
) -> int:
    """Write and judge the sample, the last night over by `until`; return how many points it has, 0 where one is there.

    All of it or nothing. `before_each` is called before each night that is judged. Nobody is told of its alerts; what
    is missing in it the tick finds as everywhere. `first_run` is what `reserve_runs` returned.
    """
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(%s)", [_LOCK])
    if is_there():
        return 0
    began = timezone.now()
    script = sample_script(until)
    source = Random(_SEED)  # noqa: S311  (not a secret: it is to be repeated)
    ids = range(first_run, first_run + _RUNS) if first_run else ()
    written = written_in_turn(script, until, source, at_once=NIGHTS - JUDGED_NIGHTS, run_ids=ids)
    next(written)
    _analyze()
    pairs = Pair.objects.filter(environment__is_synthetic=True).order_by("pk")
    with untold():
        for place, run_ids in zip(range(NIGHTS - JUDGED_NIGHTS, NIGHTS), written, strict=True):
            before_each()
            if place == _FELL:
                _make_limit(pairs[[pair.ends for pair in script.planned].index(_LIMITED)])
            at = script.nights[place] + timedelta(seconds=script.planned_seconds) + _JUDGED_AFTER
            _judge_night(run_ids, min(at, until))
            _date_alerts(began, min(at, until))
    make_recent_unseen(list(pairs.values_list("pk", flat=True)))
    return Point.objects.filter(series__pair__in=pairs).count()


def sample_script(until: datetime) -> Script:
    """Think the sample out."""
    source = Random(_SEED)  # noqa: S311
    planned = sample_pairs()
    ends = [pair.ends for pair in planned]
    first = StagedChange(0, _KERNELS[0], MTUS[0], 1, 1.0)
    stories = [HostStory((first,), ()) for _ in range(SAMPLE_HOSTS)]
    stories[_FALLEN_HOST] = HostStory((first, StagedChange(_FELL, _KERNELS[1], MTUS[0], 2, 1.0)), ())
    return timed_script(
        SAMPLE,
        planned,
        _STEPS,
        stories=stories,
        pair_stories=[_pair_story(both, source) for both in ends],
        fates=list(_fates(ends)),
        until=until,
        hour=_HOUR if until.hour >= _EARLY else _EVENING_HOUR,
    )


def _pair_story(ends: tuple[int, int], source: Random) -> PairStory:
    level, deviation = source.gauss(1, 0.02), source.uniform(0.004, 0.008)
    return PairStory(0, tuple(_night(ends, night, level, deviation, source) for night in range(NIGHTS)))


def _night(ends: tuple[int, int], night: int, level: float, deviation: float, source: Random) -> PairNight:
    speed = level * (1 + source.gauss(0, deviation))
    if ends[1] == _FALLEN_HOST and night >= _FELL:
        speed *= _FALLEN_SPEED
    if set(ends) == _RECOVERED_HOSTS and night in _RECOVERED:
        speed *= _RECOVERED_SPEED
    delay = (1 + source.gauss(0, deviation)) / speed**0.7
    if ends[1] == _FALLEN_HOST and night >= _FELL:
        delay *= _FALLEN_DELAY
    return PairNight(speed, delay, deviation)


def _fates(ends: list[tuple[int, int]]) -> Iterator[NightFate]:
    trials = len(expanded(_STEPS, REPETITIONS, "interleaved"))
    whole = {number: Fate(State.FINISHED, "", trials) for number in range(len(ends))}
    unbegun = {ends.index(_UNBEGUN): Fate(State.NONSTART, BUSY_REASON, 0, attempts=BUSY_ATTEMPTS)}
    for night in range(NIGHTS):
        if night == _GAP:
            yield NightFate(night, {}, SLOT_REASON)
        else:
            yield NightFate(night, {**whole, **(unbegun if night == NIGHTS - 1 else {})})


def _analyze() -> None:
    """Tell the planner what was written: the judging asks for a few rows of many."""
    tables = ", ".join(model._meta.db_table for model in (Run, Trial, Result, Series, RunFigure, RecentMedians))
    with connection.cursor() as cursor:
        cursor.execute(f"analyze {tables}")


def _make_limit(pair: Pair) -> None:
    """Make a limit that a pair kept in the nights before it fell."""
    series = Series.objects.get(
        pair=pair, kind=_LIMIT_KIND, metric=_LIMIT_METRIC, identity__message_size_bytes=_LIMITED_BYTES
    )
    before = RunFigure.objects.filter(series=series).order_by("-at").values_list("median", flat=True)
    values = ThresholdValues(
        f"{SAMPLE} limit",
        _LIMIT_KIND,
        _LIMIT_METRIC,
        "below",
        min(before[1:JUDGED_NIGHTS]) * _LIMIT_FACTOR,
        pair=pair,
        identity_digest=series.identity_digest,
    )
    threshold_create(values, by=None)


def _judge_night(run_ids: list[int], at: datetime) -> None:
    """Judge a night's runs in the order in which they ended."""
    for run_id in Run.objects.filter(pk__in=run_ids).order_by("finished_at", "pk").values_list("pk", flat=True):
        RunJudgement.objects.create(run_id=run_id, queued_at=at, is_told=False)
        judge_run(run_id)


def _date_alerts(began: datetime, at: datetime) -> None:
    """Date what was judged since by the night that it is of."""
    its = Alert.objects.filter(plan__is_synthetic=True)
    for name in ("created_at", "opened_at", "ended_at"):
        its.filter(**{f"{name}__gte": began}).update(**{name: at})
    AlertTransition.objects.filter(alert__in=its, at__gte=began).update(at=at)
