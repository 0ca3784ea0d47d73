"""Values that processes follow: read beside requests, taken up within seconds, and kept while the database is away."""

import subprocess
import sys
import time

import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from bench.regressions.judged import JudgedSeries
from bench.regressions.series import Nights
from benchweb.catalog import catalog
from benchweb.common.followed import READ_AGAIN_SECONDS, Followed
from benchweb.imports.models import OwnKind, OwnMetric
from benchweb.imports.own_kinds import definitions
from benchweb.site.models import SiteSetting
from benchweb.site.values import chosen, site_setting
from tests.processes import said_by, started, stopped

# What these processes do as they start.
STARTS = {"web": "import benchweb.asgi", "worker": "from workers.app import app, worker_init; worker_init.send(app)"}
# Then each prints what holds in it, whenever that changes.
PRINTS = """
import time
from benchweb.catalog import catalog
from benchweb.site.values import site_setting
printed = None
while True:
    now = f"{site_setting('SHARE_DAYS')} days, {len(catalog().kinds) - len(catalog().tests)} own kinds"
    if now != printed:
        print(now, flush=True)
        printed = now
    time.sleep(0.02)
"""


def held_by(server: "subprocess.Popen[bytes]") -> str:
    """Return what it has printed last, beside its log."""
    return [line for line in said_by(server).splitlines() if line.endswith("own kinds")][-1]


def define_kind() -> None:
    metric = OwnMetric.objects.create(key="own_boot_seconds", label="Boot", unit="s", better="lower")
    OwnKind.objects.create(name="own.boot", label="Boot", metrics=[metric.key], parameters={})


@pytest.mark.parametrize("process", STARTS)
def test_a_server_takes_up_within_seconds_what_another_process_stores(
    environment_of_test: dict[str, str], process: str
) -> None:
    SiteSetting.objects.create(name="SHARE_DAYS", value=3)
    environment = environment_of_test | {"DJANGO_SETTINGS_MODULE": "benchweb.settings"}
    server = started([sys.executable, "-c", STARTS[process] + PRINTS], environment, ready=b"own kinds")
    try:
        # What stood when it started is in force at once.
        assert held_by(server) == "3 days, 0 own kinds"
        SiteSetting.objects.update(value=4)
        define_kind()
        give_up_at = time.monotonic() + 12 * READ_AGAIN_SECONDS
        while held_by(server) != "4 days, 1 own kinds":
            assert time.monotonic() < give_up_at
            time.sleep(0.05)
    finally:
        stopped(server)


def test_a_process_reads_once_and_no_request_reads_again(
    db: None, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for followed in (chosen, definitions):
        monkeypatch.setattr(followed, "_is_read", False)
    SiteSetting.objects.create(name="SHARE_DAYS", value=3)
    define_kind()
    # The settings; the kinds and their metrics.
    with django_assert_num_queries(3):
        assert (site_setting("SHARE_DAYS"), "own.boot" in catalog().kinds) == (3, True)
    SiteSetting.objects.update(value=4)
    for followed in (chosen, definitions):
        followed.due_at = 0.0
    with django_assert_num_queries(0):
        assert (site_setting("SHARE_DAYS"), "own.boot" in catalog().kinds) == (3, True)
    chosen.read_now()
    assert site_setting("SHARE_DAYS") == 4


def test_what_was_read_last_stays_in_force_while_the_database_cannot_be_read(transactional_db: None) -> None:
    table = SiteSetting._meta.db_table
    SiteSetting.objects.create(name="SHARE_DAYS", value=3)
    chosen.read_now()
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO elsewhere")
        chosen.read_now()
        cursor.execute(f"ALTER TABLE elsewhere RENAME TO {table}")
    assert site_setting("SHARE_DAYS") == 3
    never: Followed[int] = Followed(lambda: connection.cursor().execute("SELECT FROM nowhere").rowcount, unread=-1)
    assert never.value() == -1


def test_nights_are_judged_without_a_database(monkeypatch: pytest.MonkeyPatch) -> None:
    # Whoever asks the database here gets an error of pytest-django's, which nobody catches.
    monkeypatch.setattr(definitions, "_is_read", False)
    assert list(JudgedSeries().alarms(Nights([1e9] * 30, [1e9] * 30))) == []
