"""Alerts, verdicts, changes and nights by REST."""

import random
from datetime import date, datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchweb.accounts.models import Role
from benchweb.accounts.roles.grants import role_set, team_create
from benchweb.annotations.services import annotation_create
from benchweb.hosts.models import Facts, Pair
from benchweb.regressions import transitions
from benchweb.regressions.models import Alert, AlertTransition
from benchweb.results.models import Result, Series
from benchweb.results.run_summaries import write_figures
from benchweb.runs.models import Run, Trial
from benchweb.schedules.models import Schedule, Slot
from tests.api.conftest import ApiClient
from tests.factories import make_environment, make_pair, make_schedule
from tests.nights import DAY, NIGHT, measured
from tests.regressions.judged import judged, night, quiet
from tests.regressions.slots import LAST, end, slot_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair() -> Pair:
    return make_pair()


@pytest.fixture
def alert(pair: Pair) -> Alert:
    """An open alert of three series, after twenty quiet nights."""
    quiet(pair, series=3)
    judged(pair, [0.9] * 6, first=20, series=3)
    return Alert.objects.get()


def bare_alert(number: int, **fields: Any) -> Alert:
    values = {"kind": "absence", "code": "late", "state": "open", "begun_at": NIGHT, "night": NIGHT.date()} | fields
    return transitions.begin(Alert(segment_key=f"late:{number}", **values))


def test_an_alert_is_told_with_its_series_what_else_changed_and_its_history(
    api: ApiClient, pair: Pair, alert: Alert
) -> None:
    annotation_create(text="new switch", at=night(19) + timedelta(hours=3), host=pair.source.host)
    part = alert.series.first()
    assert part is not None
    for run, kernel in ((part.last_good_run, "6.1"), (part.first_bad_run, "6.2")):
        facts = Facts.objects.create(
            endpoint=pair.source, digest=kernel, document={"kernel": kernel}, first_seen_at=NIGHT, last_seen_at=NIGHT
        )
        trial = Trial.objects.filter(run=run).order_by("pk").first()
        assert trial is not None
        Result.objects.create(trial=trial, metrics={}, document={}, source_facts=facts)
    found = api.get(f"/alerts/{alert.pk}").json()
    assert (found["kind"], found["state"], found["pair"], found["series_count"]) == ("change", "open", pair.pk, 3)
    assert found["title"].startswith(f"{pair}: TCP stream · Throughput, received −10.")
    assert found["title"].endswith(" and 2 more series")
    assert [each["first_bad_run"] for each in found["series"]] == [part.first_bad_run_id] * 3
    assert found["explanation"]["facts"] == [
        {"host": pair.source.host_id, "name": pair.source.host.name, "changed": ["kernel 6.1 → 6.2"]}
    ]
    assert [note["text"] for note in found["explanation"]["annotations"]] == ["new switch"]
    assert [row["to_state"] for row in found["transitions"]][-1] == "open"


def test_lists_are_of_live_alerts_unless_states_are_named(api: ApiClient, pair: Pair, alert: Alert) -> None:
    transitions.fix(alert_id=bare_alert(1).pk, by=None)
    late = bare_alert(2, host=pair.source.host)

    def listed(query: str) -> list[int]:
        answer = api.get(f"/alerts{query}")
        assert answer.status_code == 200, answer.json()
        return [item["id"] for item in answer.json()["items"]]

    assert listed("") == [late.pk, alert.pk]
    assert len(listed("?state=all")) == 3
    assert len(listed("?state=fixed,open")) == 3
    assert listed("?kind=change") == [alert.pk]
    assert listed(f"?environment={pair.environment_id}") == [alert.pk]
    assert listed(f"?host={pair.sink.host_id}") == [alert.pk]
    assert listed(f"?night={alert.night}&kind=change") == [alert.pk]


@pytest.mark.parametrize(("query", "field"), [("state=awake", "state"), ("kind=noise", "kind"), ("nights=1", "nights")])
def test_a_filter_that_cannot_be_is_refused(api: ApiClient, query: str, field: str) -> None:
    answer = api.get(f"/alerts?{query}")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field


def test_a_list_takes_the_same_queries_whatever_its_length(api: ApiClient) -> None:
    bare_alert(1)
    # The first call notes that the token was used.
    api.get("/alerts")
    with CaptureQueriesContext(
        connection,
    ) as one:
        api.get("/alerts")
    for number in range(2, 12):
        bare_alert(number)
    with CaptureQueriesContext(connection) as eleven:
        assert len(api.get("/alerts").json()["items"]) == 11
    assert len(eleven) == len(one) <= 4


@pytest.mark.parametrize(
    ("action", "state"),
    [("acknowledge", "acknowledged"), ("expected", "expected"), ("invalid", "invalid"), ("fixed", "fixed")],
)
def test_a_transition_is_recorded_with_who_and_refused_where_it_cannot_be(
    api: ApiClient, user: User, action: str, state: str
) -> None:
    alert = bare_alert(1)
    answer = api.post(f"/alerts/{alert.pk}/{action}", {"comment": "the new switch"})
    assert answer.status_code == 200
    last = answer.json()["transitions"][-1]
    assert (answer.json()["state"], last["by"], last["comment"]) == (state, user.username, "the new switch")
    again = api.post(f"/alerts/{alert.pk}/{action}", {})
    assert again.status_code == 409
    assert Alert.objects.get().state == state
    assert api.post("/alerts/999/acknowledge", {}).status_code == 404


def test_a_suspect_is_measured_again_and_the_schedule_tells_its_time_for_re_runs(
    api: ApiClient, user: User, pair: Pair
) -> None:
    quiet(pair)
    campaign = slot_of([pair])
    schedules = Schedule.objects.filter(slots__campaign=campaign)
    schedules.update(rerun_percent=0)
    end(campaign, {pair: 0.9}, LAST)
    (alert,) = Alert.objects.all()
    assert alert.state == "suspect"
    answer = api.post(f"/alerts/{alert.pk}/measure-again", {"comment": "before the release"})
    assert answer.status_code == 202
    last = answer.json()["transitions"][-1]
    assert (last["to_state"], last["by"], last["comment"]) == ("confirming", user.username, "before the release")
    assert last["params"] == {"campaign": answer.json()["confirmation"]}
    assert api.post(f"/alerts/{alert.pk}/measure-again", {}).status_code == 409
    schedules.update(rerun_percent=10)
    assert api.get(f"/schedules/{schedules.get().pk}").json()["reruns"] == {
        "allowed_seconds": 6.0,
        "left_seconds": 6.0,
        "is_first_left": True,
        "is_critical_left": True,
    }


def test_an_alert_is_snoozed_commented_and_assigned(api: ApiClient, user: User) -> None:
    alert = bare_alert(1)
    User.objects.create_user("grace")
    until = (timezone.now() + timedelta(hours=8)).isoformat()
    assert api.post(f"/alerts/{alert.pk}/snooze", {"until": until}).json()["snoozed_until"] is not None
    assert api.post(f"/alerts/{alert.pk}/assign", {"user": "grace"}).json()["assignee"] == "grace"
    assert api.post(f"/alerts/{alert.pk}/assign", {"user": None}).json()["assignee"] is None
    told = api.post(f"/alerts/{alert.pk}/comment", {"comment": "asked", "ticket_url": "https://tickets.test/7"}).json()
    assert (told["ticket_url"], told["state"]) == ("https://tickets.test/7", "open")
    assert [row["action"] for row in told["transitions"]] == ["found", "snoozed", "assigned", "assigned", "commented"]


@pytest.mark.parametrize(
    ("action", "body", "field"),
    [
        ("snooze", {}, "until"),
        ("snooze", {"until": "2020-01-01T00:00:00Z"}, "until"),
        ("assign", {"user": "nobody"}, "user"),
        ("comment", {"comment": " "}, "comment"),
        ("comment", {"comment": "", "ticket_url": "javascript:alert(1)"}, "ticket_url"),
        ("fixed", {"comment": "x" * 2_001}, "comment"),
    ],
)
def test_a_body_that_cannot_be_is_refused_and_changes_nothing(
    api: ApiClient, action: str, body: dict[str, Any], field: str
) -> None:
    alert = bare_alert(1)
    answer = api.post(f"/alerts/{alert.pk}/{action}", body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field
    assert alert.transitions.count() == 1


def test_a_series_tells_its_changes_and_the_smallest_that_it_can_show(api: ApiClient, alert: Alert) -> None:
    part = alert.series.first()
    assert part is not None
    found = api.get(f"/series/{part.series_id}/changes").json()
    (change,) = found["changes"]
    assert (change["run"], found["runs"], found["is_learning"]) == (part.first_bad_run_id, 26, False)
    assert change["difference_ratio"] == pytest.approx(-0.1, abs=0.01)
    assert change["interval_low_ratio"] <= change["difference_ratio"] <= change["interval_high_ratio"]


def test_a_series_of_a_few_runs_is_learning_and_one_of_cpu_is_not_judged(api: ApiClient, pair: Pair) -> None:
    quiet(pair, 3)
    series = Series.objects.get()
    found = api.get(f"/series/{series.pk}/changes").json()
    assert (found["is_learning"], found["changes"], found["smallest_detectable_change_ratio"]) == (True, [], None)
    other = Series.objects.create(
        pair=pair, kind="tcp_stream", metric="source_cpu_ratio", identity={}, identity_digest="d"
    )
    assert api.get(f"/series/{other.pk}/changes").status_code == 409


LEVELS = (1.0, 1.01, 0.99, 1.005, 0.995, 1.002)


def test_a_verdict_beside_a_run_the_environment_and_a_pinned_baseline(api: ApiClient, pair: Pair) -> None:
    good = measured(pair, NIGHT, *(1e9 * each for each in LEVELS))
    same = measured(pair, night(1), *(1e9 * each for each in LEVELS))
    bad = measured(pair, night(2), *(8e8 * each for each in LEVELS))
    few = measured(pair, night(3), 8e8)
    Run.objects.update(plan_version=good.plan_version)

    def verdict(run: Run, baseline: str) -> str:
        answer = api.get(f"/runs/{run.pk}/verdict?baseline={baseline}")
        assert answer.status_code == 200, answer.json()
        return str(answer.json()["verdict"])

    assert verdict(bad, str(good.pk)) == "regression"
    assert verdict(same, str(good.pk)) == "pass"
    # Better is no regression.
    assert verdict(good, str(bad.pk)) == "pass"
    assert verdict(few, str(good.pk)) == "inconclusive"
    assert api.get(f"/runs/{bad.pk}/verdict?baseline=pinned").status_code == 422
    pinned = api.post("/baselines", {"run": good.pk, "name": "release 5.2"})
    assert pinned.status_code == 201
    answer = api.get(f"/runs/{bad.pk}/verdict?baseline=pinned").json()
    assert (answer["verdict"], answer["baseline_run"], answer["compared"]) == ("regression", good.pk, 1)
    assert answer["changes"][0]["difference_ratio"] == pytest.approx(-0.2, abs=0.01)
    (row,) = api.get(f"/baselines?pair={pair.pk}").json()["items"]
    assert (row["name"], api.get("/baselines?plan=999").json()["items"]) == ("release 5.2", [])
    path = f"/baselines/{row['id']}"
    assert api.delete(path).status_code == 204
    assert (api.get("/baselines").json()["items"], api.get(path).json()["archived_at"] is None) == ([], False)
    assert api.get(f"/runs/{bad.pk}/verdict?baseline=pinned").status_code == 422
    assert api.post(f"{path}/restore", {}).json()["archived_at"] is None
    assert api.post("/baselines", {"run": good.pk, "name": "  "}).json()["errors"][0]["field"] == "name"


def test_a_verdict_beside_the_runs_before_rests_on_their_medians(api: ApiClient, pair: Pair) -> None:
    quiet(pair, 20)
    bad = measured(pair, night(20), *(8e8 * each for each in LEVELS))
    assert api.get(f"/runs/{bad.pk}/verdict").json()["verdict"] == "regression"
    of_environment = api.get(f"/runs/{bad.pk}/verdict?baseline=env:{pair.environment_id}").json()
    assert (of_environment["verdict"], of_environment["baseline_run"]) == ("regression", None)
    first = measured(make_pair(), NIGHT, 1e9)
    assert api.get(f"/runs/{first.pk}/verdict").json()["verdict"] == "no_data"


def test_unchanged_runs_that_differ_among_themselves_are_no_regressions(api: ApiClient, pair: Pair) -> None:
    chance = random.Random(1)
    runs = [
        measured(pair, night(number), *(level * (1 + chance.gauss(0, 0.001)) for _ in range(5)))
        for number, level in enumerate(1e9 * (1 + chance.gauss(0, 0.02)) for _ in range(52))
    ]
    write_figures()
    baseline, judged = runs[11], runs[12:]
    for query in ("", f"?baseline={baseline.pk}"):
        found = [api.get(f"/runs/{run.pk}/verdict{query}").json()["verdict"] for run in judged]
        assert found.count("regression") <= 0.05 * len(judged)
    slow = measured(pair, night(60), *(8e8 * each for each in LEVELS))
    for query in ("", f"?baseline={baseline.pk}"):
        assert api.get(f"/runs/{slow.pk}/verdict{query}").json()["verdict"] == "regression"


def test_what_is_inconclusive_names_its_measures_and_the_repetitions_that_could_tell(
    api: ApiClient, pair: Pair
) -> None:
    good, few = (measured(pair, night(number), 1e9 * level, 1.01e9 * level) for number, level in ((0, 1.0), (1, 0.8)))
    answer = api.get(f"/runs/{few.pk}/verdict?baseline={good.pk}").json()
    assert answer["verdict"] == "inconclusive"
    (doubt,) = answer["in_doubt"]
    assert (doubt["metric"], doubt["is_worse"], doubt["repetitions_needed"]) == ("throughput_bps", True, 4)
    good, enough = (
        measured(pair, night(number), *(1e9 * level * (1 + n / 1000) for n in range(4)))
        for number, level in ((2, 1.0), (3, 0.8))
    )
    assert api.get(f"/runs/{enough.pk}/verdict?baseline={good.pk}").json()["verdict"] == "regression"


def test_a_run_beside_itself_has_no_verdict(api: ApiClient, pair: Pair) -> None:
    run = measured(pair, NIGHT, *(1e9 * each for each in LEVELS))
    assert api.get(f"/runs/{run.pk}/verdict?baseline={run.pk}").json()["verdict"] == "no_data"


@pytest.mark.parametrize("baseline", ["env:", "env:x", "999999", "yesterday", "-1", "9" * 30])
def test_a_baseline_that_is_none_is_refused(api: ApiClient, pair: Pair, baseline: str) -> None:
    run = measured(pair, NIGHT, 1e9)
    answer = api.get(f"/runs/{run.pk}/verdict?baseline={baseline}")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "baseline"


def test_a_night_tells_what_began_and_what_it_rests_on(api: ApiClient, alert: Alert) -> None:
    found = api.get(f"/nights/{alert.night}").json()
    assert [each["id"] for each in found["begun"]] == [alert.pk]
    assert (found["recovered"], found["runs"], found["finished_runs"], found["slots"]) == ([], 1, 1, 0)
    assert 0 < found["smallest_detectable_change_ratio"] < 0.5
    elsewhere = make_environment().pk
    assert api.get(f"/nights/{alert.night}?environment={elsewhere}").json()["begun"] == []
    team = team_create(name="rack people")
    role_set(role=Role.OPERATOR, team=team, environment_id=elsewhere)
    assert api.get(f"/nights/{alert.night}?team={team.pk}").json()["runs"] == 0
    unknown = api.get(f"/nights/{alert.night}?team=999999")
    assert (unknown.status_code, unknown.json()["errors"][0]["field"]) == (422, "team")
    assert api.get("/nights/2026-02-30").status_code == 404
    assert api.get("/nights/0001-01-01").status_code == 404


def test_a_night_is_cut_by_the_zone_that_is_named_or_that_its_schedules_have(api: ApiClient) -> None:
    alerts = [bare_alert(number, begun_at=at) for number, at in enumerate((NIGHT.replace(hour=9), NIGHT))]
    yesterday, today, tomorrow = ((NIGHT + days * DAY).date() for days in (-1, 0, 1))

    def begun(night: date, query: str = "") -> tuple[str, str, str, list[int]]:
        found = api.get(f"/nights/{night}{query}").json()
        ids = sorted(each["id"] for each in found["begun"])
        return found["timezone"], found["begins_at"], found["ends_at"], ids

    both = sorted(alert.pk for alert in alerts)
    # In Auckland noon is at 23:00 UTC of the day before, in Los Angeles at 20:00.
    auckland = ("Pacific/Auckland", f"{yesterday}T23:00:00.000000Z", f"{today}T23:00:00.000000Z", both)
    angeles = ("America/Los_Angeles", f"{yesterday}T20:00:00.000000Z", f"{today}T20:00:00.000000Z", both)
    assert begun(tomorrow, "?timezone=Pacific/Auckland") == auckland
    assert begun(today, "?timezone=America/Los_Angeles") == angeles
    assert begun(today)[:3] == ("UTC", f"{yesterday}T12:00:00.000000Z", f"{today}T12:00:00.000000Z")
    schedule = make_schedule(timezone="Pacific/Auckland")
    Slot.objects.create(schedule=schedule, at=NIGHT, claimed_at=NIGHT, state="finished")
    assert begun(tomorrow) == auckland
    refused = api.get(f"/nights/{today}?timezone=Auckland")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "timezone")


def test_it_is_snoozed_until_it_is_worse_found_by_that_and_woken(api: ApiClient) -> None:
    alert, other = bare_alert(1), bare_alert(2)
    answer = api.post(f"/alerts/{alert.pk}/snooze", {"until_worse": True, "comment": "known"})
    assert answer.status_code == 200, answer.json()
    found = answer.json()
    assert (found["is_snoozed"], found["snoozed_until"], found["snoozed_until_worse"]) == (True, None, True)
    assert found["transitions"][-1]["params"] == {"until": None, "until_worse": True}
    for query, ids in (("true", [alert.pk]), ("false", [other.pk])):
        assert [each["id"] for each in api.get(f"/alerts?snoozed={query}").json()["items"]] == ids
    assert api.post(f"/alerts/{alert.pk}/snooze", {}).status_code == 422
    assert api.post(f"/alerts/{alert.pk}/wake", {}).json()["is_snoozed"] is False
    assert api.post(f"/alerts/{alert.pk}/wake", {}).status_code == 409


def test_alerts_are_merged_and_series_split_off(api: ApiClient, alert: Alert) -> None:
    series = [each["series"] for each in api.get(f"/alerts/{alert.pk}").json()["series"]]
    answer = api.post(f"/alerts/{alert.pk}/split", {"series": series[:1], "comment": "another"})
    assert answer.status_code == 201, answer.json()
    new = answer.json()
    assert ([each["series"] for each in new["series"]], new["state"]) == (series[:1], "open")
    merged = api.post(f"/alerts/{new['id']}/merge", {"into": alert.pk})
    assert (merged.status_code, merged.json()["id"], merged.json()["series_count"]) == (200, alert.pk, 3)
    gone = api.get(f"/alerts/{new['id']}").json()
    assert (gone["state"], gone["merged_into"], gone["series"]) == ("merged", alert.pk, [])


@pytest.mark.parametrize(
    ("path", "body"), [("split", {"series": [1]}), ("split", {"series": []}), ("merge", {"into": 9})]
)
def test_what_can_not_be_merged_or_split_is_refused(api: ApiClient, path: str, body: dict[str, Any]) -> None:
    assert api.post(f"/alerts/{bare_alert(1).pk}/{path}", body).status_code == 422
    assert api.post("/alerts/999999/merge", {"into": 1}).status_code == 404


def test_filters_of_severity_and_plan_leave_what_matches(api: ApiClient) -> None:
    critical = bare_alert(1, severity="critical")
    bare_alert(2)
    assert [each["id"] for each in api.get("/alerts?severity=critical").json()["items"]] == [critical.pk]
    assert api.get("/alerts?plan=7").json()["items"] == []
    assert api.get("/alerts?severity=bad").status_code == 422


def test_the_feed_has_what_people_were_told_of_with_the_moment_of_the_last_change(api: ApiClient) -> None:
    first, second = bare_alert(1), bare_alert(2, severity="critical")
    bare_alert(3, state="suspect")
    transitions.acknowledge(alert_id=first.pk, by=None, comment="known")
    answer = api.get("/alerts.atom")
    assert answer["Content-Type"] == "application/atom+xml; charset=utf-8"
    feed = ElementTree.fromstring(answer.content)
    entries = feed.findall("{*}entry")
    links = [link.attrib["href"] for entry in entries if (link := entry.find("{*}link")) is not None]
    assert links == [f"http://testserver/alerts/{alert.pk}" for alert in (second, first)]
    assert [entry.findtext("{*}title", "").partition(":")[0] for entry in entries] == ["open", "acknowledged"]
    moved = AlertTransition.objects.filter(alert=first).latest("at").at
    updated = datetime.fromisoformat(entries[1].findtext("{*}updated", ""))
    assert abs(updated - moved) < timedelta(seconds=1)


def test_the_feed_takes_the_lists_filters_and_needs_a_token(api: ApiClient) -> None:
    bare_alert(1)
    critical = bare_alert(2, severity="critical")
    feed = ElementTree.fromstring(api.get("/alerts.atom?severity=critical").content)
    assert [entry.findtext("{*}id") for entry in feed.findall("{*}entry")] == [
        f"http://testserver/alerts/{critical.pk}"
    ]
    assert api.get("/alerts.atom?state=happy").status_code == 422
    assert Client().get("/api/v1/alerts.atom").status_code == 401
