"""The page of a night: what changed, what is missing, what recovered, and what "all quiet" rests on."""

from datetime import UTC, datetime, timedelta

from django.test import Client

from benchweb.regressions import transitions
from benchweb.regressions.models import Alert
from tests.factories import make_alert, make_pair
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
    assert shown == {left.pk: True, known.pk: False, ended.pk: True}
    assert page.index(f"/alerts/{left.pk}") < page.index("What recovered") < page.index(f"/alerts/{ended.pk}")
    assert "All quiet" not in page
    assert f"/alerts/{left.pk}" not in signed_in.get("/morning?night=2026-11-25").content.decode()


def test_all_quiet_says_what_it_rests_on(signed_in: Client) -> None:
    runs = quiet(make_pair())
    last = NIGHT + 19 * timedelta(days=1)
    night = (last + timedelta(hours=12)).date()
    page = signed_in.get(f"/morning?night={night}").content.decode()
    assert "All quiet." in page
    assert "1 of 1 run finished." in page
    assert "Half of the series would show a change of" in page
    assert len(runs) == 20


def test_a_night_without_runs_is_not_called_quiet(signed_in: Client) -> None:
    page = signed_in.get("/morning?night=2001-01-01").content.decode()
    assert "All quiet" not in page
    assert "Nothing ran." in page


def test_a_night_that_can_not_be_read_is_the_latest(signed_in: Client) -> None:
    today = datetime.now(UTC).date()
    assert f"Night of {today}" in signed_in.get("/morning?night=yesterday").content.decode()
    assert signed_in.get("/morning?night=9999-12-31").status_code == 200
    assert signed_in.get("/morning?night=0001-01-01").status_code == 200
