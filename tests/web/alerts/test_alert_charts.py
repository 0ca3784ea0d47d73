"""The charts of an alert: its levels, its interval, what was measured again, and the others of its group."""

import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchweb.annotations.services import annotation_create
from benchweb.hosts.models import Pair
from benchweb.regressions.models import Alert, AlertSeries
from tests.factories import make_alert, make_pair
from tests.regressions.judged import LEVEL, judged, night, quiet

# As many as a chart's data may cost.
MOST_QUERIES = 12


@pytest.fixture(scope="module")
def fallen_pair(rows_of_a_module: None) -> Pair:
    """Make a pair that lost 30 % in the 21st of 28 nights."""
    pair = make_pair()
    quiet(pair)
    judged(pair, [0.7] * 8, first=20)
    return pair


@pytest.fixture
def alert(fallen_pair: Pair, db: None) -> Alert:
    """Return that pair's alert."""
    return Alert.objects.get(pair=fallen_pair)


def charts(client: Client, alert: Alert) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(client.get(f"/alerts/{alert.pk}/charts.json").content)["charts"]
    return found


def test_the_first_chart_has_the_levels_on_both_sides_with_the_interval(signed_in: Client, alert: Alert) -> None:
    (chart,) = charts(signed_in, alert)
    part = alert.series.get()
    before, after = chart["levels"]
    assert (before["y"], after["y"]) == (part.before, part.after)
    assert after["y"] == pytest.approx(0.7 * LEVEL, rel=0.01)
    assert (before["since"], before["until"]) == ("2026-11-21T02:00:00.000000Z", "2026-12-10T02:00:00.000000Z")
    assert (after["since"], after["until"]) == ("2026-12-11T02:00:00.000000Z", "2026-12-18T02:00:00.000000Z")
    assert (before["low"], before["high"]) == (None, None)
    assert after["low"] <= after["y"] <= after["high"]
    assert part.interval_low_ratio is not None
    assert after["low"] == pytest.approx(part.before * (1 + part.interval_low_ratio))
    assert chart["y"]["from_zero"] is False
    assert len(chart["series"][0]["measured"]) == 28


def test_the_first_bad_run_and_what_measured_again_are_ringed(signed_in: Client, alert: Alert) -> None:
    part = alert.series.get()
    rerun = part.first_bad_run.pair.runs.order_by("-pk").first()
    AlertSeries.objects.filter(pk=part.pk).update(rerun=rerun)
    Alert.objects.filter(pk=alert.pk).update(state=Alert.State.OPEN)
    rings = charts(signed_in, alert)[0]["rings"]
    assert [(ring["label"], ring["kind"], ring["at"][:10]) for ring in rings] == [
        ("first bad run", "change", "2026-12-11"),
        ("measured again", "again", "2026-12-18"),
    ]
    Alert.objects.filter(pk=alert.pk).update(state=Alert.State.SUSPECT)
    assert charts(signed_in, alert)[0]["rings"][0]["label"] == "suspect"


def test_notes_are_flagged_and_the_alert_itself_is_not(signed_in: Client, alert: Alert) -> None:
    annotation_create(text="new switch", at=night(19), pair=alert.series.get().series.pair)
    other = Alert.objects.get()
    Alert.objects.filter(pk=other.pk).update(opened_at=timezone.now())
    assert [(mark["kind"], mark["label"]) for mark in charts(signed_in, alert)[0]["marks"]] == [("note", "new switch")]


def test_others_of_its_group_are_small_multiples_and_bounded(
    signed_in: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    pair = make_pair()
    quiet(pair, 20, series=11)
    judged(pair, [0.7] * 8, first=20, series=11)
    alert = Alert.objects.get(pair=pair)
    assert alert.series.count() == 11
    with django_assert_max_num_queries(MOST_QUERIES):
        found = charts(signed_in, alert)
    assert len(found) == 9
    assert [len(chart["levels"]) for chart in found] == [2] * 9
    assert len({chart["series"][0]["id"] for chart in found}) == 9
    with django_assert_max_num_queries(MOST_QUERIES):
        page = signed_in.get(f"/alerts/{alert.pk}").content.decode()
    assert "2 more in the table alone" in page


def test_the_page_says_what_to_do_next(signed_in: Client, alert: Alert) -> None:
    page = signed_in.get(f"/alerts/{alert.pk}").content.decode()
    part = alert.series.get()
    assert f'action="/runs/{part.first_bad_run_id}/again"' in page
    for address in (
        f"/compare?runs={part.last_good_run_id},{part.first_bad_run_id}",
        f"/runs/{part.last_good_run_id}",
        f"/runs/{part.first_bad_run_id}",
        f"/history?series={part.series_id}",
    ):
        assert f'<a href="{address}">' in page
        assert signed_in.get(address).status_code == 200


def test_missing_results_have_no_chart_and_lead_to_the_pair(signed_in: Client) -> None:
    alert = make_alert(pair=make_pair())
    assert charts(signed_in, alert) == []
    page = signed_in.get(f"/alerts/{alert.pk}").content.decode()
    assert "Around the change" not in page
    assert f'<a href="/runs?pair={alert.pair_id}">' in page
    assert signed_in.get("/alerts/999999/charts.json").status_code == 404
