"""What is sent compressed, and what isn't."""

import gzip
import zlib
from collections.abc import AsyncIterator

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.http import StreamingHttpResponse
from django.test import Client, RequestFactory

from benchweb.web.middleware.compression import CompressionMiddleware
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


def test_a_file_in_parts_is_one_gzip_file_where_the_server_is_asynchronous() -> None:
    """A browser reads the first gzip file of several and leaves the rest."""
    parts = [b"id,at\r\n", *(f"{number},2026-11-26\r\n".encode() * 200 for number in range(9))]

    async def sent() -> AsyncIterator[bytes]:
        for part in parts:
            yield part

    async def received() -> bytes:
        request = RequestFactory().get("/audit.csv", headers=GZIP)
        sends = CompressionMiddleware(lambda _request: StreamingHttpResponse())
        answer = sends.process_response(request, StreamingHttpResponse(sent()))
        assert isinstance(answer, StreamingHttpResponse)
        assert (answer["Content-Encoding"], "Content-Length" in answer) == ("gzip", False)
        return b"".join([part async for part in answer])

    reader, small = zlib.decompressobj(zlib.MAX_WBITS + 16), async_to_sync(received)()
    assert reader.decompress(small) == b"".join(parts)
    assert (reader.eof, reader.unused_data) == (True, b"")
    assert len(small) < len(b"".join(parts)) / 10
