"""Times as the database gives them, read by the interpreter's own parser."""

from datetime import UTC, datetime

import pytest
from django.db import DataError, connection
from psycopg.pq import Format

pytestmark = pytest.mark.django_db
_TIMESTAMPTZ = 1184


def read(expression: str) -> object:
    with connection.cursor() as cursor:
        cursor.execute(f"select {expression}::timestamptz")
        return cursor.fetchone()[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'2026-11-21 14:53:14.215038Z'", datetime(2026, 11, 21, 14, 53, 14, 215038, tzinfo=UTC)),
        ("'2026-11-21 14:53:14.2Z'", datetime(2026, 11, 21, 14, 53, 14, 200_000, tzinfo=UTC)),
        ("'2026-11-21 14:53+08:00'", datetime(2026, 11, 21, 6, 53, tzinfo=UTC)),
        ("'0999-01-02 03:04:05Z'", datetime(999, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("null", None),
    ],
)
def test_a_time_is_read_to_the_microsecond_in_utc(text: str, expected: datetime | None) -> None:
    found = read(text)
    assert found == expected
    assert found is None or found.tzinfo is UTC


def test_what_is_no_time_of_pythons_is_refused_as_before() -> None:
    with pytest.raises(DataError, match="infinity"):
        read("'infinity'")


def test_connections_have_the_fast_loader() -> None:
    connection.ensure_connection()
    assert connection.connection.adapters.get_loader(_TIMESTAMPTZ, Format.TEXT).__module__ == "benchweb.times"
