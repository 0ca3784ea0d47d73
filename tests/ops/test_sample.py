"""The sample environment: made once, judged as measured ones are, told to nobody, removed whole."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from benchweb.hosts.models import Endpoint, Environment, Host, Pair
from benchweb.notifications.models import Delivery
from benchweb.notifications.services import RuleValues, rule_create
from benchweb.ops import sample, synthetic
from benchweb.ops.running.home import Home
from benchweb.plans.models import Plan
from benchweb.regressions.headline import headline_since
from benchweb.regressions.models import Alert, AlertTransition, Threshold
from benchweb.regressions.selectors import open_count
from benchweb.results.models import Point, Series
from benchweb.runs.models import Campaign, Run, State
from benchweb.schedules.models import Schedule, Slot
from tests.factories import make_channel, make_pair

pytestmark = pytest.mark.begun_first

NIGHTS, PAIRS = 60, 12


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("BENCHWEB_HOME", str(tmp_path))
    home = Home.from_environment()
    home.create()
    return home


@pytest.mark.django_db
def test_it_is_sixty_nights_with_a_fall_a_recovery_a_gap_and_a_broken_limit_found_by_judging(
    client: Client,
    django_user_model: type[User],
) -> None:
    client.force_login(django_user_model.objects.create_superuser("ada"))
    rule_create(RuleValues(name="all", channel=make_channel()))
    began = timezone.now()
    assert synthetic.make_sample(began) == Point.objects.count() > 100_000
    assert set(Environment.objects.values_list("name", "is_synthetic")) == {("Sample", True)}
    assert Host.objects.filter(is_synthetic=True, name__startswith="sample-").count() == 4
    slots = Slot.objects.order_by("at")
    assert [slot.state for slot in slots].count(State.MISSED) == 1
    assert (slots.count(), Pair.objects.count(), Run.objects.count()) == (NIGHTS, PAIRS, PAIRS * (NIGHTS - 1))
    latest = slots.last()
    assert latest is not None
    # Of the last day, whoever looks when.
    assert began - timedelta(hours=24) < latest.at < began

    fallen = Alert.objects.get(kind="change", state="open")
    assert fallen.host is not None
    assert fallen.host.name == "sample-04"
    assert fallen.begun_at == pytest.approx(slots[NIGHTS - 5].at, abs=timedelta(hours=1))
    assert set(fallen.series.values_list("series__pair__sink__host__name", flat=True)) == {"sample-04"}
    recovered = Alert.objects.filter(kind="change", state="recovered").exclude(opened_at=None)
    hosts = set(recovered.values_list("series__series__pair__source__host__name", flat=True))
    assert hosts == {"sample-01", "sample-02"}
    limited = Alert.objects.get(kind="threshold", state="open")
    assert limited.night == fallen.night
    # Dated by their nights, not by when the sample was made.
    assert not AlertTransition.objects.filter(at__gte=began).exists()
    assert all(began - timedelta(days=1) < alert.ended_at < began for alert in recovered if alert.ended_at)

    assert Delivery.objects.count() == 0
    told = headline_since(timezone.now() - timedelta(days=1))
    assert (told.new, told.ongoing, told.recovered, told.runs, told.incomplete, told.hosts) == (0, 0, 0, 0, 0, 0)
    assert open_count() == 0
    page = client.get("/").content.decode()
    assert "from sample data: 0 new, 2 ongoing, 1 recovered." in " ".join(page.split())
    for path in (f"/alerts/{fallen.pk}", f"/runs/{Run.objects.latest('pk').pk}", "/matrix"):
        assert ">sample</span>" in client.get(path).content.decode(), path

    assert synthetic.make_sample(began) == 0
    sample.remove()
    models = (Host, Endpoint, Environment, Pair, Plan, Schedule, Slot, Campaign, Run, Series, Point, Alert, Threshold)
    assert {model.__name__: model._default_manager.count() for model in models} == {m.__name__: 0 for m in models}


@pytest.mark.parametrize("hour", [0, 2, 3, 14, 23])
def test_its_last_night_is_of_the_last_day_at_any_hour(hour: int) -> None:
    until = datetime(2026, 3, 1, hour, 10, tzinfo=UTC)
    script = synthetic.sample_script(until)
    ends = script.nights[-1] + timedelta(seconds=script.planned_seconds)
    assert until - timedelta(hours=24) < script.nights[-1] < ends <= until


def make_and_remember(calls: list[int | None]) -> Callable[..., int]:
    def make(_until: datetime, *, first_run: int | None = None, **_: object) -> int:
        calls.append(first_run)
        return 5

    return make


@pytest.mark.django_db
def test_a_new_installation_gets_it_once_with_older_runs_than_those_launched_meanwhile(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int | None] = []
    monkeypatch.setattr("benchweb.ops.synthetic.make_sample", make_and_remember(calls))
    sample.decide(home)
    later = synthetic.reserve_runs()
    call_command("sample", "--if-new", stdout=StringIO())
    assert len(calls) == 1
    assert calls[0] is not None
    assert calls[0] + PAIRS * (NIGHTS - 1) <= later
    # Whatever became of it: not again.
    call_command("sample", "--if-new", stdout=StringIO())
    sample.decide(home)
    call_command("sample", "--if-new", stdout=StringIO())
    assert len(calls) == 1


@pytest.mark.django_db
def test_an_installation_with_hosts_of_its_own_gets_none(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int | None] = []
    monkeypatch.setattr("benchweb.ops.synthetic.make_sample", make_and_remember(calls))
    make_pair()
    sample.decide(home)
    call_command("sample", "--if-new", stdout=StringIO())
    assert calls == []
    call_command("sample", stdout=StringIO())
    assert calls == [None]


@pytest.mark.django_db
def test_what_fails_leaves_the_next_start_to_try_again(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> int:
        raise OSError("no room")

    sample.decide(home)
    monkeypatch.setattr("benchweb.ops.synthetic.make_sample", fail)
    told = StringIO()
    call_command("sample", "--if-new", stdout=StringIO(), stderr=told)
    assert "no room" in told.getvalue()
    calls: list[int | None] = []
    monkeypatch.setattr("benchweb.ops.synthetic.make_sample", make_and_remember(calls))
    call_command("sample", "--if-new", stdout=StringIO())
    assert len(calls) == 1
