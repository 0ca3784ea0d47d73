"""Alerts on their pages: found in the list, explained by what else changed, and taken by people."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from benchweb.regressions.models import Alert, AlertTransition
from benchweb.runs.services import launch
from benchweb.schedules.models import Schedule
from tests.factories import make_alert, make_pair, make_plan, make_schedule, make_user
from tests.regressions.judged import judged, quiet
from tests.regressions.slots import LAST, end, judged_in_turn, slot_of
from tests.web.test_every_page import MOST_QUERIES

State = Alert.State


def test_the_list_shows_what_is_live_and_all_on_request(signed_in: Client) -> None:
    live, ended = make_alert(pair=make_pair()), make_alert(State.RECOVERED, pair=make_pair())
    page = signed_in.get("/alerts").content.decode()
    assert f'href="/alerts/{live.pk}"' in page
    assert f'href="/alerts/{ended.pk}"' not in page
    assert f'href="/alerts/{ended.pk}"' in signed_in.get("/alerts?state=all").content.decode()
    assert "No alert matches these filters." in signed_in.get("/alerts?state=expected").content.decode()


def test_a_change_is_shown_with_its_segments_and_the_runs_on_both_sides(signed_in: Client) -> None:
    pair = make_pair()
    quiet(pair)
    judged(pair, [0.7] * 8, first=20)
    alert = Alert.objects.get(state__in=(State.OPEN, State.CONFIRMING, State.SUSPECT))
    part = alert.series.get()
    page = signed_in.get(f"/alerts/{alert.pk}").content.decode()
    assert f'href="/runs/{part.first_bad_run_id}"' in page
    assert f"/compare?runs={part.last_good_run_id},{part.first_bad_run_id}" in page
    assert "−30" in page
    assert "Between the last good run and the first bad one" in page
    assert "The plan: version" not in page
    listed = signed_in.get("/alerts").content.decode()
    assert '<td class="num" data-label="Change">−30' in listed


def test_a_slot_that_lacks_a_hosts_runs_leads_to_the_host(signed_in: Client) -> None:
    schedule, alert = make_schedule(), make_alert()
    assert alert.pair is not None
    host = alert.pair.sink.host
    of_slot = {"code": "slot", "schedule": schedule, "host": host, "pair": None, "params": {"slots": 2, "pairs": 3}}
    Alert.objects.filter(pk=alert.pk).update(**of_slot)
    page = signed_in.get(f"/alerts/{alert.pk}").content.decode()
    assert f"Host {host}: 2 slots of schedule {schedule} without complete results" in page
    assert f'href="/hosts/{host.pk}">Open the host' in page


def test_what_its_host_measured_alone_is_said_unless_a_rerun_says_else(signed_in: Client) -> None:
    pair = make_pair()
    quiet(pair)
    judged(pair, [0.7] * 8, first=20)
    alert = Alert.objects.exclude(opened_at=None).get()
    alert.host, alert.params["canary"] = pair.source.host, {"host": pair.source.host_id, "ratio": -0.118}
    alert.save()
    said = f"{pair.source.host.name} alone was slower too: Memory bandwidth · "
    page = signed_in.get(f"/alerts/{alert.pk}").content.decode()
    assert said in page
    assert "−11.8" in page
    Alert.objects.filter(pk=alert.pk).update(verdict=Alert.RerunVerdict.PAIR)
    assert said not in signed_in.get(f"/alerts/{alert.pk}").content.decode()


def test_a_suspect_says_what_time_is_left_and_is_measured_again_for_whoever_asks(
    signed_in: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    pairs = [make_pair() for _ in range(2)]
    quiet(pairs)
    campaign = slot_of(pairs)
    Schedule.objects.filter(slots__campaign=campaign).update(rerun_percent=25)
    first, lacking = judged_in_turn(campaign, pairs)
    end(campaign, {first: 0.86, lacking: 0.9}, LAST)
    waiting, alert = Alert.objects.get(pair=first), Alert.objects.get(pair=lacking)
    left = "Re-runs left tonight: 30.0 s of 30.0 s. The first one of a critical alert is allowed beyond that."
    assert left in signed_in.get(f"/alerts/{waiting.pk}").content.decode()
    assert left in signed_in.get(f"/schedules/{alert.schedule_id}").content.decode()
    with django_assert_max_num_queries(MOST_QUERIES):
        page = signed_in.get(f"/alerts/{alert.pk}").content.decode()
    for text in (left, "the schedule&#x27;s time for re-runs is spent", "confirms it too, whoever launches it"):
        assert text in page
    assert "The run and its controls once more, at most " in page
    answer = signed_in.post(f"/alerts/{alert.pk}/move", {"action": "measure", "comment": "before the release"})
    assert answer["Location"] == f"/alerts/{alert.pk}"
    alert.refresh_from_db()
    assert alert.confirmation is not None
    page = signed_in.get(f"/alerts/{alert.pk}").content.decode()
    assert f'href="/campaigns/{alert.confirmation.pk}"' in page
    assert "being measured again · ada: before the release" in page
    assert "Measure again anyway" not in page
    refused = signed_in.post(f"/alerts/{alert.pk}/move", {"action": "measure"}, follow=True).content.decode()
    assert "only a suspect of a change is measured again" in refused


def test_a_run_by_hand_that_confirms_a_suspect_is_named_with_who_launched_it(signed_in: Client, ada: User) -> None:
    pair = make_pair()
    quiet(pair)
    judged(pair, [0.9], first=LAST)
    (alert,) = Alert.objects.all()
    assert "no schedule launched its run" in signed_in.get(f"/alerts/{alert.pk}").content.decode()
    campaign = launch(plan=make_plan(), pairs=[pair], user=ada)
    end(campaign, {pair: 0.9}, LAST + 1)
    page = signed_in.get(f"/alerts/{alert.pk}").content.decode()
    assert f"Measured again by run {campaign.runs.get().pk}, which ada launched" in page


@pytest.mark.parametrize(
    ("action", "state"),
    [("acknowledge", "acknowledged"), ("fixed", "fixed"), ("expected", "expected"), ("invalid", "invalid")],
)
def test_a_button_moves_it_with_the_comment(signed_in: Client, action: str, state: str) -> None:
    alert = make_alert()
    answer = signed_in.post(f"/alerts/{alert.pk}/move", {"action": action, "comment": "the new switch"})
    assert answer["Location"] == f"/alerts/{alert.pk}"
    alert.refresh_from_db()
    assert alert.state == state
    row = AlertTransition.objects.latest("pk")
    assert (row.by and row.by.username, row.comment) == ("ada", "the new switch")
    assert "the new switch" in signed_in.get(f"/alerts/{alert.pk}").content.decode()


def test_what_can_not_be_done_is_said_and_changes_nothing(signed_in: Client) -> None:
    alert = make_alert(State.RECOVERED)
    page = signed_in.post(f"/alerts/{alert.pk}/move", {"action": "acknowledge"}, follow=True).content.decode()
    assert "the state can&#x27;t change from recovered to acknowledged" in page
    alert.refresh_from_db()
    assert alert.state == State.RECOVERED
    assert signed_in.post("/alerts/999999/move", {"action": "acknowledge"}).status_code == 404


def test_it_is_snoozed_assigned_and_commented_and_markup_stays_text(signed_in: Client) -> None:
    alert = make_alert()
    for action in ("snooze", "assign", "comment"):
        signed_in.post(f"/alerts/{alert.pk}/move", {"action": action, "comment": "<b>asked</b>"})
    alert.refresh_from_db()
    assert alert.snoozed_until is not None
    assert alert.assignee is not None
    assert alert.assignee.username == "ada"
    page = signed_in.get(f"/alerts/{alert.pk}").content.decode()
    assert page.count("&lt;b&gt;asked&lt;/b&gt;") == 3
    assert "<b>asked" not in page


def test_a_snooze_has_a_length_or_a_time_and_hides_it_from_the_list(signed_in: Client) -> None:
    alert = make_alert()
    signed_in.post(f"/alerts/{alert.pk}/move", {"action": "snooze", "snooze": "worse"})
    page = signed_in.get(f"/alerts/{alert.pk}").content.decode()
    assert "Snoozed until it gets worse." in page
    assert "End the snooze" in page
    assert f'href="/alerts/{alert.pk}"' not in signed_in.get("/alerts").content.decode()
    assert f'href="/alerts/{alert.pk}"' in signed_in.get("/alerts?state=snoozed").content.decode()
    signed_in.post(f"/alerts/{alert.pk}/move", {"action": "wake"})
    signed_in.post(f"/alerts/{alert.pk}/move", {"action": "snooze", "until": "2099-01-02T03:04"})
    assert "snoozed until 2099-01-02 03:04 UTC · ada" in signed_in.get(f"/alerts/{alert.pk}").content.decode()
    for form in ({"snooze": "1"}, {"until": "tomorrow"}):
        page = signed_in.post(f"/alerts/{alert.pk}/move", {"action": "snooze"} | form, follow=True).content.decode()
        assert "notice-error" in page
    assert AlertTransition.objects.count() == 4


def test_it_is_assigned_to_somebody_or_nobody_and_has_a_ticket(signed_in: Client) -> None:
    make_user("bert", "secret words")
    alert = make_alert()
    address = f"/alerts/{alert.pk}/move"
    for form in (
        {"action": "assign", "assignee": "bert"},
        {"action": "assign", "assignee": ""},
        {"action": "ticket", "ticket_url": "https://tickets.test/7"},
        {"action": "ticket", "ticket_url": "javascript:alert(1)"},
        {"action": "assign", "assignee": "nemo"},
    ):
        page = signed_in.post(address, form, follow=True).content.decode()
    assert "There is no user nemo." in page
    assert 'href="https://tickets.test/7"' in page
    for text in ("assigned to bert · ada", "assigned to nobody · ada", "ticket https://tickets.test/7 · ada"):
        assert text in page
    alert.refresh_from_db()
    assert (alert.assignee, alert.ticket_url) == (None, "https://tickets.test/7")


def test_alerts_are_merged_and_split_on_their_pages(signed_in: Client) -> None:
    pair = make_pair()
    quiet(pair, series=3)
    judged(pair, [0.7] * 6, first=20, series=3)
    alert = Alert.objects.get(state=State.OPEN)
    first = alert.series.values_list("series", flat=True)[0]
    page = signed_in.get(f"/alerts/{alert.pk}").content.decode()
    assert f'name="series" value="{first}" form="alert-actions"' in page
    signed_in.post(f"/alerts/{alert.pk}/move", {"action": "split", "series": [first]})
    new = Alert.objects.latest("pk")
    assert (new.pk != alert.pk, new.series.count(), alert.series.count()) == (True, 1, 2)
    page = signed_in.get(f"/alerts/{new.pk}").content.decode()
    assert f"split off alert {alert.pk} · ada" in page
    assert f'<option value="{alert.pk}">' in page
    signed_in.post(f"/alerts/{new.pk}/move", {"action": "merge", "into": alert.pk})
    page = signed_in.get(f"/alerts/{new.pk}").content.decode()
    assert f'<a href="/alerts/{alert.pk}">Merged into alert {alert.pk}</a>' in page
    assert alert.series.count() == 3
    assert (
        "Choose the alert"
        in signed_in.post(f"/alerts/{alert.pk}/move", {"action": "merge"}, follow=True).content.decode()
    )


def test_those_selected_are_merged_into_the_worst_of_them(signed_in: Client) -> None:
    one, worst, other = make_alert(), make_alert(), make_alert()
    Alert.objects.filter(pk=worst.pk).update(severity="critical")
    form = {"action": "merge", "alert": [one.pk, worst.pk, other.pk]}
    assert "2 alerts merged." in signed_in.post("/alerts/triage", form, follow=True).content.decode()
    merged = Alert.objects.filter(state=State.MERGED).order_by("pk").values_list("pk", "merged_into")
    assert list(merged) == [(one.pk, worst.pk), (other.pk, worst.pk)]
    form["alert"] = [worst.pk]
    assert "Select two or more" in signed_in.post("/alerts/triage", form, follow=True).content.decode()
