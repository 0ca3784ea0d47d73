"""What was imported belongs to one plan for each tool: no list of plans fills with the names of files."""

from importlib import import_module
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client

from benchweb.imports.models import Import
from benchweb.plans.models import Plan, PlanVersion
from benchweb.plans.services import one_off_version
from benchweb.regressions.models import Alert, Threshold
from benchweb.runs.models import Campaign, Run
from tests.api.conftest import ApiClient
from tests.factories import make_alert, make_pair, make_threshold

pytestmark = pytest.mark.django_db
SIZES = (Path(__file__).parents[1] / "toolformats" / "published" / "netperf_sizes.md").read_text()
IPERF3 = """[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  10.9 GBytes  9.39 Gbits/sec   12             sender
[  5]   0.00-10.04  sec  10.9 GBytes  9.35 Gbits/sec                  receiver
"""
AT = "2024-05-01T03:00:00Z"


def imported(api: ApiClient, text: str, file_name: str) -> Run:
    made = api.post("/imports", {"pair": make_pair().pk, "text": text, "at": AT, "file_name": file_name}).json()
    return Run.objects.get(pk=made["run"])


def test_files_of_a_tool_are_runs_of_one_plan_and_keep_their_names(api: ApiClient, signed_in: Client) -> None:
    runs = [imported(api, SIZES, "monday.md"), imported(api, SIZES, "tuesday.md"), imported(api, IPERF3, "one.txt")]
    assert [run.plan_version.plan.name for run in runs] == ["imported netperf"] * 2 + ["imported iperf3"]
    # The same tests are one version.
    assert runs[0].plan_version == runs[1].plan_version
    for path in ("/compare", "/thresholds", "/thresholds/new", "/sensitivities/new", "/runs", "/plans"):
        assert "monday.md" not in signed_in.get(path).content.decode(), path
    page = signed_in.get(f"/runs/{runs[1].pk}").content.decode()
    assert "tuesday.md" in page
    assert "that is another series, beside this one" in page


def test_run_again_on_an_imported_series_says_that_it_is_another(api: ApiClient, signed_in: Client) -> None:
    run = imported(api, IPERF3, "one.txt")
    page = signed_in.post(f"/runs/{run.pk}/again", follow=True).content.decode()
    assert f"Run {run.pk} was imported." in page
    assert "its results are another series" in page
    again = Run.objects.latest("pk")
    page = signed_in.post(f"/runs/{again.pk}/again", follow=True).content.decode()
    assert "was imported" not in page


def test_plans_named_by_files_are_put_together_with_what_means_them(api: ApiClient) -> None:
    names = ("monday.md", "tuesday.md", "watched.md")
    runs = [imported(api, SIZES, name) for name in names]
    kept = Plan.objects.get()
    old = []
    for run, name in zip(runs, names, strict=True):
        version = one_off_version(name=name, steps=kept.versions.get().steps, repetitions=1, order="sequential")
        Run.objects.filter(pk=run.pk).update(plan_version=version)
        Campaign.objects.filter(pk=run.campaign_id).update(plan_version=version)
        old.append(version.plan)
    PlanVersion.objects.filter(plan=kept).delete()
    kept.delete()
    # What was said of one file is not said of all.
    threshold = make_threshold(plan=old[2])
    told = make_alert()
    Alert.objects.filter(pk=told.pk).update(plan=old[0])
    by_hand = one_off_version(name="quick", steps=old[0].versions.get().steps, repetitions=1, order="sequential").plan
    with connection.schema_editor() as editor:
        import_module("benchweb.imports.migrations.0002_one_plan_per_tool").put_together(None, editor)
    plan = Plan.objects.get(name="imported netperf")
    assert set(Plan.objects.all()) == {plan, by_hand, old[2]}
    assert list(plan.versions.order_by("number").values_list("number", flat=True)) == [1, 2]
    assert {run.plan_version.plan for run in Run.objects.filter(pk__in=[run.pk for run in runs[:2]])} == {plan}
    assert Alert.objects.get(pk=told.pk).plan == plan
    assert Threshold.objects.get(pk=threshold.pk).plan == old[2]
    assert sorted(Import.objects.values_list("file_name", flat=True)) == list(names)
