"""Each request has an id, in its answer and in what is logged for it; a proxy's own where it is one."""

import json
import logging
from collections.abc import Iterator

import pytest
from django.test import Client

from benchweb.common.log_lines import JsonLines

HEADER = "X-Request-ID"


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """Keep what Django logs of requests, as JSON."""
    lines: list[str] = []
    handler = logging.Handler()
    formatter = JsonLines()
    handler.emit = lambda record: lines.append(formatter.format(record))  # type: ignore[method-assign]
    log = logging.getLogger("django.request")
    log.addHandler(handler)
    yield lines
    log.removeHandler(handler)


@pytest.mark.django_db
def test_what_is_logged_of_a_request_has_the_id_of_its_answer(client: Client, logged: list[str]) -> None:
    answers = [client.get("/no-such-page"), client.get("/no-such-page")]
    ids = [answer.headers[HEADER] for answer in answers]
    assert len(set(ids)) == 2
    assert [json.loads(line)["request"] for line in logged] == ids


@pytest.mark.parametrize("sent", ["7f3a-1", "A" * 80])
def test_the_id_of_a_proxy_is_kept(client: Client, sent: str) -> None:
    assert client.get("/livez", headers={HEADER: sent}).headers[HEADER] == sent


@pytest.mark.parametrize("sent", ["", "A" * 81, "<b>", "a b", "a\u00e9"])
def test_what_is_no_id_gets_another(client: Client, sent: str) -> None:
    own = client.get("/livez", headers={HEADER: sent}).headers[HEADER]
    assert own != sent
    assert len(own) == 32
