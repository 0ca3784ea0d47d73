"""What is no fault of ours takes one line of the log."""

import io
import logging
from collections.abc import Iterator

import pytest
import redis
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.utils.log import log_response

from benchweb.accounts.models import Role
from benchweb.accounts.roles.grants import role_set

pytestmark = pytest.mark.django_db
STACK = "Traceback (most recent call last)"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Return what is written with the settings' filters."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    console = next(each for each in logging.getLogger().handlers if each.name == "console")
    for each in console.filters:
        handler.addFilter(each)
    logging.getLogger().addHandler(handler)
    yield written
    logging.getLogger().removeHandler(handler)


def test_a_refused_page_is_a_line_without_its_stack(client: Client, log: io.StringIO) -> None:
    role_set(role=Role.ADMIN, user=User.objects.create_user("ada"))
    viewer = User.objects.create_user("vic")
    role_set(role=Role.VIEWER, user=viewer)
    client.force_login(viewer)
    assert client.get("/audit").status_code == 403
    assert "Forbidden (Permission denied): /audit" in log.getvalue()
    assert STACK not in log.getvalue()


def test_a_fault_of_the_brokers_is_a_line_and_one_of_ours_has_its_stack(log: io.StringIO) -> None:
    for error in (redis.ResponseError("it can't be written"), ValueError("ours")):
        try:
            raise error
        except (redis.RedisError, ValueError):
            logging.getLogger("kombu.asynchronous.hub").exception("Error in timer: %r", error)
    broker, _, ours = log.getvalue().partition("Error in timer: ValueError('ours')")
    assert STACK not in broker
    assert ours.count(STACK) == 1


def test_an_error_of_a_page_has_its_stack(log: io.StringIO) -> None:
    try:
        raise ValueError("of a page")
    except ValueError as error:
        request = RequestFactory().get("/runs")
        log_response("Error: %s", "/runs", response=HttpResponse(status=500), request=request, exception=error)
    assert log.getvalue().count(STACK) == 1
