"""A copy measures nothing and sends nothing until somebody says that it is the original."""

import re
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.core.management import call_command
from pytest_django import Settings

from benchweb.common import celery_client
from benchweb.common.rows import database_now
from benchweb.hosts.models import Endpoint
from benchweb.notifications.channels import channel_test
from benchweb.notifications.delivery import outbox
from benchweb.notifications.messages import message_id
from benchweb.notifications.models import Delivery
from benchweb.runs.models import Run, State
from benchweb.runs.services import LaunchError, launch
from benchweb.schedules.models import Slot
from benchweb.site import installation
from benchweb.site.installation import copy_mark, copy_notice, installation_note, is_copy_now, original_mark
from benchweb.site.models import Installation
from tests.factories import make_channel, make_endpoint, make_pair, make_plan, make_run, make_schedule
from workers import ticking
from workers.checks import check
from workers.tasks import execute_runs

pytestmark = pytest.mark.django_db(transaction=True)
# Of another machine and folder.
PLACE = f"{'f' * 24}:{'f' * 24}"
MADE_AT = datetime(2026, 11, 29, 23, tzinfo=UTC)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The wake-ups that are sent to workers meanwhile."""
    tasks: list[str] = []

    def send(task: str, *_: object) -> bool:
        tasks.append(task)
        return True

    monkeypatch.setattr(celery_client, "send", send)
    return tasks


def make_copy() -> None:
    copy_mark(of="https://bench.example.org", made_at=MADE_AT)


@pytest.fixture
def copy() -> None:
    make_copy()


def queued_message() -> Delivery:
    return Delivery.objects.create(
        channel=make_channel(),
        event_id="alert-1",
        message_id=message_id(),
        payload={"title": "worse"},
        next_attempt_at=database_now(),
    )


def test_a_new_installation_is_the_original_and_notes_where() -> None:
    assert not is_copy_now()
    installation_note()
    row = Installation.objects.get()
    assert row.cluster.isdigit()
    assert len(row.timeline) == 8
    assert re.fullmatch(r"([0-9a-f]{24})?:[0-9a-f]{24}", row.place)
    installation_note()
    assert Installation.objects.get() == row
    assert not is_copy_now()


@pytest.mark.parametrize(
    ("change", "is_copy"),
    [
        # A dump, restored into another server.
        ({"cluster": "7000000000000000001"}, True),
        # The same folder or volume, on another machine or beside the original.
        ({"place": PLACE}, True),
        # A standby that was promoted.
        ({"place": PLACE, "timeline": "000000FF"}, False),
        # A database whose role may not read where it is.
        ({"place": ""}, False),
    ],
)
def test_another_cluster_or_place_is_a_copy(change: dict[str, str], is_copy: bool) -> None:
    installation_note()
    Installation.objects.update(**change)
    assert is_copy_now() == is_copy
    installation_note()
    assert is_copy_now() == is_copy
    original_mark()
    assert not is_copy_now()


MACHINE, OTHER = "a" * 32, "b" * 32


@pytest.mark.parametrize(
    ("then", "now", "is_home"),
    [
        (f"{MACHINE}\n:/data", f"{MACHINE}\n:/data", True),
        (f"{MACHINE}\n:/data", f"{OTHER}\n:/data", False),
        (f"{MACHINE}\n:/data", f"{MACHINE}\n:/other", False),
        # An id that appears or vanishes is no other machine's; nor is one that isn't made yet.
        (":/data", f"{MACHINE}\n:/data", True),
        (f"{MACHINE}\n:/data", ":/data", True),
        (f"{MACHINE}\n:/data", "uninitialized\n:/data", True),
        (f"{MACHINE}\n:/data", "uninitialized\n:/other", False),
        # Nor is a place that the role may no longer read.
        (f"{MACHINE}\n:/data", "", True),
    ],
)
def test_machine_and_folder_are_compared_apart_and_only_where_both_are_known(
    then: str, now: str, is_home: bool
) -> None:
    cluster, timeline = "7000000000000000000", "00000001"
    before = installation._Seen(cluster, timeline, then)
    row = Installation(**before.fields())
    after = installation._Seen(cluster, timeline, now)
    assert after.is_home_of(row) == is_home
    if is_home:
        # What was known once is not forgotten while it can't be read.
        kept = Installation(**after.fields(row))
        assert not installation._Seen(cluster, timeline, f"{OTHER}\n:/data").is_home_of(kept)


def test_a_tick_of_a_copy_launches_probes_and_sends_nothing(sent: list[str]) -> None:
    make_schedule(every="PT1H", starts_at=database_now())
    waiting, run = queued_message(), make_run()
    make_endpoint()
    Endpoint.objects.update(probe_due_at=database_now())
    make_copy()
    sent.clear()
    for _ in range(3):
        ticking.tick()
    assert sent == []
    assert not Slot.objects.exists()
    waiting.refresh_from_db()
    assert (waiting.state, waiting.attempts) == (Delivery.State.QUEUED, 0)
    run.refresh_from_db()
    assert run.state == State.PENDING
    original_mark()
    ticking.tick()
    assert {"workers.tasks.probe_endpoints", "workers.tasks.execute_runs"} <= set(sent)
    assert Slot.objects.count() == 1


def test_a_copy_takes_no_run_and_launches_none() -> None:
    run = make_run()
    make_copy()
    execute_runs([run.pk])
    run.refresh_from_db()
    assert (run.state, run.lease_owner) == (State.PENDING, "")
    with pytest.raises(LaunchError, match="This is a copy of another installation: it measures nothing"):
        launch(plan=make_plan(name="other"), pairs=[make_pair()], user=None)
    assert Run.objects.count() == 1


def test_a_copy_reaches_no_engine_and_says_why(copy: None) -> None:
    endpoint = make_endpoint()
    check.check(endpoint.pk)
    endpoint.refresh_from_db()
    assert "This is a copy of another installation" in endpoint.status_reason


def test_a_copy_sends_no_message_whoever_asks(copy: None, settings: Settings) -> None:
    attempt = channel_test(channel=make_channel())
    assert "This is a copy of another installation" in attempt.error
    settings.EMAIL_BACKEND, settings.EMAIL_HOST = "benchweb.site.mail.SiteEmailBackend", "127.0.0.1"
    assert EmailMessage("a", "b", "from@example.org", ["to@example.org"]).send() == 0
    assert mail.outbox == []


def test_what_waited_in_the_backup_is_not_sent_twice(copy: None) -> None:
    waiting = queued_message()
    written = StringIO()
    call_command("make_original", stdout=written)
    assert "1 messages that waited in the backup are not sent." in written.getvalue()
    waiting.refresh_from_db()
    assert waiting.state == Delivery.State.GIVEN_UP
    assert waiting.reason == "It was waiting when this copy was made: the original sends it."
    assert outbox.channels_due(8) == 0


def test_a_moved_installation_sends_what_waited(sent: list[str]) -> None:
    installation_note()
    Installation.objects.update(place=PLACE)
    queued_message()
    call_command("make_original", stdout=StringIO())
    assert outbox.channels_due(8) == 1


def test_an_installation_is_made_quiet_by_hand(settings: Settings) -> None:
    settings.PUBLIC_URL = "https://bench.example.org"
    call_command("make_copy", stdout=StringIO())
    assert is_copy_now()
    notice = copy_notice()
    assert notice == installation.CopyNotice("https://bench.example.org")


def test_the_row_of_a_copy_stays_what_it_is(copy: None) -> None:
    before = Installation.objects.get()
    installation_note()
    after = Installation.objects.get()
    assert (after.copy_since, after.cluster) == (before.copy_since, before.cluster)
