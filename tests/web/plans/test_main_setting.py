"""The one setting that a sweep is told at: the middle one or the plan's, whatever was best in a run."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from benchweb.catalog import catalog
from benchweb.charts.main_figures import figures_of_pairs, figures_of_plans, figures_of_runs
from benchweb.charts.run.verdict import verdict
from benchweb.hosts.models import Pair
from benchweb.plans.main_setting import main_identity, main_params, sizes_to_choose
from benchweb.plans.models import Plan
from benchweb.results import nightly_summaries as nights
from benchweb.results.models import Result
from benchweb.results.run_summaries import rebuild
from benchweb.results.selectors import trial_rows
from benchweb.results.series_summaries import environment_figures
from benchweb.runs.models import Campaign, Run, State, Trial
from tests.charts.history_rows import points_of
from tests.factories import make_pair, make_plan

SIZES = [64, 1024, 16384, 65536]
STEPS: list[dict[str, Any]] = [
    {"kind": "tcp_stream", "params": {"message_size_bytes": SIZES, "duration_seconds": 1}},
    {"kind": "tcp_rr", "params": {"request_size_bytes": 1, "response_size_bytes": 1, "duration_seconds": 1}},
]
DAY = timedelta(days=1)


def swept_run(plan: Plan, pair: Pair, days_ago: int, rates: Sequence[float | None]) -> Run:
    """Make a finished run of the plan's sizes with these throughputs; None is a trial that failed."""
    version, at = plan.versions.get(), timezone.now() - timedelta(hours=1) - days_ago * DAY
    run = Run.objects.create(
        campaign=Campaign.objects.create(plan_version=version),
        pair=pair,
        plan_version=version,
        state=State.FINISHED,
        started_at=at,
        finished_at=at + timedelta(seconds=30),
    )
    for index, (size, rate) in enumerate(zip(SIZES, rates, strict=True), start=1):
        params = {"message_size_bytes": size, "duration_seconds": 1}
        state = State.FAILED if rate is None else State.FINISHED
        trial = Trial.objects.create(run=run, index=index, kind="tcp_stream", params=params, repetition=1, state=state)
        if rate is not None:
            Result.objects.create(trial=trial, metrics={"throughput_bps": rate}, document={})
            points_of(trial, pair, at + timedelta(seconds=index), {"throughput_bps": rate})
    rebuild()
    return run


def test_of_a_sweep_the_middle_value_stands_for_all_and_of_two_the_larger() -> None:
    kind = catalog().kinds["tcp_stream"]
    tests = [{"message_size_bytes": size, "flows": flows} for size in (65536, 64, 16384) for flows in (1, 8)]
    assert main_params(kind, tests) == {"message_size_bytes": 16384, "flows": 8}
    assert main_params(kind, tests, 64) == {"message_size_bytes": 64, "flows": 8}
    # A size that is none of the sweep chooses nothing.
    assert main_params(kind, tests, 1) == {"message_size_bytes": 16384, "flows": 8}
    words = [{"direction": "reverse"}, {"direction": "forward"}, {"direction": "bidirectional"}]
    assert main_params(kind, words) == {"direction": "forward"}
    assert main_identity(STEPS, 1024) == ("tcp_stream", {"message_size_bytes": 1024})
    assert sizes_to_choose(STEPS) == SIZES


@pytest.mark.django_db
def test_a_runs_head_and_the_lists_keep_one_size_from_run_to_run() -> None:
    plan, pair = make_plan(steps=STEPS), make_pair()
    runs = [
        swept_run(plan, pair, 2, [1e9, 3e9, 9.2e9, 9.1e9]),
        # The largest is best now, by a hair.
        swept_run(plan, pair, 1, [1e9, 3e9, 9.1e9, 9.2e9]),
    ]
    for run in runs:
        figure = figures_of_runs([run.pk])[run.pk]
        assert (figure.params["message_size_bytes"], figure.n) == (16384, 1)
        (headline, *_) = verdict(trial_rows(run.pk)).headlines
        assert [(setting.name, setting.value) for setting in headline.at] == [("message_size_bytes", 16384)]
    assert figures_of_runs([runs[1].pk])[runs[1].pk].before == [9.2e9]
    assert figures_of_pairs([pair.pk])[pair.pk].median == 9.1e9
    assert figures_of_plans([plan.pk])[plan.pk].median == 9.1e9


@pytest.mark.django_db
def test_what_failed_at_the_main_setting_is_missing_and_no_other_size_stands_in() -> None:
    run = swept_run(make_plan(steps=STEPS), make_pair(), 1, [1e9, 3e9, None, 9.2e9])
    assert figures_of_runs([run.pk]) == {}
    assert verdict(trial_rows(run.pk)).headlines == []
    assert figures_of_runs([run.pk], size_bytes=65536)[run.pk].median == 9.2e9


@pytest.mark.django_db
def test_a_plan_chooses_its_size_once_for_the_head_the_lists_and_the_overview(signed_in: Client) -> None:
    plan, pair = make_plan(steps=STEPS), make_pair()
    run = swept_run(plan, pair, 0, [1e9, 3e9, 9.2e9, 9.1e9])
    nights.make_anew()
    night = nights.night_of(timezone.now() - DAY)
    assert [row.identity for row in environment_figures(night)] == [{}]
    page = signed_in.get(f"/plans/{plan.pk}").content.decode()
    assert "the middle size (16 KiB)" in page
    signed_in.post(f"/plans/{plan.pk}/main-size", {"size": "64"})
    assert Plan.objects.get().main_size_bytes == 64
    assert figures_of_runs([run.pk])[run.pk].median == 1e9
    assert "1.00 Gbit/s" in signed_in.get("/runs").content.decode().replace('<span class="unit">', "")
    assert [row.identity for row in environment_figures(night)] == [{"message_size_bytes": 64}]
    assert "Main figures at" in page
    signed_in.post(f"/plans/{plan.pk}/main-size", {"size": "128"})
    assert Plan.objects.get().main_size_bytes == 64
    signed_in.post(f"/plans/{plan.pk}/main-size", {"size": ""})
    assert Plan.objects.get().main_size_bytes is None
