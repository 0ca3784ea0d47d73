"""What the database takes is kept once a day, and tells when its disk is full at this rate."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from benchweb.ops.health import storage
from benchweb.ops.health.storage import sample_take, storage_now
from benchweb.ops.models import StorageSample

pytestmark = pytest.mark.django_db
GIGABYTE = 10**9


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say that 100 GB are left on the database's disk."""
    monkeypatch.setattr(storage, "free_bytes", lambda: 100 * GIGABYTE)


def samples(*gigabytes: float, every_days: int = 1) -> None:
    """Keep samples up to today, the oldest first."""
    for age, size in enumerate(reversed(gigabytes)):
        day = timezone.now().date() - timedelta(days=age * every_days)
        StorageSample.objects.create(day=day, database_bytes=int(size * GIGABYTE))


def today_and(days: int) -> date:
    return timezone.now().date() + timedelta(days=days)


def test_a_day_has_one_sample_of_what_postgresql_says() -> None:
    assert [sample_take() for _ in range(3)] == [0, 0, 0]
    (sample,) = StorageSample.objects.all()
    with connection.cursor() as cursor:
        cursor.execute("select pg_database_size(current_database())")
        assert cursor.fetchone()[0] == pytest.approx(sample.database_bytes, rel=0.05)
    assert sample.day == timezone.now().date()


@pytest.mark.parametrize(
    ("sizes", "per_day", "full_in"),
    [
        ((10, 11, 12, 13, 14, 15, 16, 17), GIGABYTE, 100),
        # What is older than thirty days says nothing of today.
        ((90, *range(10, 41)), GIGABYTE, 100),
        ((17, 16, 15, 14, 13, 12, 11, 10), -GIGABYTE, None),
        ((10, 10, 10, 10, 10, 10, 10, 10.07), GIGABYTE / 100, None),
    ],
)
def test_it_grows_as_in_the_last_thirty_days(
    free: None, sizes: tuple[float, ...], per_day: float, full_in: int | None
) -> None:
    samples(*sizes)
    now = storage_now()
    assert now.bytes_per_day == pytest.approx(per_day)
    assert now.full_on == (None if full_in is None else today_and(full_in))


def test_less_than_a_week_tells_no_rate(free: None) -> None:
    samples(10, 20, 30, 40, 50, 60, 70)
    now = storage_now()
    assert (now.bytes_per_day, now.full_on) == (None, None)


def test_the_disk_of_a_server_elsewhere_is_not_known() -> None:
    samples(10, 11, 12, 13, 14, 15, 16, 17)
    now = storage_now()
    assert (now.free_bytes, now.full_on) == (None, None)


def test_tables_come_with_their_indexes_the_largest_first(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(3):
        tables = storage_now().tables
    sizes = [table.size_bytes for table in tables]
    assert sizes == sorted(sizes, reverse=True)
    assert len(tables) == 8
    assert all("_" in table.name for table in tables)
