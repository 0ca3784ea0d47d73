"""The audit log: every change with who, through what, from where, before and after; nobody changes an entry."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.test import Client
from django.utils import timezone
from psycopg_pool import ConnectionPool
from pytest_django import Settings

from benchweb.accounts.audit import retention
from benchweb.accounts.audit.actors import Actor, acting
from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import Grant, Role
from benchweb.accounts.services import token_create
from benchweb.common.connection_actor import forget_actor
from benchweb.hosts.models import Endpoint, Host
from benchweb.sharing.services import share_create
from tests.factories import make_endpoint, make_pair, make_run, make_schedule, make_user

PASSWORD = "correct horse battery"  # pragma: allowlist secret
# What people don't define: results, what a probe sees, what one sees of one's own pages, and the log itself.
NOT_AUDITED = {
    *("accounts_auditentry", "accounts_listcolumns", "accounts_preferences"),
    # Tables of django-allauth that nothing is written to.
    *("account_emailaddress", "account_emailconfirmation", "socialaccount_socialapp", "socialaccount_socialtoken"),
    *("auth_group", "auth_permission", "django_content_type", "django_session"),
    "idempotency_keptanswer",
    *(
        "hosts_availabilityspan",
        "hosts_canaryfigure",
        "hosts_canaryturn",
        "hosts_facts",
        "hosts_formername",
        "hosts_probehour",
    ),
    *("notifications_delivery", "notifications_deliveryattempt", "ops_backup", "ops_storagesample"),
    *("regressions_alert", "regressions_alertseries", "regressions_runjudgement", "regressions_seriesnoise"),
    *("regressions_slowlook", "regressions_slowchange", "regressions_slowchangeseries"),
    *("results_environmentnights", "results_intervalpart", "results_nightfigure", "results_point"),
    *("results_recentmedians", "results_result", "results_runfigure", "results_series"),
    *("runs_reservation", "runs_resource", "runs_runevent", "runs_trial"),
    *("schedules_slot", "sharing_livepage", "sharing_sharepart"),
}

READ_ACTOR = "SELECT current_setting('benchweb.actor', true)"

pytestmark = pytest.mark.django_db


def entries(**conditions: object) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(**conditions).order_by("pk"))


@pytest.fixture
def api_token(ada: User) -> str:
    return token_create(user=ada, name="ci")[1]


@pytest.fixture
def aged() -> Iterator[AuditEntry]:
    """An entry of 40 days ago."""
    yield AuditEntry.objects.create(at=timezone.now() - timedelta(days=40), action="created", via="system")


def test_every_table_is_audited_or_named_as_not() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'audit'")
        audited = {table for (table,) in cursor.fetchall()}
    tables = {model._meta.db_table for model in apps.get_models()}
    assert audited | NOT_AUDITED == tables
    assert not audited & NOT_AUDITED


def test_a_change_on_a_page_names_its_user_and_address(signed_in: Client, ada: User) -> None:
    signed_in.post("/environments/new", {"name": "rack 7"}, REMOTE_ADDR="192.0.2.7")
    (entry,) = entries(table="hosts_environment")
    assert (entry.action, entry.via, entry.user_id, entry.user_name) == ("created", "page", ada.pk, "ada")
    assert (entry.address, entry.object_name) == ("192.0.2.7", "rack 7")
    assert entry.changes["name"] == [None, "rack 7"]


def test_a_change_by_a_token_names_the_token(client: Client, ada: User) -> None:
    token, secret = token_create(user=ada, name="ci")
    answer = client.post(
        "/api/v1/environments", {"name": "rack 8"}, "application/json", HTTP_AUTHORIZATION=f"Bearer {secret}"
    )
    assert answer.status_code == 201
    (entry,) = entries(table="hosts_environment")
    assert (entry.via, entry.user_name, entry.token_id) == ("token", "ada", token.pk)


def test_what_follows_a_request_is_not_its_users(signed_in: Client) -> None:
    signed_in.post("/environments/new", {"name": "rack 7"})
    Host.objects.create(name="alder")
    (entry,) = entries(table="hosts_host")
    assert (entry.via, entry.user_id, entry.user_name) == ("system", None, "")


def test_an_update_of_many_rows_has_an_entry_for_each_with_both_values() -> None:
    make_endpoint(host_name="alder")
    make_endpoint(host_name="birch")
    Host.objects.update(description="spare")
    changed = entries(table="hosts_host", action="changed")
    assert [entry.changes for entry in changed] == [{"description": ["", "spare"]}] * 2


def test_what_a_probe_writes_is_no_change_and_a_secret_is_never_in_an_entry() -> None:
    endpoint = make_endpoint(token="t" * 64)
    before = AuditEntry.objects.count()
    Endpoint.objects.filter(pk=endpoint.pk).update(status="answered", checked_at=timezone.now())
    assert AuditEntry.objects.count() == before
    make_user("grace", PASSWORD)
    token, secret = token_create(user=User.objects.get(username="grace"), name="ci")
    share_create(run=make_run(), user=None, expires_at=None, anonymise=False)
    Endpoint.objects.filter(pk=endpoint.pk).update(token_encrypted=b"other")
    written = " ".join(str(entry.changes) for entry in entries())
    user = User.objects.get(username="grace")
    assert not any(part in written for part in (PASSWORD, secret, token.digest, user.password, "t" * 64))
    assert entries(table="hosts_endpoint")[-1].changes == {"token_encrypted": ["…", "…"]}
    assert entries(table="auth_user")[-1].changes["password"] == [None, "…"]


def test_a_change_that_is_rolled_back_leaves_no_entry() -> None:
    with transaction.atomic():
        Host.objects.create(name="alder")
        transaction.set_rollback(True)
    assert entries(table="hosts_host") == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE accounts_auditentry SET user_name = 'nobody'",
        "DELETE FROM accounts_auditentry",
        "TRUNCATE accounts_auditentry",
    ],
)
def test_an_entry_is_neither_changed_nor_deleted(statement: str) -> None:
    Host.objects.create(name="alder")
    # Tests with transactions are allowed to empty it.
    connection.cursor().execute("ALTER TABLE accounts_auditentry ENABLE TRIGGER audit_guard_all")
    with pytest.raises(DatabaseError, match="neither changed nor deleted"), transaction.atomic():
        connection.cursor().execute(statement)
    assert entries(table="hosts_host")


def test_entries_go_after_the_days_of_the_setting(aged: AuditEntry, settings: Settings) -> None:
    Host.objects.create(name="alder")
    settings.AUDIT_DAYS = 60
    assert retention.remove_old() == 0
    settings.AUDIT_DAYS = 35
    assert retention.remove_old() == 1
    assert [entry.table for entry in entries()] == ["hosts_host"]


def test_log_ins_log_outs_and_wrong_passwords_are_entries(client: Client) -> None:
    make_user("grace", PASSWORD)
    client.post("/login", {"username": "grace", "password": PASSWORD[:-1]}, REMOTE_ADDR="192.0.2.9")
    client.post("/login", {"username": "grace", "password": PASSWORD})
    client.post("/logout")
    logins = entries(table="")
    assert [entry.action for entry in logins] == ["login_failed", "logged_in", "logged_out"]
    assert [entry.user_name for entry in logins] == ["grace"] * 3
    assert logins[0].address == "192.0.2.9"


def test_the_page_filters_and_exports(signed_in: Client) -> None:
    signed_in.post("/environments/new", {"name": "rack 7"})
    Host.objects.create(name="alder")
    page = signed_in.get("/audit", {"user": "ada", "table": "hosts_environment"}).content.decode()
    assert "rack 7" in page and "alder" not in page
    answer = signed_in.get("/audit.csv", {"table": "hosts_host"})
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]  # streamed
    assert re.search(r"created,system,,,,,hosts_host,[0-9]+,alder", text)
    assert "rack 7" not in text


def test_a_connection_goes_back_to_the_pool_as_nobodys(ada: User) -> None:
    parameters = connection.get_connection_params()
    keywords = {name: parameters[name] for name in ("dbname", "user", "password", "host", "port") if name in parameters}
    with ConnectionPool(
        kwargs=keywords | {"autocommit": True}, min_size=1, max_size=1, reset=forget_actor, open=True
    ) as pool:
        with pool.connection() as lent, acting(Actor("page", ada.pk, "ada")):
            connection_created.send(BaseDatabaseWrapper, connection=SimpleNamespace(connection=lent, vendor="none"))
            assert '"user_name": "ada"' in str(lent.execute(READ_ACTOR).fetchone())
        with pool.connection() as lent:
            assert lent.execute(READ_ACTOR).fetchone() == ("",)


def test_the_log_as_json_lines_and_by_rest(api_token: str, client: Client) -> None:
    host = Host.objects.create(name="alder")
    written = StringIO()
    call_command("audit_log", stdout=written)
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    (line,) = [line for line in lines if line["table"] == "hosts_host"]
    assert (line["action"], line["object_id"], line["changes"]["name"]) == ("created", host.pk, [None, "alder"])
    address = f"/api/v1/audit?table=hosts_host&object_id={host.pk}"
    (item,) = client.get(address, HTTP_AUTHORIZATION=f"Bearer {api_token}").json()["items"]
    assert item == line | {"at": item["at"]}


def test_the_page_of_an_object_leads_admins_alone_to_what_became_of_it(signed_in: Client) -> None:
    pair, schedule = make_pair(), make_schedule()
    host, plan = pair.source.host, schedule.plan
    rows = {"hosts": host, "pairs": pair, "plans": plan, "schedules": schedule, "environments": pair.environment}
    signed_in.post(f"/hosts/{host.pk}/edit", {"name": "renamed", "environments": [pair.environment_id]})
    editor, edith = Client(), User.objects.create_user("edith")
    Grant.objects.create(user=edith, role=Role.EDITOR)
    editor.force_login(edith)
    for name, row in rows.items():
        log = f"/audit?table={row._meta.db_table}&amp;object={row.pk}"
        assert f'href="{log}"' in signed_in.get(f"/{name}/{row.pk}").content.decode(), name
        assert "/audit" not in editor.get(f"/{name}/{row.pk}").content.decode(), name
    answer = signed_in.get(f"/audit?table=hosts_host&object={host.pk}")
    assert "Only Host renamed." in answer.content.decode()
    assert {row.entry.object_id for row in answer.context["rows"]} == {host.pk}
    assert "One object only." in signed_in.get("/audit?table=hosts_host&object=999999").content.decode()
