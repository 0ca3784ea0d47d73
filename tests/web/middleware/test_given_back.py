"""A file that is sent part by part needs nothing of the connection by which its last part was read."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.http import StreamingHttpResponse
from django.test import Client
from django.utils import timezone

from benchweb.accounts.audit.models import AuditEntry
from benchweb.results.course import MOST_INTERVALS
from benchweb.results.ingest import ingest, parsed_result
from benchweb.runs.models import Run, State
from tests.factories import make_pair, make_plan, make_run
from tests.measured import measured_run
from tests.reports.scene import make_report
from tests.sharing.scene import shared
from tests.web.middleware.test_serving import fetched
from tests.web.trials.test_long_trial import INTERVALS

pytestmark = pytest.mark.django_db(transaction=True)
# More than Django reads from a cursor at a time; each too long for the buffers between server and reader to hold all.
ENTRIES = 2_600
LONG = "a" * 4_000
# Readers' connections that answer no query: a part that is being read then would rightly be cut.
OTHERS = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
    AND state = 'idle' AND state_change < clock_timestamp() - interval '1 second'
"""


@pytest.fixture
def environment_of_test(environment_of_test: dict[str, str]) -> dict[str, str]:
    """One connection for all readers."""
    return environment_of_test | {"BENCHWEB_DATABASE_POOL": "1"}


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("ada"))
    return client


def many_entries(words: str = "alder") -> None:
    row = {"at": timezone.now(), "action": "created", "via": "system", "object_name": words}
    AuditEntry.objects.bulk_create(AuditEntry(**row) for _ in range(ENTRIES))


def long_test() -> Run:
    run = make_run()
    document = {"kind": "tcp_stream", "metrics": {"throughput_bps": 9.1e8}, "intervals": INTERVALS}
    for trial in run.trials.all():
        assert ingest(trial=trial, result=parsed_result("tcp_stream", document), state=State.FINISHED)
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED)
    return run


def files() -> Iterator[str]:
    """Yield the address of each kind of file, with more in it than one part."""
    many_entries()
    yield "/audit.csv"
    run = measured_run(make_plan(repetitions=600), make_pair(), [1e9] * 600)
    yield f"/history.csv?pair={run.pair_id}"
    for name in ("results.csv", "results.json", "results/netperf", "results/iperf3", "results/markdown"):
        yield f"/runs/{run.pk}/{name}"
    for name in ("csv", "json"):
        yield f"{shared(run)[1]}/results.{name}"
    yield f"/reports/{make_report(run).pk}/report.md"
    day = long_test()
    for name in ("intervals.csv", "document.json"):
        yield f"/runs/{day.pk}/trials/1/{name}"


def cut_others_at_rest() -> None:
    """End the readers' connection as soon as all wait for their buffers."""
    give_up_at = time.monotonic() + 30
    with connection.cursor() as cursor:
        cursor.execute(OTHERS)
        while cursor.fetchone() == (0,):
            assert time.monotonic() < give_up_at
            time.sleep(0.1)
            cursor.execute(OTHERS)


def parts_of(client: Client, path: str) -> Iterator[bytes]:
    answer = cast(StreamingHttpResponse, client.get(path))
    assert (answer.status_code, answer.streaming) == (200, True), path
    return cast(Iterator[bytes], answer.streaming_content)


def test_every_file_is_whole_though_each_part_finds_another_connection(admin: Client) -> None:
    assert len(INTERVALS) == MOST_INTERVALS
    for path in files():
        whole = b"".join(parts_of(admin, path))
        parted = b""
        for part in parts_of(admin, path):
            parted += part
            connection.close()
        assert parted == whole != b"", path


def test_slow_readers_share_one_connection_that_is_cut_meanwhile(web: str, admin: Client) -> None:
    many_entries(LONG)
    cookie = f"{settings.SESSION_COOKIE_NAME}={admin.cookies[settings.SESSION_COOKIE_NAME].value}"
    slow = [fetched(web, "/audit.csv", cookie) for _ in range(6)]
    begun = [answer.read(10_000) for answer in slow]
    assert fetched(web, "/hosts", cookie).status == 200
    cut_others_at_rest()
    with ThreadPoolExecutor(6) as many:
        rests = list(many.map(lambda answer: answer.read(), slow))
    bodies = {first + rest for first, rest in zip(begun, rests, strict=True)}
    assert len(bodies) == 1
    assert len(bodies.pop().splitlines()) > ENTRIES
