"""What strangers and scripts may send to the pages of alerts: refused in words, nothing changed, nothing lost."""

from typing import Any

import pytest
from django.test import Client

from benchweb.regressions.models import Alert, AlertTransition
from tests.factories import make_alert, make_pair
from tests.regressions.judged import judged, quiet

State = Alert.State


@pytest.mark.parametrize(
    "form",
    [
        {"action": "snooze", "until": "2001-01-01T00:00"},
        {"action": "snooze", "until": "9999-12-31T23:59-23:00"},
        {"action": "snooze", "until": "0001-01-01T00:00+23:00"},
        {"action": "snooze", "until": "soon"},
        {"action": "snooze", "snooze": "99999999999"},
        {"action": "assign", "assignee": "nobody of this name"},
        {"action": "ticket", "ticket_url": "javascript:alert(1)"},
        {"action": "ticket", "ticket_url": "https://" + "t" * 500},
        {"action": "comment", "comment": " "},
        {"action": "comment", "comment": "a" * 2001},
        {"action": "merge"},
        {"action": "merge", "into": "0"},
        {"action": "merge", "into": "99999999999999999999"},
        {"action": "merge", "into": "itself"},
        {"action": "split"},
        {"action": "split", "series": ["1", "x", "99999999999999999999"]},
        {"action": "wake"},
        {"action": "reopen"},
        {"action": "drop"},
        {},
    ],
)
def test_what_can_not_be_is_refused_in_words_and_changes_nothing(signed_in: Client, form: dict[str, Any]) -> None:
    alert = make_alert()
    if form.get("into") == "itself":
        form = form | {"into": str(alert.pk)}
    before = Alert.objects.filter(pk=alert.pk).values().get()
    answer = signed_in.post(f"/alerts/{alert.pk}/move", {"comment": "typed for long"} | form)
    page = answer.content.decode()
    assert (answer.status_code, "notice-error" in page) == (200, True)
    assert Alert.objects.filter(pk=alert.pk).values().get() == before
    assert AlertTransition.objects.count() == 1
    if "comment" not in form:
        assert 'value="typed for long"' in page


def test_a_comment_typed_while_somebody_else_ended_it_is_kept(signed_in: Client) -> None:
    alert = make_alert(State.FIXED)
    form = {"action": "acknowledge", "alert": [alert.pk], "comment": "a new switch"}
    page = signed_in.post(f"/alerts/{alert.pk}/move", form).content.decode()
    assert "can&#x27;t change from fixed to acknowledged" in page
    assert 'value="a new switch"' in page
    other, _left = make_alert(), make_alert()
    form["alert"] = [alert.pk, other.pk]
    listed = signed_in.post("/alerts/triage", form, headers={"HX-Request": "true"}).content.decode()
    assert 'value="a new switch"' in listed
    assert AlertTransition.objects.filter(to_state=State.ACKNOWLEDGED).count() == 1


def test_not_all_series_are_split_off_and_none_of_another_alert(signed_in: Client) -> None:
    pair, other = make_pair(), make_pair()
    for each in (pair, other):
        quiet(each, series=2)
        judged(each, [0.7] * 6, first=20, series=2)
    one, two = Alert.objects.order_by("pk")
    ids = list(one.series.values_list("series", flat=True))
    foreign = list(two.series.values_list("series", flat=True))
    for chosen in (ids, [ids[0], foreign[0]], foreign):
        page = signed_in.post(f"/alerts/{one.pk}/move", {"action": "split", "series": chosen}).content.decode()
        assert "notice-error" in page
    assert [each.series.count() for each in Alert.objects.order_by("pk")] == [2, 2]


@pytest.mark.parametrize(
    "query",
    [
        "state=x&severity=x&kind=%27&environment=x&host=-1&plan=1e9&night=today&group=none&sort=id&after=x",
        "environment=99999999999999999999&host=99999999999999999999&plan=99999999999999999999",
        "night=0001-01-01&group=night&state=all",
        "night=9999-12-31&before=1&after=1&state=snoozed",
        "group=host&group=night&state=open&state=fixed",
    ],
)
def test_filters_that_mean_nothing_filter_nothing_or_find_nothing(signed_in: Client, query: str) -> None:
    make_alert()
    assert signed_in.get(f"/alerts?{query}").status_code == 200
    assert signed_in.get(f"/morning?{query}").status_code == 200


def test_markup_in_a_comment_a_ticket_and_a_name_stays_text(signed_in: Client) -> None:
    alert = make_alert()
    for form in (
        {"action": "comment", "comment": "<script>alert(1)</script>"},
        {"action": "ticket", "ticket_url": 'https://t.test/"onmouseover="alert(1)'},
        {"action": "assign", "assignee": "<i>nobody</i>"},
    ):
        page = signed_in.post(f"/alerts/{alert.pk}/move", form, follow=True).content.decode()
        for markup in ("<script>alert", '"onmouseover', "<i>nobody"):
            assert markup not in page


def test_many_are_reopened_and_what_is_no_action_for_many_is_refused(signed_in: Client) -> None:
    alerts = [make_alert(), make_alert()]
    form: dict[str, Any] = {"action": "invalid", "alert": [alert.pk for alert in alerts]}
    signed_in.post("/alerts/triage", form)
    page = signed_in.post("/alerts/triage?state=invalid", form | {"action": "reopen"}, follow=True).content.decode()
    assert "2 alerts reopened." in page
    assert list(Alert.objects.values_list("state", flat=True)) == [State.OPEN] * 2
    page = signed_in.post("/alerts/triage", form | {"action": "split"}, follow=True).content.decode()
    assert "split is no action" in page
