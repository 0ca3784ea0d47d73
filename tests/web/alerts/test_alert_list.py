"""The list of alerts: worst first, filtered and grouped by its address, and taken care of many at a time."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from benchweb.regressions.models import Alert, AlertTransition
from benchweb.web.shared.lists import PAGE_SIZE
from tests.factories import make_alert, make_endpoint, make_pair, make_plan, make_user

State, Severity = Alert.State, Alert.Severity


def listed(page: str) -> list[int]:
    return [int(found) for found in re.findall(r'class="card-title"><a href="/alerts/(\d+)"', page)]


def ids_at(client: Client, address: str) -> list[int]:
    return listed(client.get(address).content.decode())


def weighed(severity: str, size: float | None) -> Alert:
    alert = make_alert()
    Alert.objects.filter(pk=alert.pk).update(severity=severity, size_ratio=size)
    return alert


def test_the_worst_is_first_and_what_is_missing_counts_as_the_whole_of_it(signed_in: Client) -> None:
    small, missing = weighed(Severity.WARNING, 0.05), weighed(Severity.WARNING, None)
    large, critical = weighed(Severity.WARNING, 0.3), weighed(Severity.CRITICAL, 0.02)
    note = weighed(Severity.INFO, 8.0)
    worst_first = [critical.pk, missing.pk, large.pk, small.pk, note.pk]
    assert ids_at(signed_in, "/alerts") == worst_first
    assert ids_at(signed_in, "/alerts?sort=rank") == worst_first[::-1]
    assert ids_at(signed_in, "/alerts?group=night") == worst_first


def test_what_somebody_has_taken_is_listed_on_request_only(signed_in: Client) -> None:
    untouched, taken, ended = (make_alert(state) for state in (State.OPEN, State.ACKNOWLEDGED, State.FIXED))
    assert ids_at(signed_in, "/alerts") == [untouched.pk]
    assert ids_at(signed_in, "/alerts?state=live") == [taken.pk, untouched.pk]
    assert ids_at(signed_in, "/alerts?state=all") == [ended.pk, taken.pk, untouched.pk]
    assert ids_at(signed_in, "/alerts?state=fixed") == [ended.pk]
    assert ids_at(signed_in, "/alerts?state=nonsense") == [untouched.pk]


def test_each_filter_of_the_address_leaves_what_matches(signed_in: Client) -> None:
    pair = make_pair(environment="terway")
    alert, plan = make_alert(pair=pair), make_plan(name="nightly")
    Alert.objects.filter(pk=alert.pk).update(
        environment=pair.environment, plan=plan, severity=Severity.CRITICAL, night="2026-03-01", kind="change"
    )
    make_alert()
    for query in (
        f"environment={pair.environment_id}",
        f"plan={plan.pk}",
        "severity=critical",
        "night=2026-03-01",
        f"host={pair.sink.host_id}",
        "kind=change",
    ):
        # No title can be made of a change without its figures: the absence is what both are.
        Alert.objects.filter(pk=alert.pk).update(kind="change" if query.startswith("kind") else "absence")
        assert ids_at(signed_in, f"/alerts?{query}") == [alert.pk], query
        assert query.partition("=")[2] in signed_in.get(f"/alerts?{query}").content.decode()
    assert ids_at(signed_in, "/alerts?host=999999") == []


@pytest.mark.parametrize("query", ["night=2026-02-30", "host=x", "severity=awful", "kind=none", f"plan={'9' * 5000}"])
def test_a_filter_that_can_not_be_read_filters_nothing(signed_in: Client, query: str) -> None:
    alert = make_alert()
    assert ids_at(signed_in, f"/alerts?{query}") == [alert.pk]


def test_groups_have_their_names_and_lead_to_what_is_in_them(signed_in: Client) -> None:
    endpoint = make_endpoint(host_name="alder")
    first, second, other = make_alert(), make_alert(), make_alert()
    Alert.objects.filter(pk__in=(first.pk, second.pk)).update(host=endpoint.host)
    page = signed_in.get("/alerts?group=host&severity=warning").content.decode()
    assert listed(page) == [other.pk, second.pk, first.pk]
    assert f'href="?severity=warning&amp;host={endpoint.host_id}">alder</a>' in page
    assert page.index("No single host") < page.index(">alder</a>")
    assert "2 alerts" in page
    by_night = signed_in.get("/alerts?group=night").content.decode()
    assert f"Night of {first.night}" in by_night


def test_those_ticked_are_acknowledged_and_the_others_are_left_alone(signed_in: Client) -> None:
    one, two, other, ended = make_alert(), make_alert(), make_alert(), make_alert(State.FIXED)
    form = {"action": "acknowledge", "alert": [one.pk, two.pk, ended.pk, "x", 999999], "comment": "new switch"}
    answer = signed_in.post("/alerts/triage?state=live&severity=warning", form)
    assert answer["Location"] == "/alerts?state=live&severity=warning"
    states = dict(Alert.objects.values_list("pk", "state"))
    assert states == {one.pk: "acknowledged", two.pk: "acknowledged", other.pk: "open", ended.pk: "fixed"}
    rows = (
        AlertTransition.objects.filter(action="moved").order_by("alert").values_list("alert", "by__username", "comment")
    )
    assert list(rows) == [(one.pk, "ada", "new switch"), (two.pk, "ada", "new switch")]
    page = signed_in.get(answer["Location"]).content.decode()
    assert "2 alerts acknowledged." in page
    assert f"Alert {ended.pk}: the state can&#x27;t change from fixed to acknowledged." in page


def test_htmx_has_the_list_again_with_what_was_done(signed_in: Client) -> None:
    one, other = make_alert(), make_alert()
    form = {"action": "invalid", "alert": [one.pk]}
    page = signed_in.post("/alerts/triage?group=night", form, headers={"HX-Request": "true"}).content.decode()
    assert 'data-outcome="1 alert marked as noise."' in page
    assert listed(page) == [other.pk]
    assert 'hx-post="/alerts/triage?group=night"' in page


@pytest.mark.parametrize("form", [{"action": "acknowledge"}, {"action": "acknowledge", "alert": ["x"]}])
def test_without_a_tick_nothing_is_done_and_the_page_says_so(signed_in: Client, form: dict[str, object]) -> None:
    make_alert()
    assert "No alert is selected" in signed_in.post("/alerts/triage", form, follow=True).content.decode()
    assert Alert.objects.get().state == State.OPEN


def test_an_action_that_there_is_not_is_refused(signed_in: Client) -> None:
    alert = make_alert()
    form = {"action": "<b>", "alert": [alert.pk]}
    assert "&lt;b&gt; is no action" in signed_in.post("/alerts/triage", form, follow=True).content.decode()
    assert AlertTransition.objects.count() == 1


def test_strangers_change_nothing(db: None) -> None:
    make_user("bert", "secret words")
    alert = make_alert()
    answer = Client().post("/alerts/triage", {"action": "fixed", "alert": [alert.pk]})
    assert (answer.status_code, Alert.objects.get().state) == (302, State.OPEN)


def test_a_long_list_is_paged_worst_first(
    signed_in: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    alerts = [weighed(Severity.WARNING, size / 100) for size in range(PAGE_SIZE + 10)]
    with django_assert_max_num_queries(10):
        page = signed_in.get("/alerts").content.decode()
    expected = [alert.pk for alert in alerts[::-1]]
    assert listed(page) == expected[:PAGE_SIZE]
    following = re.search(r'href="(\?after=\d+)" rel="next"', page)
    assert following
    assert ids_at(signed_in, f"/alerts{following[1]}") == expected[PAGE_SIZE:]
