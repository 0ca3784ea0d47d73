"""A form that is sent twice at the same moment, as by a double click, makes one thing; both senders are led to it."""

import ast
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import resolve
from django.utils import timezone

from benchweb.accounts.models import ApiToken, Invitation, Role, SavedView, Team
from benchweb.accounts.roles.grants import role_set
from benchweb.annotations.models import Annotation
from benchweb.dashboards.models import Dashboard, Tile
from benchweb.hosts.models import Endpoint, Environment, Host, Pair
from benchweb.idempotency import services
from benchweb.idempotency.models import KeptAnswer
from benchweb.imports.models import Import
from benchweb.notifications.models import Channel, Delivery, MaintenanceWindow, Rule
from benchweb.plans.models import Plan
from benchweb.regressions.models import AlertTransition, Baseline, Sensitivity, Threshold
from benchweb.reports.models import Report
from benchweb.runs.models import Campaign, Run
from benchweb.schedules.models import Schedule, Slot
from benchweb.sharing.models import Share
from benchweb.web.access.once import is_once
from tests.accounts.routes import needing_routes
from tests.factories import (
    make_alert,
    make_channel,
    make_endpoint,
    make_environment,
    make_pair,
    make_plan,
    make_run,
    make_schedule,
    make_user,
)
from tests.regressions.judged import quiet
from tests.responses import Response
from tests.web.imports.test_imports import IPERF3
from tests.web.launch.test_one_off import CHANGED
from tests.web.plans.test_plans import FORM as PLAN
from tests.web.schedules.test_schedules import FORM as SCHEDULE

# As a page's form sends it.
TOKEN = "t" * 64
# What is sent again changes nothing more, shows something, or asks a host once more.
REPEATABLE = {
    # Of all plain pages.
    *("archive_row", "edit_row", "restore_row"),
    *("own_change", "own_removal", "view_withdraw"),
    *("account", "alerts_triage", "annotation_remove", "annotation_undo"),
    *("campaign_cancel_page", "campaigns_cancel", "campaigns_label", "channel_edit"),
    *("channel_enable", "columns_save", "endpoint_archive", "endpoint_check"),
    *("endpoint_edit", "endpoint_pin", "endpoint_restore", "endpoint_rotate", "endpoint_watch"),
    *("first_admin", "host_archive"),
    *("host_command", "host_edit", "host_import_preview", "host_known", "host_restore", "host_watch"),
    *("hosts_archive", "hosts_label", "hosts_restore", "import_preview", "install_claim", "install_ready"),
    *("invitation", "invitation_end", "launch_choice", "mail_test_send", "matrix_target_remove"),
    *("pair_check", "pair_edit", "pair_mesh_summary", "pair_watch", "pairs_archive", "pairs_label"),
    *("pairs_restore", "password_forgotten", "plan_keep", "plan_main_size", "plan_preview"),
    *("plan_steps", "plans_archive", "plans_label", "plans_restore", "role_take", "run_cancel_page"),
    *(
        "runs_bulk",
        *("host_delete", "import_delete", "original_make", "run_delete"),
        "sample_make",
        "sample_remove",
        "schedule_cancel",
        "schedule_edit",
        "schedule_pairs",
        "schedule_pause",
    ),
    *("schedule_preview_part", "schedule_resume"),
    *("session_end", "sessions_end", "share_revoke", "shares_end", "site_settings"),
    *("team_delete", "team_member_add", "team_member_remove", "team_role"),
    *("threshold_preview", "ticked_compare", "ticket_end", "ticked_export", "token_revoke", "user_activate"),
    *("user_deactivate", "user_role", "user_team", "view_change"),
    *("dashboard_change", "dashboard_restore", "tile_change"),
}


@dataclass(frozen=True)
class Form:
    """A form as it is filled in, and of what it makes how many."""

    path: str
    fields: dict[str, Any]
    makes: type[Model]
    count: int = 1


def forms() -> dict[str, Form]:
    """Fill in every form that makes something, by the names of their URLs."""
    pair, plan, schedule, channel = make_pair(), make_plan(), make_schedule(), make_channel()
    run, ended, alert = make_run(pair=pair), quiet(make_pair(), 1)[0], make_alert()
    ends, vera = [make_endpoint().pk, make_endpoint().pk], make_user("vera", "a password of hers")
    day = f"{timezone.now() - timedelta(days=1):%Y-%m-%d}"
    view = f"/pairs/{pair.pk}"
    endpoint = {"control_address": "192.0.2.10:7410", "network_mode": "host", "token": ""}
    second = {"endpoint_name": "b", "control_address": "192.0.2.11:7410"}
    share = {"lasts": "7", "password": ""}
    target = {"kind": "tcp_stream", "metric": "throughput_bps", "limit": "9 G", "scope": f"pair:{pair.pk}"}
    return {
        "host_new": Form("/hosts/new", endpoint | {"name": "alder"}, Host),
        "host_import": Form("/hosts/import", {"text": "name, address\nrowan, 192.0.2.30", "action": "save"}, Host),
        "endpoint_new": Form(f"/hosts/{pair.source.host_id}/endpoints/new", endpoint | second, Endpoint),
        "environment_new": Form("/environments/new", {"name": "zone 9", "description": ""}, Environment),
        "pair_new": Form(
            "/pairs/new", {"source": ends[0], "sink": ends[1], "environment": make_environment().pk}, Pair
        ),
        "pair_mesh": Form(
            "/pairs/mesh",
            {"shape": "mesh", "endpoints": ends, "environment": make_environment().pk, "action": "save"},
            Pair,
            2,
        ),
        "plan_new": Form("/plans/new", PLAN | {"action": "save"}, Plan),
        "plan_edit": Form(f"/plans/{plan.pk}/edit", PLAN | {"action": "copy"}, Plan),
        "launch": Form("/launch", {"action": "launch", "plan": plan.pk, "pairs": [pair.pk]}, Run),
        "plan_launch": Form(
            f"/plans/{plan.pk}/launch", {"action": "launch", "plan": plan.pk, "pairs": [pair.pk]}, Campaign
        ),
        "quick_test": Form("/quick-test", {"source": ends[0], "sink": ends[1], "kind": "tcp_rr"}, Run),
        "run_changed": Form(f"/runs/{run.pk}/changed", CHANGED | {"action": "launch"}, Run),
        "run_again": Form(f"/runs/{run.pk}/again", {}, Run),
        "compare_repeat": Form("/compare/repeat", {"runs": f"{run.pk},{make_run().pk}"}, Run, 2),
        "schedule_new": Form("/schedules/new", SCHEDULE | {"plan": plan.pk, "pairs": [pair.pk]}, Schedule),
        "schedule_run": Form(f"/schedules/{schedule.pk}/run", {}, Slot),
        "imports": Form("/imports", {"text": IPERF3, "pair": pair.pk}, Import),
        "report_new": Form(
            "/reports/new", {"title": "night", "template": "sizes", "statistic": "mean", "runs": f"{ended.pk}"}, Report
        ),
        "dashboards": Form("/dashboards", {"name": "wall"}, Dashboard),
        "tile_new": Form(
            "/dashboards/add", {"path": view, "dashboard": "new", "name": "wall", "part": "", "width": "half"}, Tile
        ),
        "run_shares": Form(f"/runs/{run.pk}/shares", share, Share),
        "view_shares": Form("/share", share | {"path": view, "shows": "frozen"}, Share),
        "annotation_add": Form(
            "/history/notes?over=7d", {"text": "fan", "at": f"{day}T02:00", "about": ""}, Annotation
        ),
        "alert_move": Form(f"/alerts/{alert.pk}/move", {"action": "comment", "comment": "looks odd"}, AlertTransition),
        "baseline_new": Form(f"/runs/{ended.pk}/pin", {"name": "5.2"}, Baseline),
        "threshold_new": Form(
            "/thresholds/new",
            {
                "name": "floor",
                "figure": "tcp_stream:throughput_bps",
                "relation": "below",
                "limit": "800 Mbit/s",
                "severity": "critical",
            },
            Threshold,
        ),
        "matrix_target_add": Form("/matrix/targets", target, Threshold),
        "sensitivity_new": Form("/sensitivities/new", {"kind": "tcp_rr", "floor_ratio": "5 %"}, Sensitivity),
        "channel_new": Form("/notifications/channels/new/email", {"name": "mail", "to": "bea@example.org"}, Channel),
        "channel_test": Form(f"/notifications/channels/{channel.pk}/test", {}, Delivery),
        "rule_new": Form(
            "/notifications/rules/new",
            {"name": "nights", "channel": channel.pk, "least_severity": "warning", "time_zone": "UTC"},
            Rule,
        ),
        "window_new": Form(
            "/notifications/maintenance/new",
            {
                "name": "cables",
                "host": pair.source.host_id,
                "begins_at": "2036-12-01T02:00",
                "ends_at": "2036-12-01T04:00",
            },
            MaintenanceWindow,
        ),
        "host_silence": Form(f"/hosts/{pair.source.host_id}/silence", {}, MaintenanceWindow),
        "tokens": Form("/tokens", {"name": "ci", "scope": "read", "lasts": "30", "networks": ""}, ApiToken),
        "saved_view_save": Form("/views/save", {"name": "nights", "path": "/history?over=7d"}, SavedView),
        "user_new": Form("/users/new", {"name": "wim", "email": "", "role": "viewer", "lasts": "7"}, User),
        "user_link": Form(f"/users/{vera.pk}/link", {}, Invitation),
        "invitation_new": Form("/invitations/new", {"email": "", "role": "viewer", "lasts": "7"}, Invitation),
        "services": Form("/users/services", {"name": "robot", "role": "viewer", "environment": ""}, User),
        "team_new": Form("/teams/new", {"name": "night shift"}, Team),
    }


def at_once(*acts: Callable[[], Response]) -> list[Response]:
    """Send requests at the same moment, each from a thread of its own."""
    ready, answers = threading.Barrier(len(acts)), list[Response]()

    def send(act: Callable[[], Response]) -> None:
        ready.wait()
        try:
            answers.append(act())
        finally:
            connection.close()

    threads = [threading.Thread(target=send, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def views_taking_forms() -> dict[str, list[str]]:
    """Return the views that say that they take a form, each with its decorators."""
    found = {}
    for file in (settings.BASE_DIR / "benchweb" / "web").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            decorators = [ast.unparse(each) for each in getattr(node, "decorator_list", ())]
            if isinstance(node, ast.FunctionDef) and any("POST" in each for each in decorators):
                found[node.name] = decorators
    return found


def test_every_view_that_takes_a_form_makes_something_once_or_is_known_to_be_repeatable() -> None:
    assert {name for name, decorators in views_taking_forms().items() if "once" not in decorators} == REPEATABLE


@pytest.mark.django_db(transaction=True)
def test_each_form_sent_twice_at_once_makes_one_thing(ada: User) -> None:
    filled = forms()
    once = {route.name for route, _ in needing_routes() if is_once(resolve(route.path).func)}
    assert set(filled) == once, "every view that makes something needs its form here"
    for name, form in filled.items():
        before = form.makes._default_manager.count()

        def send(form: Form = form) -> Response:
            client = Client()
            client.force_login(ada)
            return client.post(form.path, form.fields | {"csrfmiddlewaretoken": TOKEN})

        answers = [*at_once(send, send), send()]
        assert form.makes._default_manager.count() - before == form.count, (name, answers[0].content[-3000:])
        assert len({answer.status_code for answer in answers}) == 1, name
        assert answers[0].status_code in (201, 302), name
        assert len({answer.headers.get("Location") for answer in answers}) == 1, name
        assert len({answer.content for answer in answers}) == 1, name
    assert KeptAnswer.objects.filter(user=ada).count() == len(filled)


@pytest.fixture
def plan_form() -> dict[str, Any]:
    return PLAN | {"action": "save", "csrfmiddlewaretoken": TOKEN}


@pytest.mark.django_db
def test_the_second_is_told_so_and_shown_what_the_first_was(signed_in: Client, plan_form: dict[str, Any]) -> None:
    run = quiet(make_pair(), 1)[0]
    form = {"name": "5.2", "csrfmiddlewaretoken": TOKEN}
    first, second = (signed_in.post(f"/runs/{run.pk}/pin", form, follow=True).content.decode() for _ in range(2))
    done, twice = f"Run {run.pk} is pinned as baseline.", "The form was sent twice and done once."
    assert (done in first, twice in first) == (True, False)
    assert (done in second, twice in second) == (True, True)


@pytest.mark.django_db
def test_a_changed_form_is_another_and_a_refused_one_is_free(signed_in: Client, plan_form: dict[str, Any]) -> None:
    assert signed_in.post("/plans/new", plan_form | {"repetitions": "0"}).status_code == 200
    assert KeptAnswer.objects.count() == 0
    for name in ("sizes", "others", "sizes"):
        signed_in.post("/plans/new", plan_form | {"name": name})
    assert list(Plan.objects.order_by("pk").values_list("name", flat=True)) == ["sizes", "others"]
    signed_in.post("/plans/new", plan_form | {"csrfmiddlewaretoken": "u" * 64})
    assert Plan.objects.filter(name="sizes").count() == 2


@pytest.mark.django_db
def test_a_file_that_is_sent_again_is_told_from_another(signed_in: Client) -> None:
    pair = make_pair()

    def send(text: str) -> Response:
        file = SimpleUploadedFile("one.txt", text.encode())
        return signed_in.post("/imports", {"pair": pair.pk, "uploads": [file], "csrfmiddlewaretoken": TOKEN})

    locations = [send(text)["Location"] for text in (IPERF3, IPERF3, IPERF3.replace("9.39", "9.30"))]
    assert locations[0] == locations[1] != locations[2]
    assert Import.objects.count() == 2


@pytest.mark.django_db
def test_htmx_sends_a_pages_token_by_its_header(signed_in: Client) -> None:
    run = make_run()
    headers = {"HX-Request": "true", "X-CSRFToken": TOKEN}
    answers = [signed_in.post(f"/runs/{run.pk}/again", headers=headers) for _ in range(2)]
    assert len({answer["HX-Redirect"] for answer in answers}) == 1
    assert Run.objects.count() == 2


@pytest.mark.django_db
def test_a_page_that_htmx_asks_for_is_made_each_time_and_locks_nothing(signed_in: Client) -> None:
    run = make_run()
    with CaptureQueriesContext(connection) as captured:
        assert signed_in.get(f"/runs/{run.pk}/shares", headers={"X-CSRFToken": TOKEN}).status_code == 200
    assert not [query for query in captured if KeptAnswer._meta.db_table in query["sql"]]


@pytest.mark.django_db
def test_who_has_lost_the_role_is_refused_the_answer_too(
    signed_in: Client, ada: User, plan_form: dict[str, Any]
) -> None:
    assert signed_in.post("/plans/new", plan_form).status_code == 302
    role_set(user=make_user("vera", "a password of hers"), role=Role.ADMIN)
    role_set(user=ada, role=Role.VIEWER)
    assert signed_in.post("/plans/new", plan_form).status_code == 403


@pytest.mark.django_db(transaction=True)
def test_a_form_that_is_still_in_progress_is_said_to_be(
    signed_in: Client, ada: User, plan_form: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "_WAIT_MILLISECONDS", 50)
    signed_in.post("/plans/new", plan_form)
    key = KeptAnswer.objects.get().key
    KeptAnswer.objects.all().delete()
    done, is_under_way = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            KeptAnswer.objects.create(user=ada, key=key, request_digest=key)
            is_under_way.set()
            done.wait(60)
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    is_under_way.wait(60)
    answer = signed_in.post("/plans/new", plan_form)
    done.set()
    holder.join()
    assert (answer.status_code, Plan.objects.count()) == (409, 1)
    assert "It is done once only" in answer.content.decode()
