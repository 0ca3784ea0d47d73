"""The page of a night: what changed, what is missing, what recovered, and what "all quiet" rests on."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.accounts.models import Role
from benchweb.accounts.roles.grants import role_set, team_create
from benchweb.documents.document import Badge
from benchweb.hosts.models import Environment, Host
from benchweb.hosts.services import environment_create
from benchweb.regressions import transitions
from benchweb.regressions.alert_texts import alert_title
from benchweb.regressions.models import Alert
from benchweb.regressions.selectors import night_of_date
from benchweb.schedules.models import Slot
from benchweb.web.alerts.morning import scope_choices
from benchweb.web.view_shares.building import built
from tests.factories import make_alert, make_pair, make_schedule
from tests.nights import NIGHT
from tests.regressions.judged import quiet

AT = datetime(2026, 11, 26, 2, tzinfo=UTC)
PAGE = "/morning?night=2026-11-26"


def test_it_lists_what_is_left_to_look_at_and_what_recovered(signed_in: Client) -> None:
    left, known = make_alert(pair=make_pair(), at=AT), make_alert(pair=make_pair(), at=AT)
    ended = make_alert(pair=make_pair(), at=AT)
    transitions.acknowledge(alert_id=known.pk, by=None)
    transitions.move(ended.pk, Alert.State.RECOVERED)
    Alert.objects.filter(pk=ended.pk).update(ended_at=AT)
    page = signed_in.get(PAGE).content.decode()
    shown = {alert.pk: f'href="/alerts/{alert.pk}"' in page for alert in (left, known, ended)}
    assert shown == {left.pk: True, known.pk: True, ended.pk: True}
    assert page.index("What somebody took care of") < page.index(f"/alerts/{known.pk}")
    assert page.index(f"/alerts/{left.pk}") < page.index("What recovered") < page.index(f"/alerts/{ended.pk}")
    assert "All quiet" not in page
    assert f"/alerts/{left.pk}" not in signed_in.get("/morning?night=2026-11-25").content.decode()


def night_in(zone: str) -> list[Alert]:
    """Make an alert of the evening of 25 November in a zone, and another of the next morning."""
    local = ZoneInfo(zone)
    ats = (datetime(2026, 11, 25, 23, tzinfo=local), datetime(2026, 11, 26, 6, tzinfo=local))
    return [make_alert(pair=make_pair(), at=at) for at in ats]


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/Los_Angeles"])
def test_a_night_is_whole_where_its_schedules_are(signed_in: Client, zone: str) -> None:
    at = datetime(2026, 11, 25, 23, tzinfo=ZoneInfo(zone))
    Slot.objects.create(schedule=make_schedule(timezone=zone), at=at, claimed_at=at, state="finished")
    # Who reads it elsewhere sees the night of the place.
    signed_in.cookies["zone"] = "Europe/Berlin"
    alerts = night_in(zone)
    page = signed_in.get(PAGE).content.decode()
    assert f"From noon to noon in {zone}, the zone of its schedules." in page
    assert "1 of 1 slot with complete results" in page
    assert "What is still open from earlier nights" not in page
    for alert in alerts:
        assert f'href="/alerts/{alert.pk}"' in page
        assert f'href="/alerts/{alert.pk}"' not in signed_in.get("/morning?night=2026-11-25").content.decode()


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/Los_Angeles"])
def test_without_a_schedules_zone_the_readers_cuts_the_night(signed_in: Client, zone: str) -> None:
    signed_in.cookies["zone"] = zone
    at = datetime(2026, 11, 26, 2, tzinfo=UTC)
    # A schedule in UTC says nothing of where it is night, and two that differ say two things.
    for name in ("UTC", "Asia/Shanghai", "Europe/Berlin"):
        Slot.objects.create(schedule=make_schedule(timezone=name), at=at, claimed_at=at, state="finished")
    alerts = night_in(zone)
    page = signed_in.get(PAGE).content.decode()
    assert f"From noon to noon in {zone}." in page
    assert "What is still open from earlier nights" not in page
    assert all(f'href="/alerts/{alert.pk}"' in page for alert in alerts)
    chosen = signed_in.get(f"{PAGE}&zone=UTC").content.decode()
    assert "From noon to noon in UTC." in chosen
    assert "?night=2026-11-25&amp;zone=UTC" in chosen


@pytest.mark.django_db
def test_a_night_in_which_clocks_go_back_has_an_hour_more() -> None:
    night = night_of_date(date(2026, 11, 1), zone=ZoneInfo("America/Los_Angeles"))
    assert night.ends - night.begins == timedelta(hours=25)


def test_all_quiet_says_what_it_rests_on(signed_in: Client) -> None:
    runs = quiet(make_pair())
    last = NIGHT + 19 * timedelta(days=1)
    night = (last + timedelta(hours=12)).date()
    page = signed_in.get(f"/morning?night={night}").content.decode()
    assert "All quiet." in page
    assert "1 of 1 run complete." in page
    assert "Half of the series would show a change of" in page
    assert len(runs) == 20


def test_a_night_is_not_quiet_while_an_alert_of_an_earlier_one_is_open(signed_in: Client) -> None:
    quiet(make_pair(), 6)
    last = NIGHT + 5 * timedelta(days=1)
    address = f"/morning?night={(last + timedelta(hours=12)).date()}"
    alert = make_alert(pair=make_pair(), at=last - timedelta(days=3))
    page = signed_in.get(address).content.decode()
    assert "All quiet" not in page
    assert page.index("What is still open from earlier nights") < page.index(f"/alerts/{alert.pk}")
    transitions.acknowledge(alert_id=alert.pk, by=None)
    assert "All quiet." in signed_in.get(address).content.decode()


@pytest.mark.parametrize("deal", [transitions.fix, transitions.expect, transitions.invalidate])
def test_what_somebody_fixed_at_night_stays_in_it(signed_in: Client, deal: Callable[..., None]) -> None:
    alert = make_alert(pair=make_pair(), at=AT)
    deal(alert_id=alert.pk, by=None)
    page = signed_in.get(PAGE).content.decode()
    assert page.index("What somebody took care of") < page.index(f"/alerts/{alert.pk}")


def test_a_night_without_runs_is_not_called_quiet(signed_in: Client) -> None:
    page = signed_in.get("/morning?night=2001-01-01").content.decode()
    assert "All quiet" not in page
    assert "Nothing ran." in page


def test_where_nothing_ran_nothing_is_said_to_be_unchanged(signed_in: Client) -> None:
    page = signed_in.get("/morning?night=2001-01-01").content.decode()
    assert "Nothing changed" not in page
    assert "Nothing is missing" not in page


def test_an_environment_and_a_team_have_a_night_of_their_own(signed_in: Client) -> None:
    ours, theirs = make_pair(), make_pair()
    alerts = [make_alert(pair=pair, at=AT) for pair in (ours, theirs)]
    team = team_create(name="rack people")
    role_set(role=Role.OPERATOR, team=team, environment_id=ours.environment_id)
    for chosen in (f"environment={ours.environment_id}", f"team={team.pk}"):
        page = signed_in.get(f"{PAGE}&{chosen}").content.decode()
        assert [f'href="/alerts/{alert.pk}"' in page for alert in alerts] == [True, False]
        # The nights beside it are told of the same.
        assert f"night=2026-11-25&amp;{chosen}" in page
    assert f'href="/alerts/{alerts[0].pk}"' not in signed_in.get(f"{PAGE}&environment=999999").content.decode()


def test_what_belongs_to_no_environment_is_told_in_each(signed_in: Client) -> None:
    pair = make_pair()
    of_host = make_alert(pair=pair, at=AT)
    Alert.objects.filter(pk=of_host.pk).update(pair=None, environment=None, host=pair.source.host)
    page = signed_in.get(f"{PAGE}&environment={pair.environment_id}").content.decode()
    assert f'href="/alerts/{of_host.pk}"' in page


@pytest.mark.django_db
def test_a_night_can_be_shared() -> None:
    alert = make_alert(pair=make_pair(), at=AT)
    view = built(PAGE, "UTC", "en")
    assert view.title == "Night of 2026-11-26"
    (table,) = view.tables
    assert [list(map(str, row[1:])) for row in table.rows] == [["open", f"{AT:%Y-%m-%d %H:%M} UTC"]]
    assert alert_title(alert) in table.rows[0]
    assert view.badge == Badge("last night", "1 open alert", is_bad=True)


def test_a_night_that_can_not_be_read_is_the_latest(signed_in: Client) -> None:
    today = datetime.now(UTC).date()
    assert f"Night of {today}" in signed_in.get("/morning?night=yesterday").content.decode()
    assert signed_in.get("/morning?night=9999-12-31").status_code == 200
    assert signed_in.get("/morning?night=0001-01-01").status_code == 200


def test_the_environments_in_use_and_the_readers_teams_may_be_chosen_by_name(signed_in: Client, ada: User) -> None:
    rooms = [environment_create(name=name) for name in ("roof", "cellar", "attic")]
    Environment.objects.filter(name="attic").update(archived_at=AT)
    mine, _other = team_create(name="night shift"), team_create(name="day shift")
    mine.members.add(ada)
    assert scope_choices(ada) == {
        "environments": [(str(rooms[1].pk), "cellar"), (str(rooms[0].pk), "roof")],
        "teams": [(str(mine.pk), "night shift")],
    }


def test_of_all_environments_a_sample_is_left_out_and_has_a_night_of_its_own(signed_in: Client) -> None:
    pair = make_pair()
    quiet(pair, 6)
    sample = make_alert(pair=pair, at=AT)
    Environment.objects.filter(pk=pair.environment_id).update(is_synthetic=True)
    Host.objects.filter(pk=pair.source.host_id).update(is_synthetic=True)
    every, its = (
        signed_in.get(f"{PAGE}{chosen}").content.decode() for chosen in ("", f"&environment={pair.environment_id}")
    )
    assert f"/alerts/{sample.pk}" not in every
    assert "Nothing ran." in every
    assert f"/alerts/{sample.pk}" in its
    assert "1 of 1 run complete." in its
