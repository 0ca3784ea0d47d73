"""The time that a schedule has for re-runs: how much is left, who needs it most, and who gives way."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from benchweb.catalog.reasons import Reason
from benchweb.common.rows import fetch, literals
from benchweb.regressions import transitions
from benchweb.regressions.deciding import VERDICT_LOOK_BACK
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.runs.models import OPEN_STATES, Run
from benchweb.runs.models import State as RunState
from benchweb.runs.queueing.endings import end_pending
from benchweb.runs.queueing.occupancy import occupancy
from benchweb.schedules.models import Schedule

State = Alert.State
_SPAN = timedelta(days=1)
# What a person launched takes nothing, nor does what gave way before it began.
_RERUNS = f"""
    WITH launched AS (
      SELECT (step.params ->> 'campaign')::bigint AS campaign, alert.id AS alert,
        alert.severity = 'critical' AS is_critical
      FROM regressions_alerttransition step JOIN regressions_alert alert ON alert.id = step.alert_id
      WHERE alert.schedule_id = %(schedule)s AND step.to_state = 'confirming' AND step.by_id IS NULL
        AND step.at >= %(since)s AND step.params ? 'campaign'
    ), reruns AS (
      SELECT launched.campaign, launched.alert, launched.is_critical, run.plan_version_id AS plan_version,
        coalesce(sum(extract(epoch FROM run.finished_at - run.started_at)), 0)::float AS taken_seconds,
        count(*) FILTER (WHERE run.state IN ({literals(OPEN_STATES)})) AS open_runs
      FROM launched JOIN runs_run run ON run.campaign_id = launched.campaign
      WHERE run.state <> 'cancelled' OR run.started_at IS NOT NULL
      GROUP BY 1, 2, 3, 4
    ), own AS (
      SELECT coalesce(sum(extract(epoch FROM run.finished_at - run.started_at)), 0)::float AS own_seconds
      FROM runs_run run JOIN schedules_slot slot ON slot.campaign_id = run.campaign_id
      WHERE slot.schedule_id = %(schedule)s AND run.finished_at >= %(since)s
    )
    SELECT * FROM own LEFT JOIN reruns ON true ORDER BY campaign
"""  # noqa: S608  (states of our own)


@dataclass(frozen=True)
class RerunBudget:
    """What a schedule's re-runs may take in a day, and have taken; all by what runs took, not by what was planned.

    The first alert of a day always may be measured again, and the first critical one, beyond the share: a small outlier
    must not keep a large fall from it, nor these two the next fall.
    """

    allowed_seconds: float
    # Taken, or held by those under way.
    spent_seconds: float
    is_first_left: bool
    is_critical_left: bool
    # Those two, once they are known.
    free_alerts: frozenset[int | None]

    @property
    def left_seconds(self) -> float:
        return max(0.0, self.allowed_seconds - self.spent_seconds)

    def has_room(self, alert: Alert, seconds: float) -> bool:
        """Tell whether a re-run of an alert, which takes so many seconds, may be."""
        is_critical_free = self.is_critical_left and alert.severity == Alert.Severity.CRITICAL
        is_free = self.is_first_left or is_critical_free or alert.pk in self.free_alerts
        return is_free or seconds <= self.allowed_seconds - self.spent_seconds


@dataclass(frozen=True)
class _Rerun:
    """A campaign of re-runs beside the time that the schedule's own runs took; all of it None where there is none."""

    own_seconds: float
    campaign: int | None
    alert: int | None
    is_critical: bool | None
    plan_version: int | None
    taken_seconds: float | None
    open_runs: int | None

    @property
    def spent_seconds(self) -> float:
        held = occupancy(self.plan_version).seconds * self.open_runs if self.plan_version and self.open_runs else 0.0
        return (self.taken_seconds or 0.0) + held


def rerun_budget(schedule: Schedule) -> RerunBudget:
    """Return a schedule's time for re-runs as it is now; one query, and one for each plan version under way."""
    return _budget(schedule, _reruns(schedule))


def _reruns(schedule: Schedule) -> list[_Rerun]:
    return fetch(_Rerun, _RERUNS, {"schedule": schedule.pk, "since": timezone.now() - _SPAN})


def _budget(schedule: Schedule, rows: Sequence[_Rerun], giving: Collection[int] = ()) -> RerunBudget:
    """Return the budget by what was launched, as it would be without some campaigns."""
    launched = [rerun for rerun in rows if rerun.campaign is not None and rerun.campaign not in giving]
    large = [rerun for rerun in launched if rerun.is_critical]
    free = frozenset(rerun.alert for rerun in (*launched[:1], *large[:1]))
    return RerunBudget(
        allowed_seconds=schedule.rerun_percent / 100 * rows[0].own_seconds,
        spent_seconds=sum(rerun.spent_seconds for rerun in launched if rerun.alert not in free),
        is_first_left=not launched,
        is_critical_left=not large,
        free_alerts=free,
    )


def most_needed_first(alerts: Collection[Alert]) -> list[Alert]:
    """Return alerts in the order in which they are measured again: by severity, new before known, then by size."""
    if len(alerts) < 2:
        return list(alerts)
    ids = [alert.pk for alert in alerts]
    since = min(alert.begun_at for alert in alerts) - VERDICT_LOOK_BACK
    told = AlertSeries.objects.filter(alert__opened_at__isnull=False, alert__begun_at__gte=since).exclude(alert__in=ids)
    own = AlertSeries.objects.filter(alert__in=ids, series__in=told.values("series"))
    known = set(own.values_list("alert", flat=True))

    def need(alert: Alert) -> tuple[int, bool, float, int]:
        return -Alert.Severity(alert.severity).rank, alert.pk in known, -alert.rank, alert.pk

    return sorted(alerts, key=need)


def make_room(alert: Alert, schedule: Schedule, seconds: float) -> bool:
    """Let re-runs that have not begun give way to one that is needed more; True where there is room for it then.

    The alerts that they were to confirm are suspects again. Where all of them would not make room, none gives way.
    """
    confirming = Alert.objects.filter(schedule=schedule, environment=alert.environment_id, state=State.CONFIRMING)
    confirming = confirming.filter(confirmation__isnull=False, confirmation__created_by=None)
    in_order = most_needed_first([alert, *confirming])
    lesser = in_order[in_order.index(alert) + 1 :]
    runs = Run.objects.select_for_update().filter(campaign__in=[each.confirmation_id for each in lesser])
    by_campaign: dict[int, list[Run]] = defaultdict(list)
    for run in runs.order_by("pk"):
        by_campaign[run.campaign_id].append(run)
    rows = _reruns(schedule)
    giving: dict[int, Alert] = {}
    for each in reversed(lesser):
        campaign = each.confirmation_id or 0
        if any(run.state != RunState.PENDING for run in by_campaign[campaign]):
            continue
        giving[campaign] = each
        if _budget(schedule, rows, giving).has_room(alert, seconds):
            for number, given in giving.items():
                _give_way(given, by_campaign[number])
            return True
    return False


def _give_way(alert: Alert, runs: Sequence[Run]) -> None:
    end_pending(
        {run.pk: Reason("rerun_gave_way") for run in runs},
        RunState.CANCELLED,
        why_trials=Reason("run_cancelled"),
        even_held=True,
    )
    AlertSeries.objects.filter(rerun__in=runs).update(rerun=None)
    changes = {"confirmation": None, "unconfirmed_code": "gave_way"}
    transitions.move(alert.pk, State.SUSPECT, changes=changes, params={"code": "gave_way"})
