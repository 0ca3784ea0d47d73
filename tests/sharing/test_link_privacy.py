"""A share link that is tried with something else stays as private as the link itself."""

import io
import logging
from collections.abc import Iterator

import pytest
from django.test import Client
from django.utils.module_loading import import_string
from pytest_django import Settings

from benchweb.runs.models import Run
from tests.sharing.scene import shared, told_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return told_run()


@pytest.fixture
def log(settings: Settings) -> Iterator[io.StringIO]:
    """Return what the configured filters let through of the requests' log."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    names = settings.LOGGING["handlers"]["console"]["filters"]
    for made in (settings.LOGGING["filters"][name] for name in names):
        kind = import_string(made["()"])
        handler.addFilter(kind(**{name: value for name, value in made.items() if name != "()"}))
    logger = logging.getLogger("django.request")
    logger.addHandler(handler)
    yield written
    logger.removeHandler(handler)


@pytest.mark.parametrize("rest", ["/search", "/results.csv/"])
def test_what_was_tried_below_a_link_is_logged_without_the_link(run: Run, log: io.StringIO, rest: str) -> None:
    _, path = shared(run)
    Client().get(f"{path}{rest}")
    assert log.getvalue() == f"Not Found: /s/…{rest}\n"


def test_a_character_that_no_table_can_store_is_answered_as_privately(run: Run) -> None:
    _, path = shared(run)
    answer = Client().get(f"{path}/embed?chart=%00")
    assert (answer.status_code, answer["Referrer-Policy"]) == (404, "no-referrer")
    assert Client().get(f"{path}?%00=1").status_code == 200
    assert Client().get("/s/%00").status_code == 404
