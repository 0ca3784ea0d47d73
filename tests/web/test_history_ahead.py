"""A history's data is read in the same visit as its reader's session, and shown to nobody else for that."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from benchweb.accounts import sessions
from tests.charts.history_rows import NIGHT, past_run
from tests.factories import make_pair, make_plan

pytestmark = pytest.mark.django_db
ADDRESS = "/history/charts.json?kind=tcp_stream&over=all"
STREAM = [{"kind": "tcp_stream", "params": {"message_size_bytes": 64}}]


def asked(client: Client, visits: list[int]) -> tuple[Any, list[int]]:
    visits.clear()
    answer = client.get(ADDRESS)
    return answer, [*visits]


def test_what_was_looked_at_before_is_read_in_one_visit(signed_in: Client, visits: list[int]) -> None:
    past_run(make_plan(steps=STREAM), make_pair(), NIGHT, {"throughput_bps": 1e9})
    first, several = asked(signed_in, visits)
    second, once = asked(signed_in, visits)
    assert (len(several) > 1, once) == (True, [4])
    assert second.content == first.content
    (line,) = second.json()["charts"][0]["series"]
    assert [row[1] for row in line["measured"]] == [1e9]


def test_who_is_refused_sees_nothing_of_it(signed_in: Client, visits: list[int]) -> None:
    past_run(make_plan(steps=STREAM), make_pair(), NIGHT, {"throughput_bps": 1e9})
    for _ in range(2):
        asked(signed_in, visits)
    User.objects.update(is_active=False)
    for expected in ([4], [1]):
        refused, found = asked(signed_in, visits)
        # Read ahead once, and not again for who was refused; Django then asks for the user by itself.
        assert found[: len(expected)] == expected
        assert (refused.status_code, refused.content) == (302, b"")
        assert refused["Location"].startswith("/login?")


def test_a_session_that_was_ended_has_nothing_read_for_it_any_more(signed_in: Client, visits: list[int]) -> None:
    past_run(make_plan(steps=STREAM), make_pair(), NIGHT, {"throughput_bps": 1e9})
    for _ in range(2):
        asked(signed_in, visits)
    key = signed_in.cookies["sessionid"].value
    Session.objects.all().delete()
    assert key in sessions._guesses
    refused, once = asked(signed_in, visits)
    assert (refused.status_code, once) == (302, [4])
    signed_in.cookies["sessionid"] = key
    refused, once = asked(signed_in, visits)
    assert (refused.status_code, once) == (302, [1])


def test_a_stranger_has_only_the_session_looked_up(signed_in: Client, visits: list[int]) -> None:
    past_run(make_plan(steps=STREAM), make_pair(), NIGHT, {"throughput_bps": 1e9})
    for _ in range(2):
        asked(signed_in, visits)
    stranger = Client()
    stranger.cookies["sessionid"] = "made-up-by-a-stranger"
    assert "made-up-by-a-stranger" not in sessions._guesses
    refused, once = asked(stranger, visits)
    assert (refused.status_code, once) == (302, [1])
    assert asked(Client(), visits)[1] == []


def test_what_has_changed_since_is_read_again(signed_in: Client, visits: list[int]) -> None:
    plan, pair = make_plan(steps=STREAM), make_pair()
    past_run(plan, pair, NIGHT, {"throughput_bps": 1e9})
    for _ in range(2):
        asked(signed_in, visits)
    past_run(plan, make_pair(environment="other"), NIGHT, {"throughput_bps": 2e9})
    answer, several = asked(signed_in, visits)
    assert several == [4, 2]
    lines = answer.json()["charts"][0]["series"]
    assert [[row[1] for row in line["measured"]] for line in lines] == [[1e9], [2e9]]
