"""The test session's own servers are real ones."""

import pytest
import redis
from django.conf import settings
from django.db import connection


@pytest.mark.django_db
def test_the_test_database_is_postgresql_18_on_a_private_socket() -> None:
    with connection.cursor() as cursor:
        cursor.execute("select current_setting('server_version_num')::int / 10000, inet_server_addr()")
        assert cursor.fetchone() == (18, None)


def test_the_test_broker_is_a_real_valkey() -> None:
    with redis.Redis.from_url(settings.REDIS_URL) as broker:
        assert broker.set("benchweb:probe", "1") is True
        assert broker.getdel("benchweb:probe") == b"1"
        assert broker.info("server")["server_name"] == "valkey"
