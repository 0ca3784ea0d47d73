"""Alerts on their pages: found in the list, explained by what else changed, and taken by people."""

import pytest
from django.test import Client

from benchweb.regressions.models import Alert, AlertTransition
from tests.factories import make_alert, make_pair
from tests.regressions.judged import judged, quiet

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
    assert "What else changed" in page
    assert "The plan: version" not in page
    listed = signed_in.get("/alerts").content.decode()
    assert '<td class="num" data-label="Change">−30' in listed


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
    assert "it can&#x27;t become acknowledged" in page
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
