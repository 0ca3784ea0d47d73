"""Query strings and forms that no page of ours sends."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.factories import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(client: Client, django_user_model: type[User]) -> Client:
    client.force_login(django_user_model.objects.create_user("reader"))
    return client


@pytest.mark.parametrize("query", ["q=%00", "q=a%00b", "status=%00", "%00=1"])
@pytest.mark.parametrize("path", ["/hosts", "/environments", "/pairs", "/plans", "/runs", "/launch"])
def test_a_nul_in_the_query_string_is_refused_in_words(reader: Client, path: str, query: str) -> None:
    answer = reader.get(f"{path}?{query}")
    assert answer.status_code == 400
    assert answer.content.decode().startswith("The address or the form holds a NUL character")


@pytest.mark.parametrize("path", ["/launch", "/launch/choice", "/plans/new", "/plans/preview", "/hosts/new"])
def test_a_nul_in_a_form_is_refused_in_words(reader: Client, path: str) -> None:
    assert reader.post(path, {"q": "a\0b", "name": "a\0b"}).status_code == 400


@pytest.mark.parametrize(
    "query",
    ["/runs?after=", "/runs?plan=", "/runs?q=", "/runs?host=", "/hosts?after=", "/pairs?environment=", "/launch?plan="],
)
def test_a_number_of_five_thousand_digits_is_no_rows_id(reader: Client, query: str) -> None:
    make_run()
    assert reader.get(query + "9" * 5_000).status_code == 200


# What JSON or a date can spell and PostgreSQL or Python can't hold.
@pytest.mark.parametrize(
    "query",
    [
        "/history?kind=tcp_stream&p.message_size_bytes=1e309",
        "/history?kind=tcp_stream&p.message_size_bytes=NaN",
        "/history.csv?kind=tcp_stream&p.message_size_bytes=-Infinity",
        "/history/charts.json?kind=ping&p.load=%22%5Cu0000%22",
        "/history?kind=ping&p.load=%7B%22a%22:%22%5Cud800%22%7D",
        "/history?kind=ping&p.load=" + "[" * 5_000,
        "/matrix?until=9999-12-31",
        "/matrix?until=0001-01-01",
        "/matrix?r=" + "9" * 18 + "&c=" + "9" * 18,
    ],
)
def test_a_value_that_nothing_can_hold_matches_nothing(reader: Client, query: str) -> None:
    make_run()
    assert reader.get(query).status_code == 200
