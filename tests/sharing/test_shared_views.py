"""Links to views: history, matrix, comparison, alert and pair, frozen or live, with the same care as a run's."""

import json
import re
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from benchweb.hosts.models import Pair
from benchweb.plans.models import Plan
from benchweb.regressions.models import AlertSeries
from benchweb.results.models import Series
from benchweb.results.run_summaries import rebuild
from benchweb.runs.models import Run
from benchweb.schedules.models import Slot
from benchweb.sharing import live as live_pages
from benchweb.sharing.models import Share
from tests.charts.history_rows import past_run
from tests.factories import make_alert, make_endpoint, make_pair, make_plan, make_schedule
from tests.regressions.slow.nights import make_slow_change

pytestmark = pytest.mark.django_db
NIGHTS = 8


@pytest.fixture
def plan(db: None) -> Plan:
    return make_plan(steps=[{"kind": "tcp_stream", "params": {"duration_seconds": 1}}], repetitions=3)


@pytest.fixture
def pair(plan: Plan) -> Pair:
    """Return a measured pair of two hosts with names of their own."""
    pair = make_pair(
        source=make_endpoint(host_name="quartz"), sink=make_endpoint(host_name="basalt"), environment="granite"
    )
    now = timezone.now()
    for ago in range(NIGHTS, 0, -1):
        past_run(plan, pair, now - timedelta(days=ago), *[{"throughput_bps": 1e10 + ago * 1e6 + n} for n in range(3)])
    rebuild()
    return pair


@pytest.fixture
def member(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_user("ada"))
    return client


def link(member: Client, path: str, **fields: str) -> str:
    """Make a link to a view by the form, and return its path."""
    values = {"path": path, "shows": "frozen", "lasts": "30"} | fields
    answer = member.post("/share", values)
    assert answer.status_code == 201
    found = re.search(r'value="http://testserver(/s/[^"]+)"', answer.content.decode())
    assert found
    return found[1]


def paths(pair: Pair) -> dict[str, str]:
    first, last = Run.objects.order_by("pk")[0].pk, Run.objects.latest("pk").pk
    alert = make_alert(pair=pair)
    AlertSeries.objects.create(
        alert=alert,
        series=Series.objects.get(),
        segment_key="one",
        before=1e10,
        after=8e9,
        first_bad_run=Run.objects.latest("pk"),
    )
    make_slow_change(Series.objects.get(), alert.night)
    side = quote(f"pair={pair.pk}")
    return {
        "history": f"/history?pair={pair.pk}&over=30d",
        "matrix": f"/matrix?environment={pair.environment_id}&with=yesterday",
        "compare": f"/compare?runs={first},{last}",
        "sets": f"/compare?side={side}%26to%3D-4d&side={side}%26from%3D-4d",
        "alert": f"/alerts/{alert.pk}",
        "pair": f"/pairs/{pair.pk}",
        "morning": f"/morning?night={alert.night}&environment={pair.environment_id}",
    }


@pytest.mark.parametrize("name", ["history", "matrix", "compare", "sets", "alert", "pair"])
@pytest.mark.parametrize("shows", ["frozen", "live"])
def test_a_stranger_sees_the_view_and_no_navigation(member: Client, pair: Pair, name: str, shows: str) -> None:
    path = link(member, paths(pair)[name], shows=shows)
    answer = Client().get(path)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "quartz" in page and "bit/s" in page
    assert "<nav" not in page and "/logout" not in page
    assert answer["Cache-Control"] == "private, no-store" and "sessionid" not in answer.cookies
    assert Share.objects.get().opened == 1


@pytest.mark.parametrize("name", ["history", "matrix", "compare", "sets", "alert", "pair", "morning"])
@pytest.mark.parametrize("shows", ["frozen", "live"])
def test_pseudonyms_hide_hosts_and_environments_everywhere(member: Client, pair: Pair, name: str, shows: str) -> None:
    path = link(member, paths(pair)[name], shows=shows, anonymise="on")
    page = Client().get(path).content.decode().lower()
    assert [secret for secret in ("quartz", "basalt", "granite") if secret in page] == []
    assert re.search(r"host-[a-z2-7]{5}", page)


@pytest.mark.parametrize("shows", ["frozen", "live"])
def test_a_shared_matrix_keeps_the_colours_of_its_cells(member: Client, plan: Plan, pair: Pair, shows: str) -> None:
    past_run(plan, pair, timezone.now(), {"throughput_bps": 5e9})
    rebuild()
    view = f"/matrix?environment={pair.environment_id}&with=usual"
    colours = r'<td class="(cell [^"]*)"'
    own = re.findall(colours, member.get(view).content.decode())
    assert "cell level level-down-4" in own
    page = Client().get(link(member, view, shows=shows, anonymise="on")).content.decode()
    assert re.findall(colours, page) == own


def test_a_shared_pair_begins_with_its_nights_as_its_page_does(member: Client, pair: Pair) -> None:
    page = Client().get(link(member, f"/pairs/{pair.pk}", anonymise="on")).content.decode()
    found = re.search(r'<script id="charts-data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    charts = json.loads(found[1])
    # No id of a row.
    assert [chart["id"] for chart in charts] == ["picture-throughput_bps"]
    assert len(charts[0]["series"][0]["measured"]) == NIGHTS
    assert page.index("charts-data") < page.index("shared-table")


def test_a_frozen_view_stays_and_a_live_one_follows(
    member: Client, plan: Plan, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_pages, "MADE_ANEW", timedelta(0))
    frozen, live = link(member, f"/pairs/{pair.pk}"), link(member, f"/pairs/{pair.pk}", shows="live")
    past_run(plan, pair, timezone.now(), {"throughput_bps": 5e9})
    rebuild()
    assert "5.00 Gbit/s" not in Client().get(frozen).content.decode()
    assert "5.00 Gbit/s" in Client().get(live).content.decode()


def test_a_live_link_is_made_anew_once_a_minute_at_most(member: Client, plan: Plan, pair: Pair) -> None:
    live = link(member, f"/pairs/{pair.pk}", shows="live")
    first = Client().get(live).content.decode()
    past_run(plan, pair, timezone.now(), {"throughput_bps": 5e9})
    rebuild()
    assert Client().get(live).content.decode() == first


def test_a_live_badge_of_a_pair_has_its_latest_figure_and_whether_it_fell(
    member: Client, plan: Plan, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_pages, "MADE_ANEW", timedelta(0))
    badge = f"{link(member, f'/pairs/{pair.pk}', shows='live')}/badge.svg"
    assert "10.0 Gbit/s" in Client().get(badge).content.decode().replace("\xa0", " ")
    past_run(plan, pair, timezone.now(), {"throughput_bps": 8e9})
    rebuild()
    svg = Client().get(badge).content.decode().replace("\xa0", " ")
    assert "8.00 Gbit/s −20.0 %" in svg and "#c0311d" in svg


def test_a_live_badge_of_a_schedule_has_its_latest_slot_and_its_alerts(
    member: Client, plan: Plan, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_pages, "MADE_ANEW", timedelta(0))
    schedule = make_schedule(plan=plan, target={"pairs": [pair.pk]}, name="nightly mesh")
    run, now = Run.objects.latest("pk"), timezone.now()
    Slot.objects.create(schedule=schedule, at=now, state="finished", claimed_at=now, campaign=run.campaign)
    path = link(member, f"/schedules/{schedule.pk}", shows="live")
    svg = Client().get(f"{path}/badge.svg").content.decode()
    assert "nightly mesh" in svg and "1 of 1 run complete" in svg and "#0b5cad" in svg
    alert = make_alert(pair=pair)
    type(alert).objects.filter(pk=alert.pk).update(schedule=schedule)
    svg = Client().get(f"{path}/badge.svg").content.decode()
    assert "1 of 1 run complete · 1 open alert" in svg and "#c0311d" in svg
    assert "nightly mesh · Schedule" in Client().get(path).content.decode()


def test_one_chart_of_a_view_may_stand_in_another_page(member: Client, pair: Pair) -> None:
    path = link(member, f"/history?pair={pair.pk}&over=30d")
    answer = Client().get(f"{path}/embed")
    assert answer.status_code == 200 and "frame-ancestors *" in answer["Content-Security-Policy"]
    assert Client().get(f"{path}/embed?chart=none").status_code == 404


def test_a_revoked_or_expired_link_shows_nothing_any_more(member: Client, pair: Pair) -> None:
    revoked, expired = link(member, f"/pairs/{pair.pk}"), link(member, f"/pairs/{pair.pk}", shows="live")
    first, second = Share.objects.order_by("pk")
    member.post("/share", {"path": f"/pairs/{pair.pk}", "revoke": str(first.pk)})
    Share.objects.filter(pk=second.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    for path in (revoked, expired):
        answer = Client().get(path)
        assert answer.status_code == 410 and "quartz" not in answer.content.decode()
    assert Share.objects.get(pk=first.pk).page is None


@pytest.mark.parametrize(
    "path", ["", "/runs", "//evil.example/history", "https://evil.example/history", "/alerts/999999"]
)
def test_what_is_no_view_cannot_be_shared(member: Client, pair: Pair, path: str) -> None:
    assert member.get("/share", {"path": path}).status_code == 404
    assert member.post("/share", {"path": path, "shows": "live", "lasts": "30"}).status_code == 404
    assert not Share.objects.exists()


def test_a_link_has_the_readers_language(member: Client, pair: Pair) -> None:
    path = link(member, f"/pairs/{pair.pk}")
    page = Client().get(path, headers={"Accept-Language": "zh-hans"}).content.decode()
    assert re.search(r"[\u4e00-\u9fff]", page)


@pytest.mark.parametrize("name", ["history", "matrix", "compare", "sets", "alert", "pair"])
def test_every_view_offers_to_share_itself(member: Client, pair: Pair, name: str) -> None:
    path = paths(pair)[name]
    page = member.get(path).content.decode()
    found = re.search(r'href="(/share\?path=[^"]+)"', page)
    assert found
    form = member.get(found[1].replace("&amp;", "&"))
    assert form.status_code == 200
    assert f'<input type="hidden" name="path" value="{path.replace("&", "&amp;")}">' in form.content.decode()
