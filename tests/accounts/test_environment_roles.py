"""A role in one environment allows there what it names, and nothing elsewhere."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from pytest_django import Settings

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import Grant, Role
from benchweb.annotations.services import annotation_create
from benchweb.hosts.models import Host, Pair
from benchweb.runs.models import Run
from benchweb.schedules.models import Schedule
from tests.factories import make_alert, make_endpoint, make_environment, make_pair, make_plan, make_run, make_schedule

SCHEDULE = {"action": "save", "name": "late", "target": "pairs", "repeat": "cron", "cron": "0 3 * * *"}
SCHEDULE |= {"timezone": "UTC", "missed": "skip", "retries": "2", "retry_pause": "60 s"}
# What an unchanged database looks like: how many rows there are, and what may be changed of them.
LOOK = """
SELECT (SELECT array_agg((id, state, labels, cancel_requested_at) ORDER BY id) FROM runs_run),
  (SELECT array_agg((id, environment_id, labels, archived_at, path_due_at) ORDER BY id) FROM hosts_pair),
  (SELECT array_agg((id, archived_at, paused_at, cron, target) ORDER BY id) FROM schedules_schedule),
  (SELECT array_agg((id, state) ORDER BY id) FROM regressions_alert),
  (SELECT array_agg((id, archived_at) ORDER BY id) FROM regressions_annotation),
  (SELECT array_agg((id, name) ORDER BY id) FROM hosts_environment),
  (SELECT count(*) FROM sharing_share), (SELECT count(*) FROM imports_import)
"""


@dataclass(frozen=True)
class Place:
    """An environment with a row of everything that belongs to one."""

    pair: Pair
    run: Run
    schedule: Schedule
    alert: int
    note: int


Request = tuple[str, dict[str, object]]


def place(name: str) -> Place:
    pair = make_pair(environment=name)
    run = make_run(pair=pair)
    return Place(
        pair,
        run,
        make_schedule(name=name, plan=run.plan_version.plan, target={"pairs": [pair.pk]}),
        make_alert(pair=pair).pk,
        annotation_create(text="rewired", at=datetime(2026, 1, 1, tzinfo=UTC), pair=pair).pk,
    )


RUNNING: dict[str, Callable[[Place], Request]] = {
    "launch": lambda at: (
        "/launch",
        {"action": "launch", "plan": at.run.plan_version.plan_id, "pairs": [at.pair.pk]},
    ),
    "quick test": lambda at: (
        "/quick-test",
        {"source": at.pair.source_id, "sink": at.pair.sink_id, "kind": "tcp_stream"},
    ),
    "run again": lambda at: (f"/runs/{at.run.pk}/again", {}),
    "cancel": lambda at: (f"/runs/{at.run.pk}/cancel", {}),
    "cancel ticked": lambda at: ("/runs/bulk", {"action": "cancel", "confirmed": 1, "runs": [at.run.pk]}),
    "label ticked": lambda at: ("/runs/bulk", {"action": "label", "label": "x", "runs": [at.run.pk]}),
    "cancel campaign": lambda at: (f"/campaigns/{at.run.campaign_id}/cancel", {}),
    "label campaigns": lambda at: ("/campaigns/label", {"action": "label", "label": "x", "rows": [at.run.campaign_id]}),
    "cancel campaigns": lambda at: ("/campaigns/cancel", {"confirmed": 1, "rows": [at.run.campaign_id]}),
    "new schedule": lambda at: (
        "/schedules/new",
        SCHEDULE | {"plan": at.run.plan_version.plan_id, "pairs": [at.pair.pk]},
    ),
    "pause": lambda at: (f"/schedules/{at.schedule.pk}/pause", {}),
    "run now": lambda at: (f"/schedules/{at.schedule.pk}/run", {}),
    "archive schedule": lambda at: (f"/schedules/{at.schedule.pk}/archive", {}),
    "acknowledge": lambda at: (f"/alerts/{at.alert}/move", {"action": "acknowledge"}),
    "triage": lambda at: ("/alerts/triage", {"action": "acknowledge", "alert": [at.alert]}),
    "remove note": lambda at: (f"/history/notes/{at.note}/remove", {}),
    "share": lambda at: (f"/runs/{at.run.pk}/shares", {"lasts": "30"}),
    "check path": lambda at: (f"/pairs/{at.pair.pk}/check", {}),
}
WRITING: dict[str, Callable[[Place], Request]] = {
    "archive pair": lambda at: (f"/pairs/{at.pair.pk}/archive", {}),
    "archive ticked": lambda at: ("/pairs/archive", {"confirmed": 1, "rows": [at.pair.pk]}),
    "label pairs": lambda at: ("/pairs/label", {"action": "label", "label": "x", "rows": [at.pair.pk]}),
    "new pair": lambda at: (
        "/pairs/new",
        {"source": at.pair.sink_id, "sink": at.pair.source_id, "environment": at.pair.environment_id},
    ),
    "rename environment": lambda at: (f"/environments/{at.pair.environment_id}/edit", {"name": "renamed"}),
}


@pytest.fixture
def olga(db: None, settings: Settings) -> User:
    """Return a user who is a viewer everywhere."""
    settings.DEFAULT_ROLE = "viewer"
    return User.objects.create_user("olga")


@pytest.fixture
def client(olga: User) -> Client:
    client = Client()
    client.force_login(olga)
    return client


def state_of_all() -> object:
    with connection.cursor() as cursor:
        cursor.execute(LOOK)
        return cursor.fetchone()


@pytest.mark.parametrize("name", [*RUNNING, *WRITING])
def test_a_request_is_refused_outside_of_the_environment_and_changes_nothing(
    client: Client, olga: User, name: str
) -> None:
    role, request_of = (Role.OPERATOR, RUNNING[name]) if name in RUNNING else (Role.EDITOR, WRITING[name])
    lab, field = place("lab"), place("field")
    Grant.objects.create(user=olga, role=role, environment=lab.pair.environment)
    before = state_of_all()
    path, values = request_of(field)
    response = client.post(path, values)
    assert response.status_code == 403
    words = f"This needs the role {role.label} in the environment {field.pair.environment.name}."
    assert words in response.content.decode()
    assert state_of_all() == before
    path, values = request_of(lab)
    assert client.post(path, values).status_code in (200, 201, 302)
    # A check of the path is only due; it was before.
    assert (state_of_all() == before) is (name == "check path")


@pytest.mark.parametrize("name", WRITING)
def test_an_operator_of_an_environment_is_no_editor_of_it(client: Client, olga: User, name: str) -> None:
    lab = place("lab")
    Grant.objects.create(user=olga, role=Role.OPERATOR, environment=lab.pair.environment)
    path, values = WRITING[name](lab)
    assert client.post(path, values).status_code == 403


def test_a_launch_on_pairs_of_two_environments_needs_the_role_in_both(client: Client, olga: User) -> None:
    lab, field = place("lab"), place("field")
    Grant.objects.create(user=olga, role=Role.OPERATOR, environment=lab.pair.environment)
    values = {"action": "launch", "plan": lab.run.plan_version.plan_id, "pairs": [lab.pair.pk, field.pair.pk]}
    assert client.post("/launch", values).status_code == 403
    assert Run.objects.count() == 2
    Grant.objects.create(user=olga, role=Role.OPERATOR, environment=field.pair.environment)
    assert client.post("/launch", values).status_code == 302
    assert Run.objects.count() == 4


@pytest.mark.parametrize("target", [{"label": "rack-7"}, {"mesh": {"endpoints": [1, 2]}}])
def test_a_schedule_whose_pairs_may_be_of_any_environment_needs_the_role_everywhere(
    client: Client, olga: User, target: dict[str, object]
) -> None:
    lab = place("lab")
    Grant.objects.create(user=olga, role=Role.OPERATOR, environment=lab.pair.environment)
    Schedule.objects.filter(pk=lab.schedule.pk).update(target=target)
    assert client.post(f"/schedules/{lab.schedule.pk}/pause").status_code == 403
    Grant.objects.create(user=olga, role=Role.OPERATOR)
    assert client.post(f"/schedules/{lab.schedule.pk}/pause").status_code == 302


def test_a_schedule_cannot_be_turned_to_pairs_elsewhere(client: Client, olga: User) -> None:
    lab, field = place("lab"), place("field")
    Grant.objects.create(user=olga, role=Role.OPERATOR, environment=lab.pair.environment)
    values = SCHEDULE | {"plan": lab.run.plan_version.plan_id, "pairs": [field.pair.pk]}
    assert client.post(f"/schedules/{lab.schedule.pk}/edit", values).status_code == 403
    lab.schedule.refresh_from_db()
    assert lab.schedule.target == {"pairs": [lab.pair.pk]}


def test_a_pair_cannot_be_moved_to_an_environment_elsewhere(client: Client, olga: User) -> None:
    lab, other = make_pair(environment="lab"), make_environment("other")
    Grant.objects.create(user=olga, role=Role.EDITOR, environment=lab.environment)
    assert client.post(f"/pairs/{lab.pk}/edit", {"environment": other.pk}).status_code == 403
    lab.refresh_from_db()
    assert lab.environment.name == "lab"


def test_a_mesh_in_a_new_environment_needs_the_role_everywhere(client: Client, olga: User) -> None:
    lab = make_environment("lab")
    Grant.objects.create(user=olga, role=Role.EDITOR, environment=lab)
    ends = [make_endpoint().pk, make_endpoint().pk]
    Host.objects.update(environment_ids=[lab.pk])
    values = {"shape": "mesh", "endpoints": ends, "new_environment": "theirs", "both_directions": "on"}
    assert client.post("/pairs/mesh", values).status_code == 403
    assert not Pair.objects.exists()
    make_plan()
    assert client.post("/pairs/mesh", values | {"new_environment": "", "environment": lab.pk}).status_code == 302
    assert Pair.objects.count() == 2


def test_a_refusal_is_in_the_audit_log(client: Client, olga: User) -> None:
    client.post("/hosts/new", {"name": "a"})
    entry = AuditEntry.objects.get(action=AuditEntry.Action.REFUSED)
    assert (entry.user_name, entry.object_name) == ("olga", "POST /hosts/new: This needs the role editor.")
