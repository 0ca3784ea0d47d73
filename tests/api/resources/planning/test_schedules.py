"""Schedules by REST: as the contract has them, and what is refused."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.models import Pair
from benchweb.runs.models import Campaign, Run
from benchweb.schedules.models import Schedule, Slot
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_endpoint, make_pair, make_plan, make_schedule

pytestmark = pytest.mark.django_db


def body(**fields: Any) -> dict[str, Any]:
    values = {"name": "nightly", "cron": "0 2 * * *", "timezone": "Asia/Shanghai"} | fields
    values.setdefault("plan", make_plan().pk)
    if not {"pairs", "mesh", "environment", "label"} & values.keys():
        values["pairs"] = [make_pair().pk]
    return values


def test_a_schedule_is_made_with_its_next_ten_slots_and_whether_it_fits(api: ApiClient, user: User) -> None:
    answer = api.post("/schedules", body(window={"from": "02:00", "until": "06:00"}))
    assert answer.status_code == 201
    made = answer.json()
    slots = [datetime.fromisoformat(text) for text in made["next_slots"]]
    assert len(slots) == 10
    # 02:00 in Shanghai is 18:00 UTC, all year.
    assert {(at.hour, at.minute, at.utcoffset()) for at in slots} == {(18, 0, timedelta(0))}
    assert [later - earlier for earlier, later in pairwise(slots)] == [timedelta(days=1)] * 9
    found = made["feasibility"]
    assert (found["fits"], found["runs"], found["conflict"]) == (True, 1, None)
    assert found["host_minutes_needed"] > 0
    assert slots[0] < datetime.fromisoformat(found["ends_at"]) < slots[0] + timedelta(hours=4)
    assert made["window"] == {"from": "02:00", "until": "06:00"}
    assert (made["missed"], made["retries"], made["every"], made["mesh"]) == ("skip", 2, None, None)
    assert Schedule.objects.get().created_by == user
    assert api.get(f"/schedules/{made['id']}").json()["next_slots"] == made["next_slots"]


def test_an_interval_is_iso_8601_and_counts_from_its_start(api: ApiClient) -> None:
    start = (timezone.now() + timedelta(days=1)).replace(minute=7, second=0, microsecond=0)
    values = body(every="PT6H", starts_at=start.isoformat(), max_runs=3)
    del values["cron"]
    made = api.post("/schedules", values).json()
    expected = [start + timedelta(hours=6 * number) for number in range(3)]
    assert [datetime.fromisoformat(text) for text in made["next_slots"]] == expected
    assert (made["cron"], made["every"], made["max_runs"]) == (None, "PT6H", 3)


def test_a_mesh_is_every_ordered_pair_and_its_pairs_are_made_when_it_runs(api: ApiClient) -> None:
    endpoints = [make_endpoint() for _ in range(4)]
    made = api.post("/schedules", body(mesh={"endpoints": [each.pk for each in endpoints]})).json()
    assert made["feasibility"]["runs"] == 12
    assert made["mesh"] == {"endpoints": [each.pk for each in endpoints]}
    slot = api.post(f"/schedules/{made['id']}/run").json()
    assert len(slot["runs"]) == 12
    assert Pair.objects.count() == 12


def test_a_window_that_is_too_short_is_kept_with_its_reason(api: ApiClient) -> None:
    plan = make_plan(steps=[{"kind": "tcp_stream", "params": {"duration_seconds": 600}}])
    answer = api.post("/schedules", body(plan=plan.pk, window={"from": "02:00", "until": "02:05"}))
    assert answer.status_code == 201
    found = answer.json()["feasibility"]
    assert found["fits"] is False
    assert found["reason"]
    assert Schedule.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"cron": "0 0 30 2 *"}, "cron"),
        ({"cron": "nightly"}, "cron"),
        ({"every": "PT6H"}, "cron"),
        ({"cron": ""}, "cron"),
        ({"cron": "", "every": "P1M"}, "every"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"window": {"from": "03:00", "until": "06:00"}}, "window"),
        ({"window": {"from": "25:00", "until": "06:00"}}, "window"),
        ({"window": {"from": "03:00"}}, "window.until"),
        ({"missed": "perhaps"}, "missed"),
        ({"ends_at": "2020-01-01T00:00:00Z"}, "ends_at"),
        ({"starts_at": "soon"}, "starts_at"),
        ({"starts_at": 5}, "starts_at"),
        ({"max_runs": 0}, "max_runs"),
        ({"plan": 999_999}, "plan"),
        ({"pairs": [999_999]}, "pairs"),
        ({"pairs": []}, "pairs"),
        ({"pairs": None}, "pairs"),
        ({"mesh": {"endpoints": [1]}, "pairs": None}, "mesh"),
        ({"mesh": {"endpoints": [1, 2]}, "pairs": [1]}, "mesh"),
        ({"label": "nobody-has-it", "pairs": None}, "label"),
        ({"environment": 999_999, "pairs": None}, "environment"),
        ({"name": ""}, "name"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_cannot_be_is_refused_with_its_field_and_nothing_is_kept(
    api: ApiClient, refused: Refused, fields: dict[str, Any], field: str
) -> None:
    refused(api.post("/schedules", body() | fields), 422, field)
    assert (Schedule.objects.count(), Slot.objects.count()) == (0, 0)


def test_a_pair_of_an_archived_host_is_refused_by_name(api: ApiClient, refused: Refused) -> None:
    pair = make_pair(source=make_endpoint(host_name="alder"))
    api.delete(f"/hosts/{pair.source.host_id}")
    assert "alder" in refused(api.post("/schedules", body(pairs=[pair.pk])), 422, "pairs")


def test_more_than_a_thousand_runs_a_slot_need_the_number(api: ApiClient, refused: Refused) -> None:
    endpoints = [make_endpoint().pk for _ in range(33)]
    message = refused(api.post("/schedules", body(mesh={"endpoints": endpoints})), 422, "confirm_runs")
    assert "1,056" in message
    assert (Schedule.objects.count(), Pair.objects.count()) == (0, 0)
    refused(api.post("/schedules", body(mesh={"endpoints": endpoints}, confirm_runs=5)), 422, "confirm_runs")
    answer = api.post("/schedules", body(mesh={"endpoints": endpoints}, confirm_runs=1056))
    assert (answer.status_code, answer.json()["feasibility"]["runs"]) == (201, 1056)


def test_a_patch_changes_what_it_names_and_nothing_else(api: ApiClient) -> None:
    schedule = make_schedule(window={"from": "02:00", "until": "06:00"}, retries=5)
    answer = api.patch(f"/schedules/{schedule.pk}", {"every": "PT1H", "timezone": "Europe/Berlin", "window": None})
    assert answer.status_code == 200
    changed = answer.json()
    assert (changed["cron"], changed["every"], changed["timezone"]) == (None, "PT1H", "Europe/Berlin")
    assert (changed["window"], changed["retries"], changed["name"]) == (None, 5, "nightly")
    assert changed["pairs"] == schedule.target["pairs"]


def test_a_refused_patch_changes_nothing(api: ApiClient, refused: Refused) -> None:
    schedule = make_schedule()
    refused(api.patch(f"/schedules/{schedule.pk}", {"name": "other", "cron": "0 0 30 2 *"}), 422, "cron")
    schedule.refresh_from_db()
    assert (schedule.name, schedule.cron) == ("nightly", "0 2 * * *")


def test_pause_resume_archive_and_restore(api: ApiClient) -> None:
    schedule = make_schedule()
    path = f"/schedules/{schedule.pk}"
    paused = api.post(f"{path}/pause").json()
    assert paused["paused_at"] is not None
    assert [each["id"] for each in api.get("/schedules?paused=true").json()["items"]] == [schedule.pk]
    resumed = api.post(f"{path}/resume").json()
    assert (resumed["paused_at"], len(resumed["next_slots"])) == (None, 10)
    assert api.delete(path).status_code == 204
    assert api.get("/schedules").json()["items"] == []
    assert [each["id"] for each in api.get("/schedules?archived=true").json()["items"]] == [schedule.pk]
    assert api.post(f"{path}/restore").json()["archived_at"] is None


def test_run_now_makes_a_slot_with_its_campaign_and_runs(api: ApiClient, user: User) -> None:
    schedule = make_schedule()
    before = timezone.now().replace(microsecond=0)
    answer = api.post(f"/schedules/{schedule.pk}/run")
    assert answer.status_code == 201
    slot = answer.json()
    campaign = Campaign.objects.get()
    assert (slot["state"], slot["reason"], slot["campaign"]) == ("pending", "", campaign.pk)
    assert slot["runs"] == [Run.objects.get().pk]
    assert before <= datetime.fromisoformat(slot["at"]) <= timezone.now()
    assert campaign.created_by == user
    assert api.get(f"/schedules/{schedule.pk}/slots").json() == {"items": [slot], "next": None}
    assert api.get(f"/campaigns/{campaign.pk}").json()["schedule"] == schedule.pk


def test_cron_as_people_type_it_is_stored_with_its_meaning_or_answered(api: ApiClient, refused: Refused) -> None:
    made = api.post("/schedules", body(cron="０ 2 * * fri-mon")).json()
    assert made["cron"] == "0 2 * * FRI,SAT,SUN,MON"
    path = f"/schedules/{made['id']}"
    assert api.patch(path, {"cron": "@daily"}).json()["cron"] == "0 0 * * *"
    words = {"cron": "Mondays and Thursdays at 6:30 pm"}
    assert api.patch(path, words).json()["cron"] == "30 18 * * MON,THU"
    assert api.patch(path, {"cron": "TZ=Asia/Shanghai 0 3 * * *"}).json()["cron"] == "0 3 * * *"
    told = refused(api.patch(path, {"cron": "TZ=Europe/Berlin 0 3 * * *"}), 422, "cron")
    assert "Europe/Berlin as the time zone" in told
    zoned = api.patch(path, {"cron": "TZ=Europe/Berlin 0 3 * * *", "timezone": "Europe/Berlin"}).json()
    assert (zoned["cron"], zoned["timezone"]) == ("0 3 * * *", "Europe/Berlin")
    assert "'*/70' in the minute" in refused(api.patch(path, {"cron": "*/70 * * * *"}), 422, "cron")
    assert "write Europe/Berlin." in refused(api.patch(path, {"timezone": "right/Europe/Berlin"}), 422, "timezone")
    assert api.get(path).json()["cron"] == "0 3 * * *"


def test_the_arrangement_of_its_campaigns_is_set_by_name(api: ApiClient, refused: Refused) -> None:
    made = api.post("/schedules", body(arrangement="rounds")).json()
    assert made["arrangement"] == "rounds"
    path = f"/schedules/{made['id']}"
    refused(api.patch(path, {"arrangement": "sideways"}), 422, "arrangement")
    refused(api.patch(path, {"arrangement": "together"}), 422, "arrangement")
    campaign = api.post(f"{path}/run").json()["campaign"]
    assert api.get(f"/campaigns/{campaign}").json()["arrangement"] == "rounds"
    assert api.patch(path, {"arrangement": "runs"}).json()["arrangement"] == "runs"


def test_overlap_is_set_by_name_and_what_waits_and_runs_is_told_and_cancelled(api: ApiClient, refused: Refused) -> None:
    made = api.post("/schedules", body(overlap="skip")).json()
    assert (made["overlap"], made["campaign"], made["waiting_slots"]) == ("skip", None, 0)
    path = f"/schedules/{made['id']}"
    refused(api.patch(path, {"overlap": "queue_all"}), 422, "overlap")
    assert api.patch(path, {"overlap": "queue_one"}).json()["overlap"] == "queue_one"
    first = api.post(f"{path}/run").json()
    Slot.objects.update(at=timezone.now() - timedelta(minutes=2))
    second = api.post(f"{path}/run").json()
    assert (second["state"], second["campaign"]) == ("pending", None)
    assert second["reason"] == f"Waits until campaign {first['campaign']} has ended."
    Slot.objects.filter(pk=second["id"]).update(at=timezone.now() - timedelta(minutes=1))
    assert "has not ended" in refused(api.post(f"{path}/run"), 409)
    now = api.get(path).json()
    assert (now["campaign"], now["waiting_slots"]) == (first["campaign"], 1)
    answer = api.post(f"{path}/cancel")
    assert answer.status_code == 202
    assert (answer.json()["campaign"], answer.json()["waiting_slots"]) == (None, 0)
    assert set(Run.objects.values_list("state", flat=True)) == {"cancelled"}


def test_the_success_rate_counts_skipped_slots_apart(api: ApiClient) -> None:
    schedule = make_schedule()
    for minute, state in enumerate(["finished", "failed", "skipped", "skipped"]):
        at = timezone.now() - timedelta(minutes=minute)
        Slot.objects.create(schedule=schedule, at=at, state=state, reason="told", claimed_at=at)
    found = api.get(f"/schedules/{schedule.pk}").json()["success_rate"]
    assert found == {"days": 30, "finished": 1, "total": 2, "skipped": 2, "ratio": 0.5}
    listed = api.get(f"/schedules/{schedule.pk}/slots").json()["items"]
    assert sorted(slot["state"] for slot in listed) == ["failed", "finished", "skipped", "skipped"]


def test_run_now_of_an_archived_schedule_is_refused(api: ApiClient, refused: Refused) -> None:
    schedule = make_schedule()
    api.delete(f"/schedules/{schedule.pk}")
    refused(api.post(f"/schedules/{schedule.pk}/run"), 409)
    assert Slot.objects.count() == 0


def test_slots_are_listed_newest_first_with_the_same_queries_however_many(
    api: ApiClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    schedule = make_schedule()
    first = datetime(2026, 1, 1, 2, tzinfo=UTC)
    for day in range(5):
        at = first + timedelta(days=day)
        Slot.objects.create(schedule=schedule, at=at, state="missed", reason="found too late", claimed_at=at)
    api.get("/schedules")
    # Token with user, schedule, slots; runs too when a slot has a campaign.
    with django_assert_num_queries(3):
        page = api.get(f"/schedules/{schedule.pk}/slots?limit=3").json()
    assert [item["at"][:10] for item in page["items"]] == ["2026-01-05", "2026-01-04", "2026-01-03"]
    assert page["items"][0] | {"id": 0} == {
        "id": 0,
        "at": "2026-01-05T02:00:00.000000Z",
        "state": "missed",
        "reason": "found too late",
        "reason_code": None,
        "reason_params": None,
        "campaign": None,
        "runs": [],
        "run_count": 0,
    }
    rest = api.get(f"/schedules/{schedule.pk}/slots?cursor={page['next']}").json()
    assert [item["at"][:10] for item in rest["items"]] == ["2026-01-02", "2026-01-01"]


def test_a_schedule_that_does_not_exist_is_404(api: ApiClient, refused: Refused) -> None:
    for method, path in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("GET", "/slots"), ("POST", "/run")):
        refused(api.call(method, f"/schedules/999999{path}", {} if method == "PATCH" else None), 404)
