"""Let a sample of each kind of alert be in the last nights of a history, and find them as in a measured one."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from django.db.models import Q

from benchweb.catalog.reasons import Reason, reason_fields
from benchweb.hosts.models import Endpoint
from benchweb.ops.synthetic.fates import Fate, away_reason
from benchweb.ops.synthetic.scene import MESH_HOSTS, NAME, host_name
from benchweb.ops.synthetic.script import Script
from benchweb.ops.synthetic.stories import PairNight
from benchweb.regressions.absence.alerts import open_once
from benchweb.regressions.absence.endpoints import open_unreachable
from benchweb.regressions.absence.missing import check_absences
from benchweb.regressions.deciding import LATEST_SLOTS
from benchweb.regressions.judge import judge_run
from benchweb.regressions.models import Alert, RunJudgement
from benchweb.regressions.signals import untold
from benchweb.regressions.thresholds.rules import ThresholdValues, threshold_create
from benchweb.results.models import RunFigure
from benchweb.runs.models import Run, State
from benchweb.schedules.models import SKIPPED, Schedule, Slot

# A mesh of four hosts beside both matrices of network modes: fewer pairs have no host that falls with all of its own.
LEAST_PAIRS, LEAST_DAYS = 30, 24
# Long enough for a change to be told; as many as a minute or so can judge.
JUDGED_NIGHTS = 9
# Places in the list of pairs: of the first matrix, of the second one, and hosts of the mesh.
_CHANGED, _LIMITED, _SILENT = 0, 4, 13
_FALLEN_HOST, _AWAY_HOST = 5, 6
_FALLEN_NIGHTS = 3
_CALM_DEVIATION = 0.004
# Further above what was than noise goes.
_LIMIT_FACTOR = 1.05
_SKIPPED_REASON = Reason("slot_skipped_behind_slot")


def with_samples(script: Script) -> Script:
    """Let a host fall, a pair change, others break a limit or receive nothing, and a host be away."""
    nights, trials = len(script.nights), len(script.trials)
    fallen, away = _pairs_of_host(script, _FALLEN_HOST), _pairs_of_host(script, _AWAY_HOST)
    slow = {
        _CHANGED: (range(nights - 5, nights), 0.85),
        _LIMITED: (range(nights - 1, nights), 0.8),
        **dict.fromkeys(fallen, (range(nights - _FALLEN_NIGHTS, nights), 0.7)),
    }
    stories, fates = list(script.pair_stories), list(script.fates)
    for number, (span, factor) in slow.items():
        # Calm but for that, whatever else the script had for it: a sample is to be found for any seed.
        its = (_calm_night(factor if night in span else 1.0) for night in range(nights))
        stories[number] = replace(stories[number], nights=tuple(its))
    fine, empty = Fate(State.FINISHED, "", trials), Fate(State.FINISHED, "", trials, is_empty=True)
    gone = Fate(State.NONSTART, away_reason(host_name(_AWAY_HOST)), 0, attempts=1)
    # In each night: who joined late, or missed these nights, would show nothing.
    for place in range(-len(fates), 0):
        runs = dict(fates[place].runs) | dict.fromkeys((_SILENT, *slow), fine)
        runs |= {_SILENT: empty} if place >= -2 else {}
        runs |= dict.fromkeys(away, gone) if place == -1 else {}
        fates[place] = replace(fates[place], runs=runs, reason="")
    return replace(script, pair_stories=stories, fates=fates)


def _pairs_of_host(script: Script, host: int) -> list[int]:
    return [number for number, pair in enumerate(script.planned) if host in (pair.source.host, pair.sink.host)]


def _calm_night(speed: float) -> PairNight:
    return PairNight(speed, 1 / speed, _CALM_DEVIATION)


def judge_samples(tell: Callable[[str], None] = lambda _text: None) -> int:
    """Judge the last nights of the newest synthetic schedule, oldest first, and what is missing; return the alerts.

    Nobody is told. What was judged before stays as it is.
    """
    before = Alert.objects.count()
    schedule = Schedule.objects.filter(plan__is_synthetic=True, name=f"{NAME} nightly").latest("pk")
    slots = schedule.slots.order_by("-at")[:JUDGED_NIGHTS]
    first = min(slot.at for slot in slots)
    runs = Run.objects.filter(campaign__slot__schedule=schedule, finished_at__gte=first, has_figures=True)
    with untold():
        _make_threshold(schedule)
        for number, run_id in enumerate(runs.order_by("finished_at", "pk").values_list("pk", flat=True)):
            RunJudgement.objects.get_or_create(run_id=run_id, defaults={"queued_at": first, "is_told": False})
            judge_run(run_id)
            if number % 100 == 99:
                tell(f"judged {number + 1:,} runs")
        _make_absences(schedule)
    return Alert.objects.count() - before


def _make_threshold(schedule: Schedule) -> None:
    """Make a limit that a pair kept in all judged nights but the last."""
    figures = RunFigure.objects.filter(
        series__pair=schedule.target["pairs"][_LIMITED],
        series__kind="tcp_rr",
        series__metric="latency_p99_seconds",
    ).select_related("series__pair")
    before = list(figures.order_by("-at")[1:JUDGED_NIGHTS])
    if not before:
        return
    values = ThresholdValues(
        name=f"{NAME} limit",
        kind="tcp_rr",
        metric="latency_p99_seconds",
        relation="above",
        limit=max(figure.median for figure in before) * _LIMIT_FACTOR,
        pair=before[0].series.pair,
    )
    threshold_create(values, by=None)


def _make_absences(schedule: Schedule) -> None:
    """Let an endpoint be silent since the last night, a schedule be late, and another skip slots again and again."""
    last = schedule.slots.latest("at")
    away = Endpoint.objects.filter(host__is_synthetic=True, host__name=host_name(_AWAY_HOST))
    pairs = schedule.target["pairs"]
    its = away.filter(Q(pairs_as_source__in=pairs) | Q(pairs_as_sink__in=pairs)).select_related("host")
    for endpoint in its.distinct():
        Endpoint.objects.filter(pk=endpoint.pk, unreachable_since=None).update(
            unreachable_since=last.at, **reason_fields("status_reason", away_reason(endpoint.host.name))
        )
        endpoint.refresh_from_db()
        open_unreachable(endpoint)
    _make_skipping(schedule, last.claimed_at)
    check_absences()
    key = f"{schedule.pk}:{last.at:%Y%m%dT%H%M%S}"
    open_once(code="late", key=key, begun_at=last.at, schedule=schedule, plan_id=schedule.plan_id)


def _make_skipping(schedule: Schedule, until: datetime) -> None:
    often = Schedule.objects.create(
        name=f"{NAME} too often",
        plan=schedule.plan,
        target={"pairs": schedule.target["pairs"][:MESH_HOSTS]},
        every="PT10M",
        starts_at=until,
        paused_at=schedule.paused_at,
    )
    for number in range(LATEST_SLOTS):
        at = until + timedelta(minutes=10 * number)
        Slot.objects.create(
            schedule=often, at=at, state=SKIPPED, claimed_at=at, **reason_fields("reason", _SKIPPED_REASON)
        )
