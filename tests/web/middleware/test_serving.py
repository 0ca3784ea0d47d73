"""The ASGI application by a real uvicorn: every request is one visit to one of a few threads."""

import json
import zlib
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from tests.factories import make_pair, make_plan
from tests.measured import measured_run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def environment_of_test(environment_of_test: dict[str, str]) -> dict[str, str]:
    """Two threads, so that a few requests find both busy."""
    return environment_of_test | {"BENCHWEB_DATABASE_POOL": "2"}


@pytest.fixture
def cookie(client: Client) -> str:
    client.force_login(User.objects.create_user("reader"))
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


def fetched(
    web: str, path: str, cookie: str = "", method: str = "GET", body: str | None = None, **more: str
) -> HTTPResponse:
    host = HTTPConnection(urlsplit(web).netloc, timeout=30)
    headers = {"Cookie": cookie} | more | ({"Content-Type": "application/x-www-form-urlencoded"} if body else {})
    host.request(method, path, body=body, headers=headers)
    return host.getresponse()


def test_more_requests_than_threads_are_all_answered_each_in_its_language(web: str, cookie: str) -> None:
    chinese = f"{cookie}; {settings.LANGUAGE_COOKIE_NAME}=zh-hans"
    with ThreadPoolExecutor(12) as many:
        answers = list(many.map(lambda number: fetched(web, "/hosts", (cookie, chinese)[number % 2]).read(), range(60)))
    for number, answer in enumerate(answers):
        assert f'<html lang="{("en", "zh-hans")[number % 2]}"' in answer.decode()
    # Who leaves before the end of what he sends, and who sends too much, take no thread along.
    for _ in range(6):
        host = HTTPConnection(urlsplit(web).netloc, timeout=30)
        host.putrequest("POST", "/login")
        host.putheader("Content-Length", "1000")
        host.endheaders(b"user")
        host.close()
    body = "a=" + "x" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
    assert fetched(web, "/login", cookie, "POST", body).status in (400, 403, 413)
    assert fetched(web, "/hosts", cookie).status == 200


def test_streams_of_lines_come_whole_and_their_threads_keep_no_connection(web: str, cookie: str) -> None:
    measured_run(make_plan(), pair := make_pair(), [1e9])
    # Were the two connections kept by the threads that began the streams, the streams would wait for one in vain.
    with ThreadPoolExecutor(6) as many:
        answers = list(many.map(lambda _: fetched(web, f"/history.csv?pair={pair.pk}", cookie), range(12)))
    bodies = {answer.read() for answer in answers}
    assert len(bodies) == 1
    assert len(bodies.pop().splitlines()) == 2


def test_downloads_come_in_parts_and_leave_the_connections_to_others(web: str, cookie: str) -> None:
    run = measured_run(make_plan(repetitions=600), make_pair(), [1e9] * 600)
    slow = [fetched(web, f"/runs/{run.pk}/results.{kind}", cookie) for kind in ("json", "csv", "json", "csv")]
    # Four readers that take nothing yet, and two connections: others are answered meanwhile.
    assert fetched(web, "/hosts", cookie).read()
    assert {answer.headers["Transfer-Encoding"] for answer in slow} == {"chunked"}
    bodies = [answer.read() for answer in slow]
    assert len(json.loads(bodies[0])["trials"]) == 600
    assert len(bodies[1].splitlines()) == 601
    assert bodies[:2] == bodies[2:]
    # As a browser asks, which reads one gzip file and leaves what follows.
    small = fetched(web, f"/runs/{run.pk}/results.csv", cookie, **{"Accept-Encoding": "gzip"})
    assert small.headers["Content-Encoding"] == "gzip"
    reader = zlib.decompressobj(zlib.MAX_WBITS + 16)
    assert reader.decompress(small.read()) == bodies[1]
    assert (reader.eof, reader.unused_data) == (True, b"")
