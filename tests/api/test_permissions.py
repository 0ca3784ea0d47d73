"""Every call is refused to those whose role doesn't allow it, and to nobody else."""

import re
from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User
from django.test import RequestFactory
from pytest_django import Settings

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import Grant, Role
from benchweb.accounts.permissions import Access, Permission
from benchweb.accounts.roles.needs import Needs
from benchweb.accounts.services import TokenLimits, token_create
from benchweb.api.application import stated_by
from benchweb.api.authentication import BearerToken
from benchweb.api.problems import Problem
from benchweb.api.urls import api as the_api
from benchweb.hosts.models import Pair
from benchweb.imports.models import Import
from benchweb.runs.models import Run
from benchweb.schedules.models import Schedule
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_alert, make_pair, make_plan, make_run, make_schedule

pytestmark = pytest.mark.django_db
NO_ROW = "999999"
# Reading calls that need more, and writing ones that need no more than a role to read.
READ_BY_ADMINS = {
    *("audit_list", "user_list", "user_detail", "team_list", "team_detail", "invitation_list", "invitation_detail"),
    *("service_list", "service_detail", "service_token_list"),
    *("user_environment_role_list", "team_environment_role_list", "service_environment_role_list"),
}
READ_BY_EDITORS = {"enrolment_code_list", "enrolment_code_detail"}


def client_of(role: Role | None, **grant: object) -> ApiClient:
    user = User.objects.create_user(f"the-{role}")
    if role is not None:
        Grant.objects.create(user=user, role=role, **grant)
    return ApiClient(token_create(user=user, name="script")[1])


def calls() -> Iterator[tuple[str, str, str, Needs | None]]:
    """Yield the method, path, name and needs of every operation, with an id that no row has."""
    for path, view in the_api.path_views():
        for operation in view.operations:
            for method in operation.methods:
                yield method, re.sub(r"{[^}]+}", NO_ROW, path), operation.view_func.__name__, stated_by(operation)


def test_every_operation_names_what_it_needs() -> None:
    assert len(list(calls())) > 130
    assert [name for _, _, name, stated in calls() if stated is None] == []
    writing = {(method, stated.write) for method, _, _, stated in calls() if stated}
    assert {method for method, permission in writing if permission == Permission.READ} == {"GET"}
    reading = {name for method, _, name, stated in calls() if stated and method == "GET" and stated.read != "read"}
    assert reading == READ_BY_ADMINS | READ_BY_EDITORS


def test_an_operation_that_names_nothing_lets_nobody_in() -> None:
    user = User.objects.create_superuser("root")
    request = RequestFactory().get("/api/v1/forgetful")
    with pytest.raises(Problem) as refused:
        BearerToken().authenticate(request, token_create(user=user, name="script")[1])
    assert refused.value.status == 403
    assert "names no permission" in refused.value.detail


@pytest.mark.parametrize("role", Role)
def test_each_call_is_refused_exactly_where_the_role_is_too_low(role: Role) -> None:
    client, access = client_of(role), Access(role)
    wrong = [
        (method, path)
        for method, path, _, stated in calls()
        if stated
        and (client.call(method, path, None if method == "GET" else {}).status_code == 403)
        is access.may(stated.of(method))
    ]
    assert wrong == []


def test_a_viewer_can_change_nothing() -> None:
    client = client_of(Role.VIEWER)
    for method, path, _, _ in calls():
        if method != "GET":
            assert (client.call(method, path, {}).status_code, path) == (403, path)


def test_a_refusal_is_a_problem_that_says_which_role_it_takes_and_is_in_the_audit_log(refused: Refused) -> None:
    said = refused(client_of(Role.OPERATOR).post("/hosts", {"name": "a"}), 403)
    assert said.startswith("This call needs the role editor; this token has the role operator.")
    entry = AuditEntry.objects.get(action=AuditEntry.Action.REFUSED)
    assert (entry.user_name, entry.via) == ("the-operator", "token")
    assert entry.object_name == "POST /api/v1/hosts: This needs the role editor."


def test_a_token_has_no_more_than_its_scope_leaves_of_its_users_role(refused: Refused) -> None:
    root = User.objects.create_superuser("root")
    client = ApiClient(token_create(user=root, name="script", limits=TokenLimits(scope="read"))[1])
    assert client.get("/hosts").status_code == 200
    assert "this token has the role viewer" in refused(client.post("/hosts", {"name": "a"}), 403)


def test_the_token_of_a_deactivated_user_is_refused_at_the_next_call(refused: Refused) -> None:
    client = client_of(Role.ADMIN)
    assert client.get("/hosts").status_code == 200
    User.objects.update(is_active=False)
    refused(client.get("/hosts"), 401)


Call = tuple[str, str, dict[str, object]]
RESULT: dict[str, object] = {"tool": "qperf", "kind": "tcp_stream", "key": "1"}
RESULT |= {"metrics": [{"name": "throughput_bps", "values": [1e9]}]}
RUNNING: dict[str, Callable[[Run, Schedule], Call]] = {
    "run": lambda run, _: ("POST", "/runs", {"plan": run.plan_version.plan_id, "pair": run.pair_id}),
    "run between endpoints": lambda run, _: (
        "POST",
        "/runs",
        {"kind": "tcp_stream", "source": run.pair.source_id, "sink": run.pair.sink_id},
    ),
    "campaign": lambda run, _: ("POST", "/campaigns", {"plan": run.plan_version.plan_id, "pairs": [run.pair_id]}),
    "cancel": lambda run, _: ("POST", f"/runs/{run.pk}/cancel", {}),
    "cancel campaign": lambda run, _: ("POST", f"/campaigns/{run.campaign_id}/cancel", {}),
    "label": lambda run, _: ("POST", f"/runs/{run.pk}/labels", {"label": "x"}),
    "schedule": lambda run, _: (
        "POST",
        "/schedules",
        {"name": "late", "plan": run.plan_version.plan_id, "pairs": [run.pair_id], "cron": "0 3 * * *"},
    ),
    "change schedule": lambda _, schedule: ("PATCH", f"/schedules/{schedule.pk}", {"cron": "0 4 * * *"}),
    "pause": lambda _, schedule: ("POST", f"/schedules/{schedule.pk}/pause", {}),
    "archive schedule": lambda _, schedule: ("DELETE", f"/schedules/{schedule.pk}", {}),
    "acknowledge": lambda run, _: ("POST", f"/alerts/{make_alert(pair=run.pair).pk}/acknowledge", {}),
    "result": lambda run, _: ("POST", "/results", RESULT | {"pair": run.pair_id}),
}
WRITING: dict[str, Callable[[Run, Schedule], Call]] = {
    "archive pair": lambda run, _: ("DELETE", f"/pairs/{run.pair_id}", {}),
    "pair": lambda run, _: (
        "POST",
        "/pairs",
        {"source": run.pair.sink_id, "sink": run.pair.source_id, "environment": run.pair.environment_id},
    ),
    "mesh": lambda run, _: (
        "POST",
        "/pairs/mesh",
        {"endpoints": [run.pair.sink_id, run.pair.source_id], "environment": run.pair.environment_id},
    ),
    "rename environment": lambda run, _: ("PATCH", f"/environments/{run.pair.environment_id}", {"name": "renamed"}),
}


def place(name: str) -> tuple[Run, Schedule]:
    run = make_run(pair=make_pair(environment=name))
    return run, make_schedule(name=name, plan=run.plan_version.plan, target={"pairs": [run.pair_id]})


def counts() -> list[int]:
    return [model.objects.count() for model in (Run, Pair, Schedule, Import)]


@pytest.mark.parametrize("name", [*RUNNING, *WRITING])
def test_a_call_is_refused_outside_of_the_environment(name: str, settings: Settings, refused: Refused) -> None:
    settings.DEFAULT_ROLE = "viewer"
    role, call_of = (Role.OPERATOR, RUNNING[name]) if name in RUNNING else (Role.EDITOR, WRITING[name])
    lab, field = place("lab"), place("field")
    client = client_of(role, environment=lab[0].pair.environment)
    call, before = call_of(*field), counts()
    assert f"needs the role {role.value} in the environment field" in refused(client.call(*call), 403)
    assert counts() == before
    assert client.call(*call_of(*lab)).status_code in (200, 201, 202, 204)


def test_a_schedule_or_a_pair_cannot_be_moved_elsewhere(settings: Settings, refused: Refused) -> None:
    settings.DEFAULT_ROLE = "viewer"
    (run, schedule), (other, _) = place("lab"), place("field")
    client = client_of(Role.EDITOR, environment=run.pair.environment)
    refused(client.patch(f"/schedules/{schedule.pk}", {"pairs": [other.pair_id]}), 403)
    refused(client.patch(f"/pairs/{run.pair_id}", {"environment": other.pair.environment_id}), 403)
    for target in ({"label": "rack-7"}, {"mesh": {"endpoints": [run.pair.source_id, run.pair.sink_id]}}):
        body = {"name": "late", "plan": make_plan(name=f"of {next(iter(target))}").pk, "cron": "0 3 * * *"} | target
        refused(client.post("/schedules", body), 403)
    schedule.refresh_from_db()
    run.pair.refresh_from_db()
    assert (schedule.target, run.pair.environment.name) == ({"pairs": [run.pair_id]}, "lab")
