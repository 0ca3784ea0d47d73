"""Old runs lose their intervals, keep all figures, and say so; what somebody points at keeps all."""

import json
import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from benchweb import settings as base_settings
from benchweb.accounts.services import token_create
from benchweb.labels import label_add
from benchweb.ops.removal import tiers
from benchweb.ops.removal.tiers import DETAILS, INTERVALS
from benchweb.regressions.models import Baseline
from benchweb.reports.content import report_document
from benchweb.reports.models import Report, ReportRun
from benchweb.results.models import IntervalPart, Point, Result
from benchweb.runs.models import Campaign, Run
from benchweb.sharing.models import Share
from benchweb.sharing.services import share_create
from benchweb.web.runs.document import run_document
from tests.factories import make_pair, make_run
from tests.nights import measured
from tests.regressions.judged import judged, quiet

pytestmark = pytest.mark.django_db
DAYS = 90
COURSE = [
    {"start_seconds": second, "end_seconds": second + 1, "seconds": 1.0, "metrics": {"throughput_bps": 1e9}}
    for second in range(30)
]


def run_of_age(days: float) -> Run:
    """Make a run that ended so many days ago, with intervals, a part of a long test's, and a histogram."""
    run = measured(make_pair(), timezone.now() - timedelta(days=days, minutes=1), 1e9)
    document = {"kind": "tcp_stream", "intervals": COURSE, "hosts": {"source": {"cpu": 0.5}}}
    trial = run.trials.latest("index")
    Result.objects.create(
        trial=trial, metrics={"throughput_bps": 1e9}, document=document, interval_count=30, histogram=b"counts"
    )
    IntervalPart.objects.create(trial=trial, number=0, intervals=COURSE)
    return Run.objects.get(pk=run.pk)


def is_whole(run: Run) -> bool:
    """Tell whether a run has its intervals; what has lost some has lost all."""
    run.refresh_from_db()
    result = Result.objects.get(trial__run=run)
    left = {
        "intervals" in result.document,
        result.interval_count is not None,
        IntervalPart.objects.filter(trial__run=run).exists(),
        run.intervals_removed_at is None,
    }
    [is_left] = left
    return is_left


def test_what_is_too_old_goes_and_figures_stay() -> None:
    old, young = run_of_age(DAYS + 1), run_of_age(DAYS - 1)
    assert tiers.remove_old() == 1
    assert [is_whole(run) for run in (old, young)] == [False, True]
    result = Result.objects.get(trial__run=old)
    assert result.metrics == {"throughput_bps": 1e9}
    assert result.document == {"kind": "tcp_stream", "hosts": {"source": {"cpu": 0.5}}}
    assert result.histogram is not None
    assert Point.objects.filter(run=old).count() == 1
    assert tiers.remove_old() == 0


@pytest.fixture(autouse=True)
def ninety_days(settings: Settings) -> None:
    settings.INTERVAL_DAYS = DAYS
    tiers._since.clear()


def labelled(run: Run) -> None:
    label_add(Run.objects.filter(pk=run.pk), "before the upgrade")


def shared(run: Run) -> None:
    share_create(run=run, user=None, expires_at=None, anonymise=False)


def reported(run: Run) -> None:
    report = Report.objects.create(title="Modes", template="modes")
    ReportRun.objects.create(report=report, run=run, position=1)


def baseline(run: Run) -> None:
    of = {"pair": run.pair, "environment": run.pair.environment, "plan": run.plan_version.plan}
    Baseline.objects.create(name="since the upgrade", run=run, pinned_at=timezone.now(), **of)


@pytest.mark.parametrize("point_at", [labelled, shared, reported, baseline])
def test_a_run_that_somebody_points_at_keeps_all(point_at: Callable[[Run], None]) -> None:
    run = run_of_age(DAYS + 1)
    point_at(run)
    assert tiers.losses(INTERVALS, DAYS).runs == 0
    assert tiers.remove_old() == 0
    assert is_whole(run)


def test_runs_that_an_alert_compares_keep_all() -> None:
    pair = make_pair()
    quiet(pair)
    judged(pair, [0.8] * 2, first=20)
    later = timezone.now() + timedelta(days=400)
    left = tiers.runs_with_old(INTERVALS, later)
    Result.objects.bulk_create(
        Result(trial=trial, metrics={}, document={}) for run in pair.runs.all() for trial in run.trials.all()
    )
    [part] = pair.series.get().alert_parts.all()
    compared = {part.first_bad_run_id, part.last_good_run_id, part.rerun_id}
    assert {run.pk for run in pair.runs.all()} - {run.pk for run in left} == compared - {None}


def test_a_link_that_has_expired_holds_nothing_back() -> None:
    run = run_of_age(DAYS + 1)
    share, _ = share_create(run=run, user=None, expires_at=None, anonymise=False)
    Share.objects.filter(pk=share.pk).update(expires_at=timezone.now() - timedelta(days=1))
    assert tiers.remove_old() == 1


def test_several_sources_at_once_keep_what_their_common_window_is_worked_out_from() -> None:
    run = run_of_age(DAYS + 1)
    Campaign.objects.filter(pk=run.campaign_id).update(arrangement=Campaign.Arrangement.TOGETHER)
    assert tiers.remove_old() == 0
    assert is_whole(run)


def test_a_run_that_never_began_says_nothing_of_intervals() -> None:
    run = make_run()
    Run.objects.filter(pk=run.pk).update(state="nonstart", finished_at=timezone.now() - timedelta(days=DAYS + 1))
    assert tiers.losses(INTERVALS, DAYS).runs == tiers.remove_old() == 0


def test_what_a_person_chose_holds_and_nothing_goes_until_then(settings: Settings) -> None:
    run = run_of_age(4_000)
    settings.INTERVAL_DAYS = base_settings.INTERVAL_DAYS
    assert tiers.remove_old() == 0
    assert is_whole(run)


def test_a_batch_ends_with_many_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "_TRIALS_AT_ONCE", 1)
    runs = [run_of_age(DAYS + age) for age in (3, 2, 1)]
    assert tiers.remove_old() == 1
    assert [is_whole(run) for run in runs] == [False, True, True]


def test_zero_days_keep_all_for_ever(settings: Settings) -> None:
    run = run_of_age(4_000)
    settings.INTERVAL_DAYS = 0
    assert tiers.remove_old() == 0
    assert tiers.losses(INTERVALS, 0).runs == 0
    assert is_whole(run)


def test_a_batch_is_some_runs_the_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "_RUNS_AT_ONCE", 2)
    runs = [run_of_age(DAYS + age) for age in (1, 3, 2)]
    assert tiers.remove_old() == 2
    assert [is_whole(run) for run in runs] == [True, False, False]
    assert tiers.remove_old() == 1


def test_a_preview_says_how_much_would_go_and_removes_nothing(admin_client: Client) -> None:
    runs = [run_of_age(DAYS + age) for age in (1, 2)]
    page = admin_client.get("/settings/intervals", {"days": DAYS}, headers={"HX-Request": "true"}).content.decode()
    assert "2 runs would lose them: about " in page
    assert 100 < tiers.losses(INTERVALS, DAYS).size_bytes < 100_000
    assert "No run would lose them now." in admin_client.get("/settings/intervals?days=365").content.decode()
    assert "field-error" in admin_client.get("/settings/intervals?days=-1").content.decode()
    assert all(map(is_whole, runs))


def test_a_run_says_since_when_its_intervals_are_gone(admin_client: Client, admin_user: User) -> None:
    run = run_of_age(DAYS + 1)
    assert "were removed" not in admin_client.get(f"/runs/{run.pk}").content.decode()
    tiers.remove_old()
    trial = run.trials.latest("index")
    for address in (f"/runs/{run.pk}", f"/runs/{run.pk}/trials/{trial.index}"):
        assert "Intervals were removed" in admin_client.get(address).content.decode()
    run.refresh_from_db()
    lines = [str(line) for line in run_document(run).lines]
    assert any(line.startswith("Intervals were removed") for line in lines)
    secret = token_create(user=admin_user, name="scripts")[1]
    answer = Client(headers={"Authorization": f"Bearer {secret}"}).get(f"/api/v1/runs/{run.pk}")
    told = answer.json()["intervals_removed_at"]
    assert told.startswith(f"{run.intervals_removed_at:%Y-%m-%dT%H:%M:%S}")
    written = json.loads(admin_client.get(f"/runs/{run.pk}/results.json").getvalue())
    assert written["intervals_removed_at"] is not None
    file = admin_client.get(f"/runs/{run.pk}/trials/{trial.index}/intervals.csv")
    assert file.getvalue().count(b"\n") <= 1


def test_details_go_after_their_own_days_and_figures_stay(settings: Settings) -> None:
    settings.INTERVAL_DAYS, settings.DETAIL_DAYS = 0, 365
    old, young = run_of_age(366), run_of_age(364)
    assert tiers.losses(DETAILS, 365).runs == 1
    assert tiers.remove_old() == 1
    assert [is_whole(run) for run in (old, young)] == [False, True]
    result = Result.objects.get(trial__run=old)
    assert (result.metrics, result.document) == ({"throughput_bps": 1e9}, {})
    assert result.histogram is not None
    assert Point.objects.filter(run=old).count() == 1
    assert old.details_removed_at == old.intervals_removed_at is not None
    assert young.details_removed_at is None
    assert tiers.remove_old() == tiers.losses(DETAILS, 365).runs == 0


def test_a_run_keeps_when_its_intervals_went_before_its_details(settings: Settings) -> None:
    run = run_of_age(400)
    tiers.remove_old()
    run.refresh_from_db()
    gone_at = run.intervals_removed_at
    settings.DETAIL_DAYS = 365
    assert tiers.remove_old() == 1
    run.refresh_from_db()
    assert gone_at == run.intervals_removed_at
    assert run.details_removed_at is not None


@pytest.mark.parametrize("point_at", [labelled, shared, reported, baseline])
def test_a_run_that_somebody_points_at_keeps_its_details(point_at: Callable[[Run], None], settings: Settings) -> None:
    settings.DETAIL_DAYS = 365
    run = run_of_age(400)
    point_at(run)
    assert tiers.losses(DETAILS, 365).runs == tiers.remove_old() == 0
    assert is_whole(run)


def test_every_page_of_a_run_without_details_says_so_and_none_fails(
    admin_client: Client, admin_user: User, settings: Settings
) -> None:
    settings.DETAIL_DAYS = 365
    run = run_of_age(400)
    trial = run.trials.latest("index")
    run_url, trial_url = f"/runs/{run.pk}", f"/runs/{run.pk}/trials/{trial.index}"
    Result.objects.filter(trial=trial).update(
        limits=[{"direction": "forward", "by": "sender_cpu", "summary": "the source's core was busy"}]
    )
    assert "Raw result" in admin_client.get(trial_url).content.decode()
    assert tiers.remove_old() == 1
    for address in (run_url, trial_url):
        page = admin_client.get(address).content.decode()
        assert "Raw result" not in page
        assert "Limited by" in page
        assert "Details were removed" in page
        assert "Intervals were removed" not in page
    for address in (
        *(f"{run_url}/results.{ending}" for ending in ("json", "csv", "md", "txt", "iperf3.json")),
        *(
            f"{run_url}/charts.json",
            f"{trial_url}/charts.json",
            f"{trial_url}/intervals.csv",
        ),
        *(f"/compare?runs={run.pk}", f"/history?pair={run.pair_id}&over=all", f"/pairs/{run.pair_id}", "/matrix"),
    ):
        answer = admin_client.get(address)
        assert answer.status_code in (200, 404), address
        if answer.streaming:
            answer.getvalue()
    assert admin_client.get(f"{trial_url}/document.json").status_code == 404
    run.refresh_from_db()
    assert any(str(line).startswith("Details were removed") for line in run_document(run).lines)
    written = json.loads(admin_client.get(f"{run_url}/results.json").getvalue())
    assert written["details_removed_at"] is not None
    secret = token_create(user=admin_user, name="scripts")[1]
    answer = Client(headers={"Authorization": f"Bearer {secret}"}).get(f"/api/v1/runs/{run.pk}")
    assert answer.json()["details_removed_at"] is not None


def test_a_preview_of_details_is_beside_that_of_intervals(admin_client: Client) -> None:
    run = run_of_age(400)
    page = admin_client.get("/settings/details", {"days": 365}, headers={"HX-Request": "true"}).content.decode()
    assert "1 run would lose them: about " in page
    whole = admin_client.get("/settings/details?days=4000").content.decode()
    assert whole.count("No run would lose them now.") == 1
    assert 'id="intervals_days"' in whole
    assert 'id="details_days"' in whole
    assert is_whole(run)


def test_a_report_of_a_run_whose_seconds_are_gone_says_so() -> None:
    old, young = run_of_age(DAYS + 1), run_of_age(1)
    tiers.remove_old()
    report = Report.objects.create(title="Methods", template="methods")
    for position, run in enumerate((old, young), 1):
        ReportRun.objects.create(report=report, run=run, position=position)
    lines = [str(line) for line in report_document(report).lines[1:]]
    assert len(lines) == 1
    assert re.fullmatch(rf"Run {old.pk}: Intervals were removed .*; all figures are as measured\.", lines[0])
