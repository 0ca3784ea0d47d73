"""Measure a suspect again, with controls beside it: is it the host, the pair, or was it chance?"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils import timezone

from benchweb.hosts.models import Pair
from benchweb.regressions import transitions
from benchweb.regressions.deciding import BAD_AGAIN_SHARE, LEAST_PAIRS_OF_HOST
from benchweb.regressions.judging.budget import make_room, most_needed_first, rerun_budget
from benchweb.regressions.judging.disturbance import disturbed_kinds
from benchweb.regressions.judging.findings import comparable_runs, is_as_before, suspect_finding
from benchweb.regressions.judging.grouping import describe, fell_alike, tell_of_new_measures
from benchweb.regressions.judging.histories import History, histories, slot_began_at
from benchweb.regressions.judging.joining import explaining_open_alert
from benchweb.regressions.judging.locks import lock_budget
from benchweb.regressions.judging.parts import join_alert, part_off
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.results.models import Series
from benchweb.runs.models import OPEN_STATES, Run
from benchweb.runs.queueing.occupancy import occupancy
from benchweb.runs.services import LaunchError, launch_version
from benchweb.schedules.defaults import DEFAULT_RETRIES, DEFAULT_RETRY_PAUSE_SECONDS
from benchweb.schedules.models import Schedule
from benchweb.schedules.timing.rules import rule_of
from benchweb.schedules.timing.times import closes_at

State, Verdict = Alert.State, Alert.RerunVerdict
# A re-run says something of the same night only.
PATIENCE = timedelta(hours=1)
# Suspects that time may still come for, in the same night.
SHORT_OF_TIME = ("budget_spent", "gave_way")
# More wait for the next run.
_MOST_WAITING = 10


def measure_again(found: Collection[Alert], run: Run) -> None:
    """Launch re-runs of the suspects that a run gave, and of those that wait for time; the most needed come first."""
    schedules = {alert.schedule_id for alert in found} | set(_schedules_of(run))
    waiting = Alert.objects.filter(
        schedule__in=schedules,
        environment=run.pair.environment_id,
        state=State.SUSPECT,
        unconfirmed_code__in=SHORT_OF_TIME,
        confirmation=None,
        created_at__gte=timezone.now() - PATIENCE,
    )
    new = Alert.objects.filter(pk__in=[alert.pk for alert in found], state=State.SUSPECT, confirmation=None)
    alerts = {alert.pk: alert for alert in (*waiting.order_by("-rank", "pk")[:_MOST_WAITING], *new)}
    for alert in most_needed_first(alerts.values()):
        confirm(alert, bad_run(alert, run))


def _schedules_of(run: Run) -> list[int]:
    """Return the schedule that a run is of, or those whose suspects it measures again."""
    confirmed = Alert.objects.filter(confirmation=run.campaign_id).values("schedule")
    is_its = Q(slots__campaign=run.campaign_id) | Q(pk__in=confirmed)
    return list(Schedule.objects.filter(is_its).values_list("pk", flat=True).distinct())


def bad_run(alert: Alert, run: Run | None = None) -> Run:
    """Return the run that shows what is to be measured again: a given one, or the alert's first where it isn't its."""
    parts = alert.series.filter(recovered_run=None).select_related(
        "first_bad_run__pair__source__host", "first_bad_run__pair__sink__host", "first_bad_run__plan_version"
    )
    runs = [part.first_bad_run for part in parts.order_by("pk")]
    return run if run is not None and (run in runs or not runs) else runs[0]


def confirm(alert: Alert, run: Run) -> bool:
    """Launch the re-run of a suspect with its controls, or note why there is none; True when launched."""
    now = timezone.now()
    schedule = alert.schedule
    if schedule is None or (code := _in_the_way(schedule)):
        return _note_unconfirmed(alert, "no_schedule" if schedule is None else code)
    seconds = occupancy(run.plan_version_id).seconds
    if (start_before := _start_before(schedule, now, seconds)) is None:
        return _note_unconfirmed(alert, "window_closed")
    controls = control_pairs(run)
    lock_budget(schedule.pk)
    asked_seconds = _took_seconds(run) * (1 + len(controls))
    has_room = rerun_budget(schedule).has_room(alert, asked_seconds)
    if not has_room and not make_room(alert, schedule, asked_seconds):
        return _note_unconfirmed(alert, alert.unconfirmed_code or "budget_spent")
    try:
        return launch_rerun(alert, run, controls, start_before=start_before)
    except LaunchError:
        return _note_unconfirmed(alert, "refused")


def launch_rerun(
    alert: Alert,
    run: Run,
    controls: Sequence[Pair],
    *,
    start_before: datetime,
    by: User | None = None,
    comment: str = "",
) -> bool:
    """Launch a run's pair again with controls, by itself or for somebody; its suspect is confirming from then on."""
    schedule = alert.schedule
    campaign = launch_version(
        version=run.plan_version,
        pairs=[run.pair, *controls],
        user=by,
        start_before=start_before,
        retries=schedule.retries if schedule else DEFAULT_RETRIES,
        retry_pause_seconds=schedule.retry_pause_seconds if schedule else DEFAULT_RETRY_PAUSE_SECONDS,
    )
    rerun = campaign.runs.get(pair=run.pair)
    AlertSeries.objects.filter(alert=alert, series__pair=run.pair_id, recovered_run=None).update(rerun=rerun)
    changes = {"confirmation": campaign, "unconfirmed_code": ""}
    params = {"campaign": campaign.pk}
    return transitions.move(alert.pk, State.CONFIRMING, by=by, comment=comment, changes=changes, params=params)


def conclude(campaign_id: int) -> bool:
    """Judge a confirmation once all of its runs are final and summed up; True when it was."""
    alert = Alert.objects.filter(confirmation=campaign_id, state=State.CONFIRMING).first()
    runs = Run.objects.filter(campaign=campaign_id)
    if alert is None or runs.filter(state__in=OPEN_STATES).exists() or runs.filter(has_figures=False).exists():
        return False
    lasting = alert.series.filter(rerun__campaign=campaign_id, recovered_run=None)
    parts = list(lasting.select_related("series__pair"))
    main = (
        runs.filter(pk__in={part.rerun_id for part in parts})
        .select_related("pair__source", "pair__sink", "plan_version")
        .first()
    )
    is_bad = _bad_again(main, {part.series_id: part for part in parts}) if main else {}
    if main is None or not is_bad:
        code = "disturbed" if main is not None and disturbed_kinds(main) else "rerun_failed"
        # The next run may still tell.
        alert.series.filter(rerun__campaign=campaign_id).update(rerun=None)
        return transitions.move(alert.pk, State.SUSPECT, changes={"unconfirmed_code": code})
    if not _is_bad_again(list(is_bad.values())):
        return _end_gone_alert(alert, main, is_bad)
    # Of a test that was disturbed, or gave nothing, the next run tells.
    lasting.exclude(series__kind__in=is_bad).update(rerun=None)
    if gone := [part for part in parts if is_bad.get(part.series.kind) is False]:
        _part_off_gone(alert, main, gone)
    if (known := explaining_open_alert(alert)) is not None and _join_known(alert, known):
        return True
    # Where several pairs fell together, they tell of their host too; what it measures alone is no answer of a re-run.
    is_by_canary = bool(alert.params.get("canary")) and alert.params.get("pairs") == 1
    again = [part for part in parts if is_bad.get(part.series.kind)]
    host_id = _host_at_fault(main, runs.exclude(pk=main.pk), again) or (None if is_by_canary else alert.host_id)
    changes: dict[str, Any] = {"verdict": Verdict.HOST if host_id else Verdict.PAIR, "host_id": host_id}
    if host_id:
        changes["severity"] = Alert.Severity.CRITICAL
    return transitions.move(alert.pk, State.OPEN, changes=changes)


def take_as_confirmation(run: Run, watched: Sequence[History], known: Mapping[int, Sequence[AlertSeries]]) -> None:
    """Take a later run of the same pair as the measurement of what was not measured again: by a slot or by hand.

    What is bad again is sure from then on; a suspect of which that is so of enough series is told.
    """
    again: dict[int, list[bool]] = defaultdict(list)
    alerts: dict[int, Alert] = {}
    waiting = [
        (history, part)
        for history in watched
        for part in known.get(history.series_id, ())
        if _waits_for_confirmation(part, history, run)
    ]
    disturbed = disturbed_kinds(run) if waiting else frozenset()
    for history, part in waiting:
        is_bad = not is_as_before(history, part, history.runs[history.places[run.pk]])
        if is_bad and history.kind in disturbed:
            continue
        if is_bad:
            AlertSeries.objects.filter(pk=part.pk).update(rerun=run)
        again[part.alert_id].append(is_bad)
        alerts[part.alert_id] = part.alert
    for alert_id, bad in again.items():
        alert = alerts[alert_id]
        if alert.state != State.SUSPECT or not _is_bad_again(bad):
            continue
        if (told := explaining_open_alert(alert)) is not None and _join_known(alert, told):
            continue
        describe(alert)
        transitions.move(alert_id, State.OPEN, changes={"unconfirmed_code": ""})


def _join_known(alert: Alert, known: Alert) -> bool:
    """Let a confirmed suspect be part of an alert that people know of; what is a new measure there is told.

    False where one of them was dealt with meanwhile.
    """
    parts = list(alert.series.filter(recovered_run=None).select_related("series"))
    if not join_alert(alert, known):
        return False
    describe(known)
    tell_of_new_measures(known, parts)
    return True


def _waits_for_confirmation(part: AlertSeries, history: History, run: Run) -> bool:
    """Tell whether one run alone showed a part of a live alert, and this is a later one."""
    is_suspected = part.p is None and part.rerun_id is None and part.recovered_run_id is None
    is_later = history.places.get(part.first_bad_run_id, -1) < history.places[run.pk]
    return is_suspected and part.alert.state in (State.SUSPECT, State.OPEN) and is_later


def _end_gone_alert(alert: Alert, main: Run, is_bad: Mapping[str, bool]) -> bool:
    """End an alert whose tests were gone when measured again; what else is in it is measured again next.

    Of a test that was disturbed or gave nothing, and of one among many that is bad again, the next run tells: the pair
    isn't measured at once for it, which might go on without end.
    """
    again = alert.series.filter(rerun=main, recovered_run=None)
    again.filter(series__kind__in=[kind for kind, is_again in is_bad.items() if not is_again]).update(
        recovered_run=main
    )
    again.update(rerun=None)
    left = alert.series.filter(recovered_run=None).select_related(
        "first_bad_run__pair__source__host", "first_bad_run__pair__sink__host", "first_bad_run__plan_version"
    )
    if not left.exists():
        return transitions.move(alert.pk, State.RECOVERED, changes={"verdict": Verdict.GONE})
    following = left.exclude(series__pair=main.pair_id).first()
    changes = {"confirmation": None} if following else {"unconfirmed_code": "in_doubt"}
    moved = transitions.move(alert.pk, State.SUSPECT, changes=changes)
    describe(alert)
    alert.refresh_from_db()
    if following is not None:
        confirm(alert, following.first_bad_run)
    return moved


def _part_off_gone(alert: Alert, main: Run, gone: Sequence[AlertSeries]) -> None:
    """Let the tests that were as before when measured again be an alert that nobody is told of, which has ended.

    Then they neither name nor join anything, and what later runs confirm of them is news.
    """
    AlertSeries.objects.filter(pk__in=[part.pk for part in gone]).update(recovered_run=main)
    apart = part_off(alert, gone, state=State.SUSPECT)
    describe(apart)
    transitions.move(apart.pk, State.RECOVERED, changes={"verdict": Verdict.GONE})
    describe(alert)
    alert.refresh_from_db()


def is_confirmation(run: Run) -> bool:
    """Tell whether a run was launched to measure a suspect again."""
    return Alert.objects.filter(confirmation=run.campaign_id).exists()


def _in_the_way(schedule: Schedule) -> str:
    """Return why a schedule has nothing measured again, as a code; empty where nothing is in the way."""
    if schedule.paused_at is not None or schedule.archived_at is not None:
        return "schedule_paused"
    return "" if schedule.rerun_percent else "reruns_off"


def _note_unconfirmed(alert: Alert, code: str) -> bool:
    """Write why a suspect is not measured again; several pairs of its host in one slot are their own control."""
    if alert.host_id is not None and _falling_pairs(alert) >= LEAST_PAIRS_OF_HOST:
        changes = {"unconfirmed_code": code, "verdict": Verdict.HOST}
        return transitions.move(alert.pk, State.OPEN, changes=changes)
    Alert.objects.filter(pk=alert.pk, state=State.SUSPECT).update(unconfirmed_code=code)
    return False


def _falling_pairs(alert: Alert) -> int:
    """Count the pairs of hosts that an alert's undisturbed runs show to be bad, both directions once."""
    parts = alert.series.filter(recovered_run=None).select_related(
        "series__pair__source", "series__pair__sink", "first_bad_run__plan_version"
    )
    disturbed = {run: disturbed_kinds(run) for run in {part.first_bad_run for part in parts}}
    return len(
        {
            frozenset(_host_ids(part.series.pair))
            for part in parts
            if part.series.kind not in disturbed[part.first_bad_run]
        }
    )


def _start_before(schedule: Schedule, now: datetime, seconds: float) -> datetime | None:
    """Return until when a re-run may begin; None where the schedule's window is closed, or closes too soon."""
    rule = rule_of(schedule)
    if rule.openings.opens_at(now) > now:
        return None
    closes = closes_at(rule, now)
    last = now + PATIENCE
    if closes is not None:
        last = min(last, closes - timedelta(seconds=seconds))
    return last if last > now else None


def _took_seconds(run: Run) -> float:
    """Return how long a run took, which its like will take again."""
    return (run.finished_at - run.started_at).total_seconds() if run.started_at and run.finished_at else 0.0


def control_pairs(run: Run) -> list[Pair]:
    """Return the reverse pair, and another pair of each host, of those that were measured beside the suspect.

    A host has the same end of the other pair where there is such a one: what a host sends may suffer alone.
    """
    pair = run.pair
    beside = Pair.objects.filter(runs__campaign=run.campaign_id, archived_at=None).exclude(pk=pair.pk)
    others = list(beside.select_related("source__host", "sink__host", "environment").order_by("pk"))
    controls = [other for other in others if (other.source_id, other.sink_id) == (pair.sink_id, pair.source_id)]
    sends, receives = pair.source.host_id, pair.sink.host_id
    controls += sorted(_pairs_apart(others, sends, receives), key=lambda pair: pair.source.host_id != sends)[:1]
    controls += sorted(_pairs_apart(others, receives, sends), key=lambda pair: pair.sink.host_id != receives)[:1]
    return controls


def _pairs_apart(pairs: Sequence[Pair], host_id: int, other_id: int) -> list[Pair]:
    """Return the pairs that have the one host and not the other."""
    return [pair for pair in pairs if host_id in _host_ids(pair) and other_id not in _host_ids(pair)]


def _host_ids(pair: Pair) -> set[int]:
    return {pair.source.host_id, pair.sink.host_id}


def _bad_again(main: Run, parts: Mapping[int, AlertSeries]) -> dict[str, bool]:
    """Tell of each test whether its suspect series are bad again; one that gave none of them undisturbed isn't there.

    Tests are asked apart: packets may be lost where streams, with their own ways to mend it, only sometimes fall.
    """
    bad: dict[str, list[bool]] = defaultdict(list)
    disturbed = disturbed_kinds(main)
    for history in histories(parts):
        index = history.places.get(main.pk)
        if index is None:
            continue
        is_bad = not is_as_before(history, parts[history.series_id], history.runs[index])
        if not (is_bad and history.kind in disturbed):
            bad[history.kind].append(is_bad)
    return {kind: _is_bad_again(of_kind) for kind, of_kind in bad.items()}


def _are_bad_again(bad: Mapping[str, Sequence[bool]]) -> bool:
    """Tell whether enough tests are bad again, each by its series: of many that one run upset, one may be by chance."""
    return _is_bad_again([_is_bad_again(of_kind) for of_kind in bad.values()])


def _is_bad_again(bad: Sequence[bool]) -> bool:
    return sum(bad) >= BAD_AGAIN_SHARE * len(bad)


def _host_at_fault(main: Run, controls: "QuerySet[Run, Run]", parts: Sequence[AlertSeries]) -> int | None:
    """Return the one host whose other pair is bad too; None where the pair alone is, or both hosts' are."""
    hosts = _host_ids(main.pair)
    bad = set()
    for control in controls.select_related("pair__source", "pair__sink", "plan_version"):
        shared = hosts & _host_ids(control.pair)
        # The pair in the other direction has both hosts, and tells neither.
        if len(shared) == 1 and _is_bad(control, parts):
            bad |= shared
    return bad.pop() if len(bad) == 1 else None


def _is_bad(control: Run, parts: Sequence[AlertSeries]) -> bool:
    """Tell whether the same measures of a control's test stand out from its own runs before, as the suspect's do."""
    wanted = {(part.series.kind, part.series.metric, part.series.identity_digest): part for part in parts}
    its = Series.objects.filter(pair=control.pair_id, kind__in={kind for kind, _, _ in wanted})
    measures = {series.pk: (series.kind, series.metric, series.identity_digest) for series in its}
    ids = [pk for pk, measure in measures.items() if measure in wanted]
    known = defaultdict(list)
    # What it shares with this alert is what is asked; what other alerts tell of is left out, or the level.
    others = AlertSeries.objects.filter(series__in=ids).exclude(alert__in={part.alert_id for part in parts})
    for part in others.order_by("-pk"):
        known[part.series_id].append(part)
    disturbed, began = disturbed_kinds(control), slot_began_at({part.first_bad_run_id for part in parts})
    until_control = [
        history.of_slot(control.pk, began, known[history.series_id])
        for history in histories(ids)
        if control.pk in history.places and history.kind not in disturbed
    ]
    bad: dict[str, list[bool]] = defaultdict(list)
    for history in until_control:
        if len(comparable_runs(history, known[history.series_id])) > 1:
            found = suspect_finding(history, control.pk, known[history.series_id])
            bad[history.kind].append(found is not None and fell_alike(found, wanted[measures[history.series_id]]))
    return bool(bad) and _are_bad_again(bad)
