"""A wrong import is taken back whole, with its series, by who made it; what others measured stays."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from benchweb.accounts.models import Grant, Role
from benchweb.hosts.models import Pair
from benchweb.imports.models import Import
from benchweb.ops.models import Removal
from benchweb.ops.removal.removals import remove_some, run_losses
from benchweb.ops.running.processes import wait_until
from benchweb.results import run_summaries
from benchweb.results.ingest import series_of
from benchweb.results.models import Point, Series
from benchweb.runs.models import Run
from tests.databases import is_somebody_waiting
from tests.factories import make_pair
from tests.reports.scene import finished_run, make_report

pytestmark = pytest.mark.django_db
TEXT = """[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-{seconds}.00  sec  10.9 GBytes  9.39 Gbits/sec   12             sender
[  5]   0.00-{seconds}.04  sec  10.9 GBytes  9.35 Gbits/sec                  receiver
"""


@pytest.fixture(autouse=True)
def operator(user: User) -> None:
    """Let the one who is logged in be no admin."""
    Grant.objects.create(user=user, role=Role.OPERATOR)


def imported(client: Client, pair: Pair, seconds: int = 10) -> Import:
    client.post("/imports", {"text": TEXT.format(seconds=seconds), "pair": pair.pk, "at": "2024-05-01T03:00"})
    return Import.objects.latest("pk")


def take_back(client: Client, run_id: int) -> int:
    status = client.post(f"/runs/{run_id}/import/delete", {"typed": str(run_id)}).status_code
    while Removal.objects.filter(finished_at=None).exists():
        remove_some()
    return status


def test_who_made_it_takes_an_import_back_with_its_series(signed_in: Client) -> None:
    pair = make_pair()
    measured = finished_run(pair, [{"kind": "tcp_stream", "params": {}}], {"throughput_bps": 9e9})
    kept = set(Series.objects.values_list("pk", flat=True))
    made = imported(signed_in, pair)
    run_summaries.rebuild()
    of_import = Series.objects.exclude(pk__in=kept).count()
    assert of_import > 0
    assert f"/runs/{made.run_id}/import/delete" in signed_in.get("/imports").content.decode()
    assert f"/runs/{made.run_id}/import/delete" in signed_in.get(f"/runs/{made.run_id}").content.decode()
    asked = signed_in.get(f"/runs/{made.run_id}/import/delete").content.decode()
    assert f"1 import, {of_import} series" in asked
    assert take_back(signed_in, made.run_id) == 302
    assert not Import.objects.exists()
    assert list(Run.objects.all()) == [measured]
    assert set(Series.objects.values_list("pk", flat=True)) == kept
    assert set(Point.objects.values_list("run", flat=True)) == {measured.pk}
    # The text may come again.
    assert imported(signed_in, pair).run_id != made.run_id


def test_series_that_another_import_has_points_in_stay(signed_in: Client) -> None:
    pair = make_pair()
    first, second = imported(signed_in, pair), imported(signed_in, pair, seconds=12)
    series = Series.objects.count()
    assert run_losses(second.run).series == 0
    take_back(signed_in, second.run_id)
    assert (Series.objects.count(), Import.objects.get()) == (series, first)


def test_what_somebody_else_imported_is_refused_and_stays(signed_in: Client) -> None:
    made = imported(signed_in, make_pair())
    Import.objects.update(created_by=User.objects.create_user("vera"))
    page = signed_in.get("/imports").content.decode()
    assert f"/runs/{made.run_id}/import/delete" not in page
    response = signed_in.post(f"/runs/{made.run_id}/import/delete", {"typed": str(made.run_id)})
    assert response.status_code == 422
    assert "Only who imported it and admins take an import back." in response.content.decode()
    assert (Import.objects.count(), Removal.objects.count()) == (1, 0)
    Grant.objects.update(role=Role.ADMIN)
    assert take_back(signed_in, made.run_id) == 302
    assert not Import.objects.exists()


def test_a_measured_run_is_no_import(signed_in: Client) -> None:
    run = finished_run(make_pair(), [{"kind": "tcp_stream", "params": {}}], {"throughput_bps": 9e9})
    assert signed_in.get(f"/runs/{run.pk}/import/delete").status_code == 404


def test_what_others_rely_on_only_admins_delete(signed_in: Client) -> None:
    made = imported(signed_in, make_pair())
    make_report(made.run)
    response = signed_in.post(f"/runs/{made.run_id}/import/delete", {"typed": str(made.run_id)})
    assert response.status_code == 422
    assert (
        "Others rely on it, by a baseline, a report, an alert or a noise: only admins delete it."
        in response.content.decode()
    )
    Grant.objects.update(role=Role.ADMIN)
    assert take_back(signed_in, made.run_id) == 302


@pytest.mark.django_db(transaction=True)
def test_what_is_written_into_its_series_meanwhile_stays_with_them(signed_in: Client) -> None:
    pair = make_pair()
    made = imported(signed_in, pair)
    other = finished_run(pair, [{"kind": "tcp_stream", "params": {}}], {"throughput_bps": 9e9})
    trial, series = made.run.trials.get(), Series.objects.filter(identity__tool="iperf3")
    signed_in.post(f"/runs/{made.run_id}/import/delete", {"typed": str(made.run_id)})
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            ids = series_of(trial, {"throughput_bps": 1.0})
            removal = pool.submit(_remove_all)
            assert wait_until(is_somebody_waiting, timeout_seconds=30)
            assert not removal.done()
            Point.objects.create(
                series_id=ids["throughput_bps"], at=timezone.now(), value=1.0, run=other, trial=other.trials.get()
            )
        removal.result(timeout=30)
    assert [each.metric for each in series.all()] == ["throughput_bps"]
    assert Point.objects.filter(series__in=series, run=other).count() == 1


def _remove_all() -> None:
    try:
        while Removal.objects.filter(finished_at=None).exists():
            remove_some()
    finally:
        connection.close()
