"""Synthetic history is believable, whole by the invariants, marked as such, repeatable, and removed without a trace."""

import base64
import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import Count, F, Model, Q
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from hdrh.histogram import HdrHistogram

from benchweb.catalog import catalog
from benchweb.hosts.models import AvailabilitySpan, Endpoint, Environment, Facts, Host, Pair
from benchweb.hosts.probing import probes
from benchweb.notifications.models import Delivery
from benchweb.notifications.services import RuleValues, rule_create
from benchweb.ops import synthetic
from benchweb.ops.synthetic.loading import indexes_set_aside
from benchweb.ops.synthetic.script import script_of_nights, script_of_points
from benchweb.ops.synthetic.shapes import METRICS
from benchweb.plans.models import Plan
from benchweb.regressions import transitions
from benchweb.regressions.models import Alert, Threshold
from benchweb.results import run_summaries as recents
from benchweb.results.models import EnvironmentNights, NightFigure, Point, Result, Series
from benchweb.runs.models import Campaign, Run, State, Trial
from benchweb.runs.queueing.occupancy import occupancy_of
from benchweb.runs.services import LaunchError, launch
from benchweb.runs.summaries import campaign_summaries
from benchweb.schedules.models import Schedule, Slot
from tests.factories import make_channel, make_pair, make_plan
from tests.nights import measured

INVARIANTS = (Path(__file__).resolve().parents[2] / "bench" / "invariants.sql").read_text()
UNTIL = datetime(2026, 3, 1, 12, tzinfo=UTC)
POINTS_OF_A_RUN, TRIALS_OF_A_RUN = 3 * 116, 36


def nights(pairs: int = 4, days: int = 3, seed: int = 1) -> synthetic.WrittenHistory:
    return synthetic.generate_nights(pairs=pairs, days=days, seed=seed, until=UNTIL)


def everything() -> dict[str, int]:
    models: tuple[type[Model], ...] = (Environment, Host, Endpoint, Pair, Facts, AvailabilitySpan, Plan, Schedule, Slot)
    models += (Campaign, Run, Trial, Result, Series, Point)
    return {model.__name__: model._default_manager.count() for model in models}


def indexes_and_constraints() -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "select conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace "
            "union all select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1, 2"
        )
        rows: list[tuple[str, str]] = cursor.fetchall()
    return rows


@pytest.mark.django_db
def test_what_it_says_is_in_the_tables_and_no_invariant_is_broken() -> None:
    written = nights(pairs=12, days=4)
    assert written.runs == Run.objects.count() <= 12 * 4
    assert written.trials == Trial.objects.count() == written.runs * TRIALS_OF_A_RUN
    assert written.series == Series.objects.count() == 12 * POINTS_OF_A_RUN / 3
    assert written.points == Point.objects.count()
    assert Result.objects.count() == Trial.objects.filter(state=State.FINISHED).count()
    with connection.cursor() as cursor:
        cursor.execute(INVARIANTS)
        assert cursor.fetchall() == []


@pytest.mark.django_db
def test_the_last_night_has_a_failed_run_and_one_that_never_began_for_the_overview_to_show() -> None:
    nights(pairs=6, days=3)
    last = Slot.objects.latest("at")
    assert last.at == datetime(2026, 3, 1, 2, tzinfo=UTC)
    assert last.campaign is not None
    states = set(last.campaign.runs.values_list("state", flat=True))
    assert {State.FAILED, State.NONSTART, State.FINISHED} <= states
    failed = last.campaign.runs.filter(state=State.FAILED)
    assert set(failed.values_list("reason", flat=True)) == {"2 of 36 trials failed"}
    assert Trial.objects.filter(run__in=failed, state=State.FAILED).count() == 2 * failed.count()
    assert (
        last.reason
        == f"Of 6 runs {failed.count()} failed, {last.campaign.runs.filter(state='nonstart').count()} not started."
    )


@pytest.mark.django_db
def test_a_night_takes_no_less_than_its_bound_and_attempts_are_as_many_as_the_reason_says() -> None:
    nights(pairs=6, days=5)
    for campaign in Campaign.objects.filter(runs__state="finished").distinct():
        summary = campaign_summaries([campaign.pk])[campaign.pk]
        # Six pairs of the same two hosts: one run after the other, each as long as its plan says.
        assert campaign.lower_bound_seconds == pytest.approx(6 * occupancy_of(campaign.plan_version).seconds)
        if summary.is_whole:
            assert summary.makespan_seconds == pytest.approx(campaign.planned_seconds, abs=1e-3)
            assert campaign.planned_seconds is not None and campaign.lower_bound_seconds
            assert campaign.planned_seconds >= campaign.lower_bound_seconds
    assert set(Run.objects.filter(reason__contains="tried 3 times").values_list("attempts", flat=True)) == {3}
    assert not Run.objects.filter(state="nonstart", attempts=0).exists()
    assert not Run.objects.filter(state="finished", attempts__gt=0).exists()


@pytest.mark.django_db
def test_the_same_seed_gives_the_same_points_and_another_seed_others() -> None:
    def points() -> list[tuple[object, ...]]:
        rows = Point.objects.order_by("at", "trial__index", "series__pair", "series__metric", "series__identity_digest")
        return list(rows.values_list("at", "series__kind", "series__metric", "value"))

    nights(pairs=1, days=2)
    first = points()
    assert len(first) == 2 * POINTS_OF_A_RUN
    synthetic.remove()
    nights(pairs=1, days=2)
    assert points() == first
    synthetic.remove()
    nights(pairs=1, days=2, seed=2)
    assert points() != first


@pytest.mark.django_db
def test_points_asked_for_are_reached_within_a_night() -> None:
    written = synthetic.generate_points(points=1_000, seed=1, until=UNTIL)
    assert 1_000 <= written.points <= 1_000 + POINTS_OF_A_RUN


@pytest.mark.parametrize("points", [1, 50_000, 1_000_000])
def test_points_asked_for_are_a_year_of_as_many_pairs_as_it_takes(points: int) -> None:
    script = script_of_points(points, UNTIL, Random(1))
    per_night = max(sum(script.points_of(fate) for fate in night.runs.values()) for night in script.fates)
    assert points <= script.points <= points + per_night
    assert len(script.fates) <= 366


def test_a_year_has_missed_slots_outages_failures_late_joiners_and_steps() -> None:
    script = script_of_nights(30, 365, UNTIL, Random(1))
    assert 0 < sum(not night.runs for night in script.fates) < 25
    states = {fate.state for night in script.fates for fate in night.runs.values()}
    assert states == {State.FINISHED, State.FAILED, State.NONSTART, State.CANCELLED}
    assert any(story.outages for story in script.stories)
    assert any(len({change.kernel for change in story.changes}) > 1 for story in script.stories)
    # Equal facts of an endpoint are one row, so no change may be undone by a later one.
    facts = [[(change.kernel, change.mtu, change.boot) for change in story.changes] for story in script.stories]
    assert all(len(set(each)) == len(each) for each in facts)
    assert any(len(each) > 3 for each in facts)
    assert any(story.begin > 0 for story in script.pair_stories)
    # Repetitions of one pair spread more in some nights than in others, and pairs differ.
    assert max(night.deviation for story in script.pair_stories for night in story.nights) > 0.02
    assert min(night.deviation for story in script.pair_stories for night in story.nights) < 0.01


def test_every_metric_made_is_one_that_the_catalog_has_for_its_kind() -> None:
    for kind, metrics in METRICS.items():
        assert set(metrics) <= set(catalog().kinds[kind].metrics)
        assert catalog().kinds[kind].headline in metrics


@pytest.mark.django_db
def test_eighteen_pairs_are_both_three_by_three_matrices_of_network_modes() -> None:
    nights(pairs=18, days=1)
    modes = {"host", "terway", "terway-eni"}
    for name in ("Synthetic: same zone", "Synthetic: cross zone"):
        pairs = Pair.objects.filter(environment__name=name)
        cells = set(pairs.values_list("source__network_mode", "sink__network_mode"))
        assert cells == {(source, sink) for source in modes for sink in modes}


@pytest.mark.django_db
def test_a_histogram_made_reads_back_as_the_metrics_beside_it() -> None:
    nights(pairs=1, days=1)
    with_histogram = Result.objects.exclude(histogram=None).select_related("trial")
    kinds = set(with_histogram.values_list("trial__kind", flat=True))
    assert kinds == {"tcp_rr", "tcp_crr", "udp_rr", "ping"}
    for result in with_histogram.exclude(trial__kind="ping"):
        assert result.histogram is not None
        histogram = HdrHistogram.decode(base64.b64encode(bytes(result.histogram)))
        rate = result.metrics["transactions_per_second"]
        assert histogram.get_total_count() == pytest.approx(10 * rate, rel=0.001)
        assert histogram.get_mean_value() / 1e9 == pytest.approx(result.metrics["latency_mean_seconds"], rel=0.01)
        for name, percentile in (("p50", 50), ("p90", 90), ("p99", 99), ("max", 100)):
            found = histogram.get_value_at_percentile(percentile) / 1e9
            assert found == pytest.approx(result.metrics[f"latency_{name}_seconds"], rel=0.002)


@pytest.mark.django_db
def test_indexes_and_constraints_set_aside_are_back_as_they_were() -> None:
    before = indexes_and_constraints()
    with indexes_set_aside([Trial, Result, Point]):
        assert len(indexes_and_constraints()) < len(before) - 12
    assert indexes_and_constraints() == before


@pytest.mark.django_db
def test_the_same_seed_gives_more_of_the_same_the_second_time() -> None:
    first, second = nights(), nights()
    assert (first.points, first.runs) == (second.points, second.runs)
    assert Point.objects.count() == first.points + second.points


@pytest.mark.django_db
def test_indexes_are_set_aside_only_by_who_has_the_lock_of_the_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tick reads the tables while it has the lock: taken the other way round, each waited for the other."""
    monkeypatch.setattr("benchweb.ops.synthetic.generation.is_cheaper_set_aside", lambda *_: True)
    with CaptureQueriesContext(connection) as asked:
        nights()
    steps = [
        query["sql"]
        for query in asked
        if re.search("pg_advisory_xact_lock|results_runfigure.* drop const", query["sql"])
    ]
    assert "pg_advisory_xact_lock" in steps[0]
    assert any("drop const" in step for step in steps)


@pytest.mark.django_db
def test_removing_leaves_nothing_of_it_and_all_that_is_real() -> None:
    pair = make_pair(environment="real")
    launch(plan=make_plan(), pairs=[pair], user=None)
    before = everything()
    nights()
    assert everything()["Point"] > 0
    removed = synthetic.remove()
    assert everything() == before
    assert removed["results_point"] > 0
    assert synthetic.remove() == {}


@pytest.mark.django_db
def test_a_plan_and_an_environment_that_were_used_for_real_hosts_stay_and_are_no_longer_synthetic() -> None:
    nights()
    plan, environment = Plan.objects.get(), Environment.objects.get()
    pair = make_pair(environment="real")
    Pair.objects.filter(pk=pair.pk).update(environment=environment)
    campaign = launch(plan=plan, pairs=[Pair.objects.get(pk=pair.pk)], user=None)
    synthetic.remove()
    assert list(Run.objects.values_list("campaign", flat=True)) == [campaign.pk]
    plan.refresh_from_db()
    environment.refresh_from_db()
    assert (plan.is_synthetic, environment.is_synthetic) == (False, False)
    assert Host.objects.filter(is_synthetic=True).count() == 0


@pytest.mark.django_db
def test_an_environment_that_stays_is_summed_up_without_what_was_removed() -> None:
    nights()
    pair = make_pair(environment="real")
    Pair.objects.filter(pk=pair.pk).update(environment=Environment.objects.exclude(name="real").get())
    measured(pair, UNTIL - timedelta(hours=3), 5e6)
    while recents.sum_up():
        pass
    assert NightFigure.objects.count() > 1
    synthetic.remove()
    assert list(NightFigure.objects.values_list("runs", "pairs", "median")) == [(1, 1, 5e6)]
    assert [row.medians for row in EnvironmentNights.objects.exclude(medians=[])] == [[5e6]]


@pytest.mark.django_db
def test_nothing_is_probed_or_launched_towards_synthetic_hosts() -> None:
    nights()
    Endpoint.objects.update(probe_due_at=UNTIL - timedelta(days=1))
    assert probes.probes_claim() == []
    before = Run.objects.count()
    with pytest.raises(LaunchError, match="its hosts are a sample, no engine answers there"):
        launch(plan=make_plan(), pairs=list(Pair.objects.all()[:1]), user=None)
    assert Run.objects.count() == before
    assert Schedule.objects.filter(paused_at=None).count() == 0


@pytest.mark.django_db
def test_the_pages_of_synthetic_rows_say_so(client: Client, django_user_model: type[User]) -> None:
    client.force_login(django_user_model.objects.create_user("reader"))
    nights()
    run = Run.objects.filter(state=State.FINISHED).first()
    assert run is not None
    pages = {
        "run": run.pk,
        "pair": run.pair_id,
        "host": run.pair.source.host_id,
        "environment": run.pair.environment_id,
        "plan": run.plan_version.plan_id,
        "schedule": Schedule.objects.get().pk,
    }
    for name, pk in pages.items():
        text = client.get(reverse(f"web:{name}", args=[pk])).content.decode()
        assert re.search(r'<span class="flag" title="[^"]*">sample</span>', text), name
    trial = client.get(reverse("web:trial", args=[run.pk, 1])).content.decode()
    assert ">sample</span>" in trial


@pytest.mark.django_db
def test_a_series_has_three_points_a_night_as_far_apart_as_the_plan_holds_its_hosts() -> None:
    nights(pairs=1, days=2)
    round_seconds = occupancy_of(Run.objects.order_by("pk")[0].plan_version).seconds / 3
    counts = set(Series.objects.annotate(n=Count("points")).values_list("n", flat=True))
    assert counts == {2 * 3}
    assert not Point.objects.exclude(at=F("trial__started_at")).exists()
    series = Series.objects.filter(kind="tcp_rr", metric="transactions_per_second").get()
    times = list(series.points.order_by("at").values_list("at", flat=True))
    apart = [(later - earlier).total_seconds() for earlier, later in pairwise(times[:3])]
    assert apart == pytest.approx([round_seconds, round_seconds])


@pytest.mark.django_db
def test_a_sample_of_each_kind_of_alert_is_found_in_the_last_nights_and_nobody_is_told() -> None:
    rule_create(RuleValues("all", make_channel()))
    call_command("generate_history", pairs=30, days=24, seed=1, alerts=True)
    found = Alert.objects.exclude(opened_at=None)
    assert found.filter(kind="change", host__name="synthetic-06", severity="critical", state="open").exists()
    pairs = [Schedule.objects.get(name="Synthetic nightly").target["pairs"][place] for place in (0, 4, 13)]
    of = {
        pair: set(found.filter(Q(pair=pair) | Q(series__series__pair=pair)).values_list("kind", "code", "state"))
        for pair in pairs
    }
    assert ("change", "change", "open") in of[pairs[0]]
    assert ("threshold", "threshold", "open") in of[pairs[1]]
    assert ("absence", "nothing", "open") in of[pairs[2]]
    missing = set(found.filter(kind="absence", state="open").values_list("code", flat=True))
    assert missing == {"nothing", "unreachable", "slot", "skipped", "late"}
    assert Alert.objects.filter(state="suspect").exclude(unconfirmed_code="").exists()
    # The tick looks for what is missing in it, too.
    transitions.fix(alert_id=found.filter(code="slot").latest("pk").pk, by=None)
    transitions.fix(alert_id=found.filter(code="nothing").latest("pk").pk, by=None)
    assert Delivery.objects.count() == 0
    synthetic.remove()
    assert Alert.objects.count() == Threshold.objects.count() == Schedule.objects.count() == 0


@pytest.mark.django_db
def test_the_last_line_counts_points_series_and_runs(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("generate_history", pairs=1, days=1, seed=1)
    assert capsys.readouterr().out.splitlines()[-1] == ("Wrote 348 points in 116 series from 1 runs, all synthetic.")
    with pytest.raises(CommandError, match="--remove takes away all"):
        call_command("generate_history", remove=True, points=5)
    call_command("generate_history", remove=True)
    assert capsys.readouterr().out == "Removed 348 points, 1 runs and everything that hung on them.\n"
    call_command("generate_history", remove=True)
    assert capsys.readouterr().out == "There was nothing synthetic to remove.\n"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "Say how much"),
        ({"pairs": 3}, "Say how much"),
        ({"pairs": 3, "days": 1, "points": 5}, "Say how much"),
        ({"pairs": 29, "days": 24, "alerts": True}, "--alerts needs --pairs 30 or more, and --days 24 or more"),
        ({"points": 5, "alerts": True}, "--alerts needs --pairs 30"),
        ({"pairs": 0, "days": 1}, "--pairs is 0, but must be from 1 to 5,000"),
        ({"points": -1}, "--points is -1, but must be from 1 to 200,000,000"),
    ],
)
def test_a_command_that_does_not_say_how_much_is_refused_and_writes_nothing(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("generate_history", **options)
    assert Host.objects.count() == 0
