"""Every list of the API is bounded: what OpenAPI describes as an array is paged, or bounded by a rule named here."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from benchweb.accounts.roles.grants import team_create
from benchweb.accounts.roles.service_accounts import service_account_create
from benchweb.api.paging import MAXIMUM_LIMIT
from benchweb.api.resources.inventory import availability
from benchweb.api.resources.planning import schedules
from benchweb.api.resources.planning.simultaneous import MAXIMUM_TRIALS
from benchweb.api.resources.series import MAXIMUM_POINTS
from benchweb.api.urls import api as the_api
from benchweb.hosts.models import AvailabilitySpan
from benchweb.runs.services import launch
from benchweb.schedules.models import Slot
from tests.api.conftest import ApiClient
from tests.factories import make_channel, make_endpoint, make_pair, make_plan, make_run, make_schedule

pytestmark = pytest.mark.django_db

# Arrays in answers about one row, and what bounds each; a new one needs its bound, and its name here.
BOUNDED = {
    "HostItem.labels": "at most 20 are taken",
    "HostItem.environments": "those that people put one host into",
    "OwnKindItem.metrics": "at most 50 are taken",
    "PairItem.labels": "at most 20 are taken",
    "PlanItem.labels": "at most 20 are taken",
    "PathFound.dead": "at most 3 beside the one that is told of",
    "HostAvailability.endpoints": "those in use of one host",
    "HostCanaries.figures": "three a night of at most 400 nights, of each endpoint in use of one host",
    "EndpointAvailability.stretches": "at most 10,000 of a host, else refused",
    "TableItem.lines": "at most 500 are taken",
    "TicketItem.programs": "one for each architecture",
    "MeshItem.pairs": "at most 40,000 are made",
    "PlanItem.steps": "at most 100 are taken",
    "PlanVersionItem.steps": "at most 100 are taken",
    "ReportDetail.runs": "at most 40 are taken",
    "ReportDetail.modes": "at most 12 are taken",
    "ReportDetail.sections": "four",
    "ReportDetail.chosen_settings": "at most 40 are taken",
    "SectionItem.tables": "some for each of 40 runs",
    "ReportTableItem.columns": "those of its tool, or 12 modes",
    "ReportTableItem.rows": "the trials of 40 runs, or their intervals",
    "ReportTableItem.notes": "two of each table",
    "RunItem.labels": "what people gave it one by one",
    "RunDetail.labels": "what people gave it one by one",
    "LabelsItem.labels": "what people gave it one by one",
    "QueueItem.running": "one exclusive run on each of its hosts, or a few shared ones",
    "Preview.trials": "at most 10,000 are taken",
    "RunDetail.trials": "at most 10,000 are launched",
    "TrialItem.flags": "the catalog's",
    "TrialItem.limits": "one for each direction",
    "ConfidenceItem.combinations": "at most 10,000 are planned",
    "ComparisonItem.runs": "at most 8 are compared",
    "ComparisonItem.sides": "at most 8 are compared",
    "ComparedSide.pairs_compared": "at most 40 pairs of a side are read",
    "ComparedSide.pairs_left_out": "at most 40 pairs of a side are read",
    "ComparisonItem.measures": "the metrics of 8 runs' combinations",
    "ComparedMeasure.entries": "one for each of 8 runs",
    "ComparedEntry.values": "at most 1,000 repetitions, or some hundred runs",
    "ScheduleItem.blackouts": "at most 100 are taken",
    "ScheduleDetail.blackouts": "at most 100 are taken",
    "ScheduleDetail.pairs": "at most 40,000 are taken",
    "ScheduleItem.pairs": "at most 40,000 are taken",
    "ScheduleDetail.next_slots": "ten",
    "SlotItem.runs": "the first 1,000",
    "TogetherItem.sources": "at most 32 are launched together",
    "SinkCountedItem.interfaces": "those of one host that carry the test",
    "ChannelItem.to": "at most 50 are taken",
    "DeliveryItem.log": "the newest 20",
    "AlertDetail.series": "the first 500, and how many there are",
    "AlertDetail.transitions": "the first 500",
    "WhyItem.ranked": "the first 20",
    "WhyItem.runs": "at most one of each of three codes",
    "EvidenceItem.hosts": "the hosts of at most 400 pairs",
    "ExplanationItem.facts": "the hosts of at most 20 runs",
    "ExplanationItem.annotations": "at most 200",
    "FactsItem.changed": "the facts of a host",
    "FactChangeItem.changes": "the facts of a host",
    "SeriesChangesItem.changes": "within at most 60 runs",
    "VerdictItem.changes": "the main figures of a run's combinations",
    "VerdictItem.in_doubt": "the main figures of a run's combinations",
    "NightItem.begun": "at most 500",
    "NightItem.still_open": "at most 500",
    "NightItem.recovered": "at most 500",
    "NightItem.unconfirmed": "at most 500",
    "NightItem.slow_changes": "at most 500",
    "NightItem.outliers": "at most 500",
    "ImportItem.tools": "those that are read",
    "PreviewItem.readings": "the first 200",
    "PreviewItem.unread": "the first 100",
    "ReadingItem.figures": "the first 200",
    "ReadingItem.remarks": "a few of a reading",
    "UserItem.teams": "what admins put them into one by one",
    "UserItem.environment_roles": "one in each environment",
    "AccountItem.teams": "what admins put it into one by one",
    "AccountItem.environment_roles": "one in each environment",
    "TeamItem.environment_roles": "one in each environment",
    "InvitationItem.teams": "at most 200 are taken",
    "InvitationCreated.teams": "at most 200 are taken",
    "TokenItem.networks": "at most 50 are taken",
    "TokenItem.environments": "at most 200 are taken",
    "TokenCreated.networks": "at most 50 are taken",
    "TokenCreated.environments": "at most 200 are taken",
    "RuleItem.alert_kinds": "at most 40 are taken",
    "RuleItem.transitions": "at most 40 are taken",
}
# A bare array, paged by a Link header.
POINTS = "/api/v1/series/{series_id}/points"
# Lists whose rows are larger or smaller than most.
MOST = {POINTS: MAXIMUM_POINTS, "/api/v1/campaigns/{campaign_id}/together": MAXIMUM_TRIALS}
SCHEMA = the_api.get_openapi_schema()
COMPONENTS = SCHEMA["components"]["schemas"]


def answered(operation: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        content["schema"]
        for status, answer in operation["responses"].items()
        if str(status).startswith("2")
        for content in answer.get("content", {}).values()
    ]


def named(schema: object) -> set[str]:
    """Name the components that a schema is made of."""
    found: set[str] = set()
    waiting = [schema]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            name = str(each.get("$ref", "")).rsplit("/", 1)[-1]
            if name and name not in found:
                found.add(name)
                waiting.append(COMPONENTS[name])
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return found


def is_list(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "array" or any(map(is_list, schema.get("anyOf", [])))


OPERATIONS = [(path, method, each) for path, methods in SCHEMA["paths"].items() for method, each in methods.items()]
PAGED = [
    path
    for path, method, each in OPERATIONS
    if method == "get"
    and any(str(schema.get("$ref", "")).rsplit("/", 1)[-1].startswith("Page_") for schema in answered(each))
]


def test_every_array_of_an_answer_is_a_page_or_has_a_bound() -> None:
    told = {name for _, _, each in OPERATIONS for schema in answered(each) for name in named(schema)}
    arrays = {
        f"{name}.{field}"
        for name in told
        for field, schema in COMPONENTS[name].get("properties", {}).items()
        if is_list(schema) and not name.startswith("Page_") and name != "Problem"
    }
    assert arrays <= BOUNDED.keys(), arrays - BOUNDED.keys()
    bare = [path for path, _, each in OPERATIONS for schema in answered(each) if is_list(schema)]
    assert bare == [POINTS]


@pytest.mark.parametrize("path", [*PAGED, POINTS])
def test_a_list_takes_a_limit_up_to_its_bound_and_refuses_more_in_words(api: ApiClient, path: str) -> None:
    most = MOST.get(path, MAXIMUM_LIMIT)
    (limit,) = [each for each in SCHEMA["paths"][path]["get"]["parameters"] if each["name"] == "limit"]
    assert (limit["schema"]["minimum"], limit["schema"]["maximum"]) == (1, most)
    address = path.removeprefix("/api/v1").replace("{schedule_id}", str(make_schedule().pk))
    address = (
        address.replace("{campaign_id}", str(make_run().campaign_id))
        .replace("{channel_id}", str(make_channel().pk))
        .replace("{plan_id}", str(make_plan().pk))
        .replace("{account_id}", str(service_account_create(name="export", role="viewer").pk))
        .replace("{user_id}", str(User.objects.create_user("vera").pk))
        .replace("{team_id}", str(team_create(name="night shift").pk))
    )
    for wrong in (0, -1, most + 1, 10**30, "all", ""):
        answer = api.get(f"{address.replace('{series_id}', '1')}?limit={wrong}")
        assert answer.status_code == 422
        (error,) = answer.json()["errors"]
        assert error["field"] == "limit"
        assert error["message"]
    if path != POINTS:
        answer = api.get(f"{address}?limit={most}")
        assert answer.status_code == 200
        assert answer.json().keys() == {"items", "next"}


def test_there_are_lists_to_be_tried() -> None:
    assert len(PAGED) == 36


def test_an_availability_of_too_many_stretches_is_refused_with_what_to_do(
    api: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(availability, "MOST_STRETCHES", 3)
    endpoint, now = make_endpoint(), timezone.now()
    for minutes in range(4):
        at = now - timedelta(minutes=10 - minutes)
        AvailabilitySpan.objects.create(endpoint=endpoint, state="answered", since=at, until=at)
    answer = api.get(f"/hosts/{endpoint.host_id}/availability")
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error == {
        "field": "from",
        "message": "There are more than 3 stretches in this time: ask for less at a time.",
    }
    late = (now - timedelta(minutes=8, seconds=30)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert api.get(f"/hosts/{endpoint.host_id}/availability?from={late}").status_code == 200


def test_a_slot_tells_its_first_runs_and_how_many_there_are(api: ApiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedules, "MOST_RUNS", 2)
    campaign = launch(plan=make_plan(), pairs=[make_pair() for _ in range(3)], user=None)
    schedule, now = make_schedule(), timezone.now()
    Slot.objects.create(schedule=schedule, at=now - timedelta(minutes=1), claimed_at=now)
    Slot.objects.create(schedule=schedule, at=now, claimed_at=now, campaign=campaign)
    first, second = api.get(f"/schedules/{schedule.pk}/slots").json()["items"]
    assert (second["runs"], second["run_count"]) == ([], 0)
    ids = sorted(campaign.runs.values_list("pk", flat=True))
    assert (first["runs"], first["run_count"]) == (ids[:2], 3)
