"""What is sent compressed, and what isn't."""

import gzip

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.charts.history_rows import NIGHT, past_run
from tests.factories import make_pair, make_plan, make_run

GZIP = {"Accept-Encoding": "gzip, deflate, br"}


def test_a_page_comes_in_gzip_to_who_takes_it_and_says_so_to_caches(signed_in: Client) -> None:
    plain = signed_in.get("/tokens", headers={"Accept-Encoding": "identity"})
    small = signed_in.get("/tokens", headers=GZIP)
    assert small["Content-Encoding"] == "gzip"
    assert int(small["Content-Length"]) == len(small.content) < len(plain.content) / 2
    assert "<h1>API tokens</h1>" in gzip.decompress(small.content).decode()
    assert "Content-Encoding" not in plain
    assert "Accept-Encoding" in plain["Vary"]
    assert "Accept-Encoding" in small["Vary"]


@pytest.mark.parametrize("accepted", ["", "deflate"])
def test_who_does_not_take_gzip_gets_none(signed_in: Client, accepted: str) -> None:
    assert "Content-Encoding" not in signed_in.get("/tokens", headers={"Accept-Encoding": accepted})


def test_the_length_tells_nothing_about_a_page_whose_content_is_guessed_at(ada: User) -> None:
    lengths = {len(Client().get("/login", headers=GZIP).content) for _ in range(12)}
    assert len(lengths) > 1


def test_streams_of_events_stay_as_they_are_and_files_in_parts_come_in_gzip(signed_in: Client) -> None:
    pair = make_pair()
    past_run(make_plan(), pair, NIGHT, {"throughput_bps": 1e9})
    for path in ("/history.csv?over=all", "/history.csv?over=all&bom=1"):
        plain, small = signed_in.get(path), signed_in.get(path, headers=GZIP)
        assert (small.status_code, small["Content-Encoding"], "Content-Length" in small) == (200, "gzip", False)
        assert gzip.decompress(small.getvalue()) == plain.getvalue()
    events = signed_in.get(f"/runs/{make_run().pk}/events", headers=GZIP)
    assert (events.status_code, "Content-Encoding" in events) == (200, False)
