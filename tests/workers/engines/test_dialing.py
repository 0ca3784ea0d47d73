"""RFC 8305: of several addresses the first that answers is used, and one that doesn't costs a quarter of a second."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from workers.engine_client import dialing
from workers.engine_client.dialing import dial, interleaved


@contextmanager
def listening(*addresses: str) -> Iterator[int]:
    """Listen on one free port of each of these addresses."""
    with socket.socket() as first:
        first.bind(("127.0.0.1", 0))
        port = first.getsockname()[1]
    servers = [
        socket.create_server((each, port), family=socket.AF_INET6 if ":" in each else socket.AF_INET)
        for each in addresses
    ]
    yield port
    for server in servers:
        server.close()


@contextmanager
def silent(address: str) -> Iterator[int]:
    """Listen with a full queue: a further connection is neither made nor refused, as behind a firewall."""
    with socket.create_server((address, 0), backlog=0) as server:
        port = server.getsockname()[1]
        fillers = []
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex((address, port))
            fillers.append(filler)
        time.sleep(0.1)
        yield port
        for filler in fillers:
            filler.close()


def dialled(addresses: list[str], port: int) -> str:
    connection, address = dial(addresses, port, seconds=30)
    connection.close()
    return address


def test_families_take_turns_beginning_with_the_first() -> None:
    assert interleaved(["2001:db8::1", "2001:db8::2", "192.0.2.1", "192.0.2.2"]) == [
        "2001:db8::1",
        "192.0.2.1",
        "2001:db8::2",
        "192.0.2.2",
    ]
    assert interleaved(["192.0.2.1", "192.0.2.1", "2001:db8::1"]) == ["192.0.2.1", "2001:db8::1"]
    assert interleaved([]) == []


def test_the_first_that_answers_is_used() -> None:
    with listening("127.0.0.1", "::1") as port:
        assert dialled(["::1", "127.0.0.1"], port) == "::1"
        assert dialled(["127.0.0.1", "::1"], port) == "127.0.0.1"


def test_a_closed_port_costs_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    # More than there is for all.
    monkeypatch.setattr(dialing, "ATTEMPT_DELAY_SECONDS", 60.0)
    with listening("127.0.0.3") as port:
        assert dialled(["127.0.0.1", "::1", "127.0.0.2", "127.0.0.3"], port) == "127.0.0.3"


def test_an_address_without_an_answer_costs_a_quarter_of_a_second() -> None:
    with silent("127.0.0.1") as port, socket.create_server(("127.0.0.2", port)):
        started = time.monotonic()
        assert dialled(["127.0.0.1", "127.0.0.2"], port) == "127.0.0.2"
        assert 0.2 < time.monotonic() - started < 30


def test_where_none_answers_the_error_is_that_of_who_did() -> None:
    with silent("127.0.0.1") as port, pytest.raises(ConnectionRefusedError):
        dial(["127.0.0.1", "127.0.0.2"], port, seconds=0.6)


def test_silence_ends_in_time() -> None:
    started = time.monotonic()
    with silent("127.0.0.1") as port, pytest.raises(TimeoutError):
        dial(["127.0.0.1"], port, seconds=0.5)
    assert 0.4 < time.monotonic() - started < 30


def test_a_dialled_connection_carries_data() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        connection, _ = dial(["127.0.0.1"], server.getsockname()[1], seconds=1)
        accepted, _ = server.accept()
        with connection, accepted:
            connection.sendall(b"hello")
            assert accepted.recv(5) == b"hello"
