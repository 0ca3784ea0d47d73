"""Delete runs, and hosts with all they have: asked for by an admin, or an import by who made it; done by the tick.

A run goes with its trials, results, points, baselines and its parts in alerts; frozen share links stay. Figures over
nights and over latest runs are made anew without it. With an import go the series that nothing else has points in.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import DatabaseError, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.accounts.permissions import Permission, access_of
from benchweb.common.refusals import RefusedWrite
from benchweb.hosts.models import Host, Pair
from benchweb.imports.models import Import
from benchweb.ops.models import Removal
from benchweb.ops.removal.rows import rows_delete
from benchweb.regressions.models import Alert, AlertSeries, Baseline, SeriesNoise, Threshold
from benchweb.reports.models import ReportRun
from benchweb.results import nightly_summaries as nights
from benchweb.results.models import Point, RunFigure, Series
from benchweb.results.run_summaries import recent_make_anew
from benchweb.runs.models import OPEN_STATES, Campaign, Resource, Run
from benchweb.runs.services import runs_cancel
from benchweb.schedules.models import Schedule

# Of so many each batch takes some tenths of a second: points of a run are a thousand.
RUNS_AT_ONCE = 5
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RemovalLosses:
    """What goes with something that is deleted."""

    runs: int
    pairs: int
    points: int
    imports: int
    # Parts go of these.
    alerts: int
    # These are about the host, its endpoints or pairs, and go whole.
    host_alerts: int
    baselines: int
    report_entries: int
    thresholds: int
    # Of imports: what nothing else has points in.
    series: int


def run_losses(run: Run) -> RemovalLosses:
    """Count what goes with a run."""
    return _losses(Run.objects.filter(pk=run.pk), Pair.objects.none(), Alert.objects.none())


def host_losses(host: Host) -> RemovalLosses:
    """Count what goes with a host."""
    pairs = _pairs_of(host.pk)
    alerts = Alert.objects.filter(Q(host=host) | Q(endpoint__host=host) | Q(pair__in=pairs))
    return _losses(Run.objects.filter(pair__in=pairs), pairs, alerts)


def _losses(runs: QuerySet[Run], pairs: QuerySet[Pair], alerts: QuerySet[Alert]) -> RemovalLosses:
    return RemovalLosses(
        runs=runs.count(),
        pairs=pairs.count(),
        points=Point.objects.filter(run__in=runs).count(),
        imports=Import.objects.filter(run__in=runs).count(),
        alerts=_parts_of(runs).exclude(alert__in=alerts).values("alert").distinct().count(),
        host_alerts=alerts.count(),
        baselines=Baseline.objects.filter(run__in=runs).count(),
        report_entries=ReportRun.objects.filter(run__in=runs).count(),
        thresholds=Threshold.objects.filter(pair__in=pairs).count(),
        series=_series_of_imports_alone(runs).count(),
    )


@transaction.atomic
def run_remove(run: Run, *, typed: str) -> Removal:
    """Have a run deleted; raise RefusedWrite unless it is over and its number was typed."""
    if run.state in OPEN_STATES:
        raise RefusedWrite("", _("Run {number} has not ended: cancel it first.").format(number=run.pk))
    if typed.strip() != str(run.pk):
        raise RefusedWrite("typed", _("Type {name} to delete it.").format(name=run.pk))
    return _request(Removal.Removed.RUN, run.pk, _("run {number}").format(number=run.pk))


def import_take_back(imported: Import, *, user: User, typed: str) -> Removal:
    """Have an import deleted with its run and series; raise RefusedWrite unless an admin or who made it asks."""
    if not access_of(user).may(Permission.ADMIN):
        if imported.created_by_id != user.pk:
            raise RefusedWrite("", _("Only who imported it and admins take an import back."))
        if _is_relied_on(imported.run_id):
            raise RefusedWrite(
                "", _("Others rely on it, by a baseline, a report, an alert or a noise: only admins delete it.")
            )
    return run_remove(imported.run, typed=typed)


def _is_relied_on(run_id: int) -> bool:
    """Tell whether something goes with an imported run that others may have made."""
    runs = Run.objects.filter(pk=run_id)
    return (
        Baseline.objects.filter(run=run_id).exists()
        or ReportRun.objects.filter(run=run_id).exists()
        or _parts_of(runs).exists()
        or SeriesNoise.objects.filter(series__in=_series_of_imports_alone(runs)).exists()
    )


@transaction.atomic
def host_remove(host: Host, *, typed: str) -> Removal:
    """Have an archived host deleted with all it has; raise RefusedWrite unless its name was typed."""
    if host.archived_at is None:
        raise RefusedWrite("", _("{host} is in use: archive it first.").format(host=host.name))
    if typed.strip() != host.name:
        raise RefusedWrite("typed", _("Type {name} to delete it.").format(name=host.name))
    open_runs = Run.objects.filter(pair__in=_pairs_of(host.pk), state__in=OPEN_STATES)
    runs_cancel(run_ids=list(open_runs.values_list("pk", flat=True)))
    return _request(Removal.Removed.HOST, host.pk, host.name)


def _request(what: str, of: int, name: str) -> Removal:
    values = {"name": name, "requested_at": timezone.now()}
    return Removal.objects.get_or_create(what=what, of=of, defaults=values)[0]


def removals_open() -> QuerySet[Removal]:
    """Return what is being deleted, the oldest request first."""
    return Removal.objects.filter(finished_at=None).order_by("pk")


def remove_some() -> int:
    """Do one batch of the oldest removal that can go on; return how many runs went. For the tick."""
    for removal in removals_open():
        try:
            runs = _batch(removal)
        except DatabaseError:
            _log.exception("%s can't be deleted yet", removal.name)
            continue
        if runs is not None:
            return runs
    return 0


@transaction.atomic
def _batch(removal: Removal) -> int | None:
    """Delete some runs, or what is left after the last; return how many went, None where it can't go on now."""
    # Before the tables, as all that sums up has it; a tick that has it now comes again.
    if not nights.take_lock():
        return 0
    if _is_restored(removal):
        Removal.objects.filter(pk=removal.pk).delete()
        return None
    runs = _runs_of(removal)
    ids = list(runs.exclude(state__in=OPEN_STATES).order_by("-pk").values_list("pk", flat=True)[:RUNS_AT_ONCE])
    if ids:
        _delete_runs(ids)
        Removal.objects.filter(pk=removal.pk).update(runs=F("runs") + len(ids))
    elif runs.exists():
        return None
    else:
        if removal.what == Removal.Removed.HOST:
            _delete_host(removal.of)
        Removal.objects.filter(pk=removal.pk).update(finished_at=timezone.now())
    return len(ids)


def _is_restored(removal: Removal) -> bool:
    """Tell whether a host is in use again, and leave it so until the batch has ended."""
    if removal.what != Removal.Removed.HOST:
        return False
    return Host.objects.select_for_update(no_key=True).filter(pk=removal.of, archived_at=None).first() is not None


def _runs_of(removal: Removal) -> QuerySet[Run]:
    if removal.what == Removal.Removed.RUN:
        return Run.objects.filter(pk=removal.of)
    return Run.objects.filter(pair__in=_pairs_of(removal.of))


def _pairs_of(host_id: int) -> QuerySet[Pair]:
    return Pair.objects.filter(Q(source__host=host_id) | Q(sink__host=host_id))


def _parts_of(runs: QuerySet[Run]) -> QuerySet[AlertSeries]:
    """Return the parts of alerts that go with runs: without its first bad run there is nothing to tell."""
    return AlertSeries.objects.filter(first_bad_run__in=runs)


def _delete_runs(ids: Sequence[int]) -> None:
    figures = RunFigure.objects.filter(run__in=ids).values_list("series", "at")
    ats: dict[int, list[object]] = {}
    for series_id, at in figures:
        ats.setdefault(series_id, []).append(at)
    campaigns = list(Run.objects.filter(pk__in=ids).values_list("campaign", flat=True))
    alerts = list(_parts_of(Run.objects.filter(pk__in=ids)).values_list("alert", flat=True))
    imported = set(_series_of_imports_alone(Run.objects.filter(pk__in=ids)).values_list("pk", flat=True))
    # Another part stays, and no longer names the run that it was still good in, or good again.
    AlertSeries.objects.filter(last_good_run__in=ids).update(last_good_run=None)
    AlertSeries.objects.filter(recovered_run__in=ids).update(recovered_run=None)
    rows_delete(Run, f"id in ({', '.join(map(str, ids))})", {})
    Campaign.objects.filter(pk__in=campaigns, runs=None, slot=None).delete()
    _delete_empty_alerts(alerts)
    series = Series.objects.select_related("pair").in_bulk(list(ats))
    recent_make_anew(sorted(series.keys() - _delete_empty_series(imported)))
    nights.mark_stale(series.values(), ats)  # type: ignore[arg-type]


def _series_of_imports_alone(runs: QuerySet[Run]) -> QuerySet[Series]:
    """Return the series of the imported among some runs that no other run has a point in."""
    points = Point.objects.filter(series=OuterRef("pk"))
    imports = Import.objects.filter(run__in=runs).values("run")
    of_imports = Series.objects.filter(pk__in=Point.objects.filter(run__in=imports).values("series"))
    return of_imports.filter(~Exists(points.exclude(run__in=runs)))


def _delete_empty_series(ids: Collection[int]) -> set[int]:
    """Delete series that nothing has a point in, once whoever writes into one has ended; return which."""
    locked = list(Series.objects.select_for_update().filter(pk__in=ids).order_by("pk").values_list("pk", flat=True))
    points = Point.objects.filter(series=OuterRef("pk"))
    empty = set(Series.objects.filter(~Exists(points), pk__in=locked).values_list("pk", flat=True))
    if empty:
        rows_delete(Series, f"id in ({', '.join(map(str, sorted(empty)))})", {})
    return empty


def _delete_empty_alerts(ids: Sequence[int]) -> None:
    """Delete alerts that have no part left, with those merged into them."""
    empty = Alert.objects.filter(pk__in=ids, series=None).values_list("pk", flat=True)
    if empty:
        rows_delete(Alert, f"id in ({', '.join(map(str, empty))})", {})


def _delete_host(host_id: int) -> None:
    pairs = list(_pairs_of(host_id).values_list("pk", flat=True))
    _leave_schedules(set(pairs))
    if pairs:
        rows_delete(Series, f"pair_id in ({', '.join(map(str, pairs))})", {})
        rows_delete(Pair, f"id in ({', '.join(map(str, pairs))})", {})
    rows_delete(Resource, f"host_id = {host_id:d}", {})
    rows_delete(Host, f"id = {host_id:d}", {})


def _leave_schedules(pairs: set[int]) -> None:
    """Take pairs out of schedules that name them one by one; one that has no other is archived."""
    for schedule in Schedule.objects.filter(target__has_key="pairs").select_for_update():
        left = [pair for pair in schedule.target["pairs"] if pair not in pairs]
        if left == schedule.target["pairs"]:
            continue
        if left:
            Schedule.objects.filter(pk=schedule.pk).update(target={"pairs": left})
        else:
            Schedule.objects.filter(pk=schedule.pk, archived_at=None).update(archived_at=timezone.now(), next_at=None)
