"""A creating call that is sent again with its `Idempotency-Key` is answered as the first, and makes nothing."""

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import ApiToken
from benchweb.accounts.roles.service_accounts import service_account_create
from benchweb.accounts.services import TokenLimits, token_create
from benchweb.api.urls import api as the_api
from benchweb.hosts.models import Host
from benchweb.idempotency import services
from benchweb.idempotency.models import KeptAnswer
from benchweb.plans.models import Plan
from benchweb.regressions.models import Alert, AlertSeries
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_channel, make_endpoint, make_environment, make_pair, make_plan, make_run, make_schedule
from tests.regressions.judged import judged, quiet
from tests.responses import Response

SCHEMA = the_api.get_openapi_schema()
CREATING = {
    operation["operationId"]: path.removeprefix("/api/v1")
    for path, methods in SCHEMA["paths"].items()
    for operation in methods.values()
    if "201" in map(str, operation["responses"])
}
TEXT = (Path(__file__).parents[1] / "toolformats" / "published" / "netperf_sizes.md").read_text()
KEY = "0b2a7d4e-9a53-4b5e-8a7e-51d7f8f1c0de"


class Scene:
    """Rows for every creating call, and its address and body."""

    def __init__(self) -> None:
        self.pair = make_pair()
        self.run = make_run(pair=self.pair)
        self.plan = make_plan(name="other")
        self.channel = make_channel()
        self.schedule = make_schedule()
        self.service = service_account_create(name="export", role="operator")
        self.ends = [make_endpoint(), make_endpoint()]
        changed = make_pair()
        self.finished = quiet(changed, series=3)[-1]
        judged(changed, [0.9] * 6, first=20, series=3)
        self.alert = Alert.objects.get()
        self.at = timezone.now() + timedelta(days=1)

    def calls(self) -> dict[str, tuple[dict[str, int], Any]]:
        """Return ids of the path and the body by operation."""
        pair, run, plan, environment = self.pair.pk, self.run.pk, self.plan.pk, make_environment().pk
        soon, later = (moment.isoformat() for moment in (self.at, self.at + timedelta(hours=1)))
        step = {"kind": "ping", "params": {"count": 1}}
        boot = {"name": "boot_seconds", "unit": "s", "better": "lower", "values": [12.5]}
        bound = {"kind": "tcp_stream", "metric": "throughput_bps", "relation": "below", "limit": 1e9}
        table = "name, address\nrowan, 192.0.2.30"
        series = AlertSeries.objects.filter(alert=self.alert).values_list("series", flat=True)[0]
        source, sink = (end.pk for end in self.ends)
        return {
            "host_create": ({}, {"name": "alder"}),
            "host_import": ({}, {"text": table}),
            "host_ticket": ({}, None),
            "environment_create": ({}, {"name": "zone 9"}),
            "endpoint_create": ({}, {"host": self.pair.source.host_id, "control_address": "192.0.2.9:7410"}),
            "pair_create": ({}, {"source": source, "sink": sink, "environment": environment}),
            "pair_mesh": ({}, {"endpoints": [source, sink], "environment": make_environment().pk}),
            "plan_create": ({}, {"name": "once", "steps": [step]}),
            "run_create": ({}, {"plan": plan, "pair": pair}),
            "run_label": ({"run_id": run}, {"label": "before"}),
            "campaign_create": ({}, {"plan": plan, "pairs": [pair]}),
            "schedule_create": ({}, {"name": "weekly", "plan": plan, "pairs": [pair], "cron": "0 2 * * 1"}),
            "schedule_run": ({"schedule_id": self.schedule.pk}, None),
            "share_create": ({}, {"run": run}),
            "report_add": ({}, {"title": "night", "template": "sizes", "runs": [self.finished.pk]}),
            "import_create": ({}, {"pair": pair, "text": TEXT, "at": "2023-09-20T10:00:00Z"}),
            "result_create": ({}, {"key": "a", "tool": "bootlab", "pair": pair, "kind": "boot", "metrics": [boot]}),
            "threshold_create": ({}, {"name": "floor"} | bound),
            "sensitivity_create": ({}, {"kind": "ping", "floor_ratio": 0.1}),
            "baseline_create": ({}, {"run": self.finished.pk, "name": "5.2"}),
            "alert_split": ({"alert_id": self.alert.pk}, {"series": [series]}),
            "channel_create": ({}, {"name": "mail", "kind": "email", "to": ["bea@example.org"]}),
            "alert_rule_create": ({}, {"name": "all", "channel": self.channel.pk}),
            "maintenance_window_create": (
                {},
                {"name": "cable", "begins_at": soon, "ends_at": later, "environment": environment},
            ),
            "user_create": ({}, {"name": "vera", "role": "viewer"}),
            "team_create": ({}, {"name": "night shift"}),
            "invitation_create": ({}, {"role": "viewer"}),
            "service_create": ({}, {"name": "robot", "role": "viewer"}),
            "service_token_create": ({"account_id": self.service.pk}, {"name": "ci", "scope": "read"}),
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


@pytest.fixture
def other_api(user: User) -> ApiClient:
    return ApiClient(token_create(user=user, name="another")[1])


@pytest.mark.django_db(transaction=True)
def test_two_equal_calls_at_once_make_one_thing_and_get_one_answer(api: ApiClient) -> None:
    calls = Scene().calls()
    assert set(calls) == set(CREATING), "every creating call needs a body here"
    for number, (operation, (ids, body)) in enumerate(calls.items()):
        path, key = CREATING[operation].format(**ids), f"{KEY}-{number}"

        def call(path: str = path, body: Any = body, key: str = key) -> Response:
            return api.post(path, body, **{"Idempotency-Key": key})

        answers = at_once(call, call)
        made = AuditEntry.objects.count()
        answers.append(call())
        assert [answer.status_code for answer in answers] == [201] * 3, (operation, answers[0].content)
        assert len({answer.content for answer in answers}) == 1, operation
        assert sum("Idempotent-Replayed" in answer.headers for answer in answers) == 2, operation
        assert {answer.headers["Content-Type"] for answer in answers} == {"application/json; charset=utf-8"}
        assert AuditEntry.objects.count() == made, operation
    assert KeptAnswer.objects.count() == len(calls)


@pytest.mark.django_db(transaction=True)
def test_eight_at_once_make_one(api: ApiClient) -> None:
    def call() -> Response:
        return api.post("/plans", {"name": "once", "steps": [{"kind": "ping"}]}, **{"Idempotency-Key": KEY})

    assert len({answer.json()["id"] for answer in at_once(*[call] * 8)}) == 1
    assert Plan.objects.filter(name="once").count() == 1


@pytest.mark.django_db(transaction=True)
def test_who_waits_too_long_is_told_to_come_again(
    api: ApiClient, refused: Refused, monkeypatch: pytest.MonkeyPatch, user: User
) -> None:
    monkeypatch.setattr(services, "_WAIT_MILLISECONDS", 50)
    done, is_under_way = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            KeptAnswer.objects.create(user=user, token_id=ApiToken.objects.get().pk, key=KEY, request_digest="")
            is_under_way.set()
            done.wait(60)
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    is_under_way.wait(60)
    answer = api.post("/hosts", {"name": "alder"}, **{"Idempotency-Key": KEY})
    done.set()
    holder.join()
    assert "still under way" in refused(answer, 409)
    assert answer.headers["Retry-After"] == "2"
    assert Host.objects.count() == 0


@pytest.mark.django_db
def test_a_key_is_of_one_call_with_one_body(api: ApiClient, refused: Refused) -> None:
    assert api.post("/hosts", {"name": "alder"}, **{"Idempotency-Key": KEY}).status_code == 201
    for path, body in (("/hosts", {"name": "birch"}), ("/environments", {"name": "alder"})):
        assert "use a new one" in refused(api.post(path, body, **{"Idempotency-Key": KEY}), 422, "Idempotency-Key")
    assert Host.objects.count() == 1


@pytest.mark.django_db
def test_another_token_has_keys_of_its_own(api: ApiClient, other_api: ApiClient) -> None:
    ids = [
        client.post("/plans", {"name": "x", "steps": [{"kind": "ping"}]}, **{"Idempotency-Key": KEY}).json()["id"]
        for client in (api, other_api)
    ]
    assert len(set(ids)) == 2


@pytest.mark.django_db
def test_a_refused_call_leaves_its_key_free_and_its_refusal_in_the_log(api: ApiClient, user: User) -> None:
    assert api.post("/hosts", {"name": " "}, **{"Idempotency-Key": KEY}).status_code == 422
    assert KeptAnswer.objects.count() == 0
    assert api.post("/hosts", {"name": "alder"}, **{"Idempotency-Key": KEY}).status_code == 201
    bound = TokenLimits(networks=["127.0.0.1/32"])
    narrow = ApiClient(token_create(user=user, name="bound", limits=bound)[1])
    call = {"name": "eve", "role": "admin"}
    assert narrow.post("/users", call, **{"Idempotency-Key": "another"}).status_code == 403
    assert AuditEntry.objects.filter(action="refused").count() == 1
    assert KeptAnswer.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["", "x" * 256, "two words", "schlüssel"])
def test_a_key_that_cannot_be_is_refused(api: ApiClient, refused: Refused, key: str) -> None:
    refused(api.post("/hosts", {"name": "alder"}, **{"Idempotency-Key": key}), 422, "Idempotency-Key")
    assert Host.objects.count() == 0


@pytest.mark.django_db
def test_what_makes_nothing_keeps_no_key(api: ApiClient) -> None:
    for _ in range(2):
        answer = api.post(
            "/hosts/import?dry_run=true", {"text": "name, address\nalder, 192.0.2.1"}, **{"Idempotency-Key": KEY}
        )
        assert (answer.status_code, "Idempotent-Replayed" in answer.headers) == (200, False)
    assert KeptAnswer.objects.count() == 0


@pytest.mark.django_db
def test_a_key_is_free_again_after_a_day_and_removed(api: ApiClient) -> None:
    body = {"name": "x", "steps": [{"kind": "ping"}]}
    first = api.post("/plans", body, **{"Idempotency-Key": KEY}).json()["id"]
    api.post("/plans", body, **{"Idempotency-Key": "young"})
    KeptAnswer.objects.filter(key=KEY).update(created_at=timezone.now() - services.KEPT - timedelta(seconds=1))
    # Also while nothing has removed it yet.
    again = api.post("/plans", body, **{"Idempotency-Key": KEY}).json()["id"]
    assert again != first
    KeptAnswer.objects.filter(key=KEY).update(created_at=timezone.now() - services.KEPT - timedelta(seconds=1))
    assert services.remove_old() == 1
    assert list(KeptAnswer.objects.values_list("key", flat=True)) == ["young"]


@pytest.mark.django_db
def test_a_secret_in_an_answer_is_kept_encrypted(api: ApiClient) -> None:
    made = api.post("/invitations", {"role": "viewer"}, **{"Idempotency-Key": KEY}).json()
    assert api.post("/invitations", {"role": "viewer"}, **{"Idempotency-Key": KEY}).json()["link"] == made["link"]
    assert b"link" not in bytes(KeptAnswer.objects.get().answer_encrypted)
