"""What holds for every page of definitions."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchweb.accounts.roles.grants import team_create
from benchweb.regressions.baselines import baseline_pin
from benchweb.regressions.thresholds.sensitivities import SensitivityScope, sensitivity_create
from benchweb.runs.models import Run
from benchweb.schedules.models import Slot
from tests.factories import (
    make_alert,
    make_channel,
    make_pair,
    make_plan,
    make_run,
    make_schedule,
    make_threshold,
)
from tests.reports.scene import make_report

# Session and user are two of them.
MOST_QUERIES = 10
WITHOUT_ARGUMENT = [
    "hosts",
    "host_new",
    "pair_mesh",
    "host_import",
    "environments",
    "environment_new",
    "pairs",
    "pair_new",
    "plans",
    "plan_new",
]
WITHOUT_ARGUMENT += ["launch", "tokens", "schedules", "schedule_new", "timeline", "week", "campaigns", "matrix"]
WITHOUT_ARGUMENT += ["compare", "compare_sets", "alerts", "morning", "notifications", "rule_new", "window_new"]
WITHOUT_ARGUMENT += ["thresholds", "threshold_new", "sensitivities", "sensitivity_new", "baselines", "quick_test"]
WITHOUT_ARGUMENT += ["reports", "report_new", "own_definitions", "fact_changes", "audit", "shares"]
WITHOUT_ARGUMENT += [
    "users",
    "services",
    "user_new",
    "invitations",
    "invitation_new",
    "teams",
    "team_new",
    "site_settings",
]
WITHOUT_ARGUMENT += ["account", "password", "mail_address", "help", "help_api", "glossary"]
OF_A_ROW = ["host", "host_availability", "host_edit", "host_archive", "endpoint_new"]
OF_A_ROW += ["environment", "environment_edit", "environment_archive", "pair", "pair_edit", "pair_archive"]
OF_A_ROW += ["plan", "plan_versions", "plan_edit", "plan_archive", "plan_launch", "endpoint_edit", "endpoint_archive"]
OF_A_ROW += ["schedule", "schedule_edit", "schedule_archive", "campaign"]
OF_A_ROW += ["channel", "channel_edit", "channel_archive", "alert", "threshold_edit", "threshold_archive"]
OF_A_ROW += ["sensitivity_edit", "sensitivity_archive", "baseline_new", "baseline_archive"]
OF_A_ROW += ["report", "report_edit", "report_archive"]
OF_A_ROW += ["user", "user_deactivate", "team", "team_edit", "team_delete"]


def url_of(name: str) -> str:
    """Return a page's URL, with a row of its own and a run that it may show."""
    if name in WITHOUT_ARGUMENT:
        return reverse(f"web:{name}")
    run = make_run(pair=make_pair())
    pair = run.pair
    rows = {
        "host": pair.source.host_id,
        "endpoint": pair.source_id,
        "environment": pair.environment_id,
        "pair": pair.pk,
        "plan": run.plan_version.plan_id,
        "campaign": run.campaign_id,
    }
    if name.startswith("schedule"):
        rows["schedule"] = make_schedule(target={"pairs": [pair.pk]}).pk
    if name.startswith("threshold"):
        rows["threshold"] = make_threshold(pair=pair).pk
    if name.startswith("sensitivity"):
        rows["sensitivity"] = sensitivity_create(
            SensitivityScope(environment=pair.environment), floor_ratio=0.1, noise_times=None
        ).pk
    if name.startswith("baseline"):
        Run.objects.filter(pk=run.pk).update(state="finished")
        run.refresh_from_db()
        rows["baseline"] = run.pk if name == "baseline_new" else baseline_pin(run=run, name="5.2", by=None).pk
    if name.startswith("report"):
        Run.objects.filter(pk=run.pk).update(state="finished")
        rows["report"] = make_report(run).pk
    if name == "alert":
        rows["alert"] = make_alert(pair=pair).pk
    if name.startswith("user"):
        rows["user"] = User.objects.create_user("vera").pk
    if name.startswith("team"):
        rows["team"] = team_create(name="night shift").pk
    if name.startswith("channel"):
        rows["channel"] = make_channel().pk
    first = "host" if name == "endpoint_new" else name.split("_", maxsplit=1)[0]
    return reverse(f"web:{name}", args=[rows[first]])


@pytest.mark.parametrize("name", WITHOUT_ARGUMENT + OF_A_ROW)
def test_it_shows_within_ten_queries(
    signed_in: Client, name: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    url = url_of(name)
    with django_assert_max_num_queries(MOST_QUERIES):
        response = signed_in.get(url)
    assert response.status_code == 200
    assert "<h1" in response.content.decode()


@pytest.mark.parametrize("name", WITHOUT_ARGUMENT + OF_A_ROW)
def test_it_asks_a_stranger_to_log_in(db: None, name: str) -> None:
    url = url_of(name)
    response = Client().get(url)
    assert response.status_code == 302
    assert response["Location"] == f"/login?next={url}"


@pytest.mark.parametrize("name", OF_A_ROW)
def test_it_is_not_found_for_a_row_that_does_not_exist(signed_in: Client, name: str) -> None:
    assert signed_in.get(reverse(f"web:{name}", args=[999_999])).status_code == 404


def test_lists_of_many_rows_cost_no_more_queries_than_lists_of_one(
    signed_in: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(12):
        make_run(pair=make_pair())
        make_plan()
        schedule = make_schedule()
        Slot.objects.create(schedule=schedule, at=timezone.now(), state="finished", claimed_at=timezone.now())
    for name in ("hosts", "environments", "pairs", "plans", "launch", "schedules", "timeline", "week", "campaigns"):
        with django_assert_max_num_queries(MOST_QUERIES):
            assert signed_in.get(reverse(f"web:{name}")).status_code == 200


def test_a_partial_update_whose_session_has_ended_reloads_the_page(db: None) -> None:
    htmx = {"HX-Request": "true"}
    response = Client().get("/hosts?q=a", headers=htmx, follow=True)
    assert (response.status_code, response.content, response["HX-Refresh"]) == (200, b"", "true")
