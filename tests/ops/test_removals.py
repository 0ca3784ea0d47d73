"""Admins delete a run, or a host with all it has: named, confirmed, audited; nothing else changes."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.test import Client
from django.utils import timezone

from benchweb.accounts.audit.models import AuditEntry
from benchweb.common.refusals import RefusedWrite
from benchweb.hosts.models import Endpoint, Host, Pair
from benchweb.hosts.services import archive, restore
from benchweb.ops.models import Removal
from benchweb.ops.removal import removals
from benchweb.ops.removal.removals import host_losses, host_remove, remove_some, run_losses, run_remove
from benchweb.regressions.models import Alert, Threshold
from benchweb.reports.models import Report, ReportRun
from benchweb.results import nightly_summaries, run_summaries
from benchweb.results.models import EnvironmentNights, Point, RecentMedians, Result, RunFigure, Series
from benchweb.runs.models import Run, State
from benchweb.schedules.models import Schedule
from benchweb.sharing.models import Share
from benchweb.sharing.services import share_create
from tests.factories import make_endpoint, make_pair, make_plan, make_run, make_schedule
from tests.regressions.judged import judged

pytestmark = pytest.mark.django_db


@pytest.fixture
def pairs() -> tuple[Pair, Pair]:
    """Return two pairs of the same sink, each with ten nights; the first has an alert from its last two on."""
    sink = make_endpoint()
    first, second = (make_pair(source=make_endpoint(), sink=sink) for _ in range(2))
    judged(first, [1.0] * 12 + [0.7] * 2)
    judged(second, [1.0] * 3)
    run_summaries.rebuild()
    return first, second


def summed_up() -> tuple[list[Any], list[Any]]:
    """Return what is summed up of runs."""
    recent = [
        (row.series_id, row.runs, row.medians, row.median, row.n, row.score)
        for row in RecentMedians.objects.order_by("pk")
    ]
    nights = [
        (row.kind, row.metric, row.nights, row.medians, row.pairs) for row in EnvironmentNights.objects.order_by("pk")
    ]
    return recent, nights


def done() -> None:
    while Removal.objects.filter(finished_at=None).exists():
        remove_some()


def test_a_run_goes_with_all_it_gave_and_sums_are_as_if_it_had_never_been(pairs: tuple[Pair, Pair]) -> None:
    run = pairs[0].runs.order_by("-pk")[3]
    share, _ = share_create(run=run, user=None, expires_at=None, anonymise=False)
    others = Point.objects.exclude(run=run).count()
    losses = run_losses(run)
    assert (losses.runs, losses.points) == (1, Point.objects.filter(run=run).count())
    run_remove(run, typed=f" {run.pk} ")
    done()
    assert not Run.objects.filter(pk=run.pk).exists()
    assert Point.objects.count() == others
    assert Result.objects.filter(trial__run=run.pk).count() == RunFigure.objects.filter(run=run.pk).count() == 0
    assert Share.objects.get(pk=share.pk).run is None
    EnvironmentNights.objects.update(made_at=None)
    nightly_summaries.make()
    after = summed_up()
    run_summaries.rebuild()
    assert after[0] == summed_up()[0]
    assert [row[2:] for row in after[1]] == [row[2:] for row in summed_up()[1]]


def test_an_alert_that_has_no_part_left_goes_too(pairs: tuple[Pair, Pair]) -> None:
    alert = Alert.objects.get()
    run = alert.series.get().first_bad_run
    assert run_losses(run).alerts == 1
    run_remove(run, typed=str(run.pk))
    done()
    assert not Alert.objects.exists()


def test_an_alert_outlives_the_run_that_was_still_good_or_good_again(pairs: tuple[Pair, Pair]) -> None:
    alert = Alert.objects.get()
    part = alert.series.get()
    good, again = part.last_good_run, pairs[0].runs.latest("pk")
    assert good is not None
    assert again != part.first_bad_run
    alert.series.update(recovered_run=again)
    for run in (good, again):
        assert run_losses(run).alerts == 0
        run_remove(run, typed=str(run.pk))
    done()
    part.refresh_from_db()
    assert (part.alert, part.last_good_run, part.recovered_run) == (alert, None, None)


def test_a_host_goes_with_its_pairs_and_runs_in_batches_and_others_stay(pairs: tuple[Pair, Pair]) -> None:
    host = pairs[0].source.host
    kept = list(pairs[1].runs.order_by("pk"))
    plan = make_plan(name="short")
    alone = make_schedule(plan=plan, target={"pairs": [pairs[0].pk]})
    both = make_schedule(name="both", plan=plan, target={"pairs": [pair.pk for pair in pairs]})
    archive(row=host)
    host.refresh_from_db()
    assert host_losses(host).pairs == 1
    host_remove(host, typed=host.name)
    assert remove_some() == removals.RUNS_AT_ONCE
    assert Removal.objects.get().runs == removals.RUNS_AT_ONCE
    done()
    assert not Host.objects.filter(pk=host.pk).exists()
    assert not Endpoint.objects.filter(pk=pairs[0].source_id).exists()
    assert list(Run.objects.order_by("pk")) == kept
    assert not Series.objects.filter(pair=pairs[0].pk).exists()
    alone.refresh_from_db()
    both.refresh_from_db()
    assert alone.archived_at is not None
    assert (both.target, both.archived_at) == ({"pairs": [pairs[1].pk]}, None)
    assert Removal.objects.get().runs == 14


def test_entries_of_reports_thresholds_and_alerts_are_counted(pairs: tuple[Pair, Pair], client: Client) -> None:
    run = pairs[0].runs.latest("pk")
    report = Report.objects.create(title="since spring")
    ReportRun.objects.create(report=report, run=run, position=0)
    limit = {"kind": "tcp_stream", "metric": "throughput", "relation": "below", "limit": 1.0, "severity": "warning"}
    Threshold.objects.create(name="enough", pair=pairs[0], **limit)
    assert run_losses(run).report_entries == 1
    assert run_losses(run).thresholds == run_losses(run).host_alerts == 0
    host = pairs[0].source.host
    Alert.objects.update(pair=pairs[0])
    losses = host_losses(host)
    assert (losses.report_entries, losses.thresholds, losses.host_alerts, losses.alerts) == (1, 1, 1, 0)
    client.force_login(User.objects.create_superuser("ada", "ada@example.org"))
    text = client.get(f"/hosts/{host.pk}/delete").content.decode()
    assert "1 alert, 1 entry of reports, 1 threshold" in text


def test_what_is_in_use_or_not_named_is_refused_and_stays(pairs: tuple[Pair, Pair]) -> None:
    host, run = pairs[0].source.host, pairs[0].runs.latest("pk")
    waiting = make_run(pair=pairs[1], name="waits")
    with pytest.raises(RefusedWrite, match="has not ended: cancel it first"):
        run_remove(waiting, typed=str(waiting.pk))
    with pytest.raises(RefusedWrite, match=f"Type {run.pk} to delete it"):
        run_remove(run, typed="")
    with pytest.raises(RefusedWrite, match="is in use: archive it first"):
        host_remove(host, typed=host.name)
    archive(row=host)
    host.refresh_from_db()
    with pytest.raises(RefusedWrite, match=f"Type {host.name} to delete it"):
        host_remove(host, typed=host.name.upper() + "?")
    assert remove_some() == 0
    assert not Removal.objects.exists()


def test_open_runs_of_a_host_are_cancelled_and_awaited(pairs: tuple[Pair, Pair]) -> None:
    host = pairs[0].source.host
    run = make_run(pair=pairs[0], name="waits")
    Run.objects.filter(pk=run.pk).update(state=State.RUNNING, started_at=timezone.now())
    archive(row=host)
    host.refresh_from_db()
    host_remove(host, typed=host.name)
    for _ in range(10):
        remove_some()
    assert list(Run.objects.filter(pair=pairs[0])) == [run]
    Run.objects.filter(pk=run.pk).update(state=State.CANCELLED, finished_at=timezone.now())
    done()
    assert not Host.objects.filter(pk=host.pk).exists()


def test_a_removal_that_waits_holds_no_other_up(pairs: tuple[Pair, Pair]) -> None:
    host, other = pairs[0].source.host, pairs[1].runs.latest("pk")
    run = make_run(pair=pairs[0], name="waits")
    Run.objects.filter(pk=run.pk).update(state=State.RUNNING, started_at=timezone.now())
    archive(row=host)
    host.refresh_from_db()
    host_remove(host, typed=host.name)
    run_remove(other, typed=str(other.pk))
    for _ in range(10):
        remove_some()
    assert not Run.objects.filter(pk=other.pk).exists()
    assert Host.objects.filter(pk=host.pk).exists()


def test_a_removal_that_fails_holds_no_other_up(pairs: tuple[Pair, Pair], monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = pairs[0].runs.latest("pk"), pairs[1].runs.latest("pk")
    deleted = removals._delete_runs

    def failing(ids: list[int]) -> None:
        if first.pk in ids:
            raise IntegrityError("something refers to it")
        deleted(ids)

    monkeypatch.setattr(removals, "_delete_runs", failing)
    for run in (first, second):
        run_remove(run, typed=str(run.pk))
    assert remove_some() == 1
    assert list(Run.objects.filter(pk__in=[first.pk, second.pk])) == [first]


def test_a_host_that_was_restored_meanwhile_stays(pairs: tuple[Pair, Pair]) -> None:
    host = pairs[0].source.host
    runs = Run.objects.count()
    archive(row=host)
    host.refresh_from_db()
    host_remove(host, typed=host.name)
    restore(row=host)
    assert remove_some() == 0
    assert Run.objects.count() == runs
    assert Host.objects.filter(pk=host.pk).exists()
    assert not Removal.objects.exists()


def test_the_audit_log_says_who_had_it_deleted(pairs: tuple[Pair, Pair], client: Client) -> None:
    admin = User.objects.create_superuser("ada", "ada@example.org")
    client.force_login(admin)
    run = pairs[0].runs.latest("pk")
    assert f"/runs/{run.pk}/delete" in client.get(f"/runs/{run.pk}").content.decode()
    asked = client.get(f"/runs/{run.pk}/delete").content.decode()
    assert "1 run" in asked
    wrong = client.post(f"/runs/{run.pk}/delete", {"typed": "7"})
    assert (wrong.status_code, Removal.objects.count()) == (422, 0)
    client.post(f"/runs/{run.pk}/delete", {"typed": str(run.pk)})
    entry = AuditEntry.objects.get(table="ops_removal")
    assert (entry.action, entry.user_name, entry.object_name) == ("created", "ada", f"run {run.pk}")
    host = pairs[0].source.host
    archive(row=host)
    assert f"/hosts/{host.pk}/delete" in client.get(f"/hosts/{host.pk}").content.decode()
    client.post(f"/hosts/{host.pk}/delete", {"typed": host.name})
    done()
    gone = AuditEntry.objects.get(table="hosts_host", action="deleted")
    assert gone.object_name == host.name
    assert not Schedule.objects.exists()
