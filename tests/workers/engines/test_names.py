"""Endpoints with names: of several addresses one that answers is used, of a moved name the new one, each checked."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pytest_django import Settings

from benchweb.hosts.models import Endpoint
from tests.factories import make_endpoint
from tests.processes import Engine
from tests.workers.engines.names import Resolver
from workers.checks import check
from workers.engine_client import EngineError, EngineRefused, EngineUndisclosed
from workers.engines.connections import client_for, shared_client
from workers.engines.resolution import data_addresses

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Resolver:
    return Resolver(monkeypatch)


def port_of(engine: Engine) -> int:
    return int(engine.control.rpartition(":")[2])


def named(engine: Engine, name: str = "engine.test", **fields: Any) -> Endpoint:
    values = {"token": engine.token, "fingerprint": engine.fingerprint} | fields
    return make_endpoint(control_address=f"{name}:{port_of(engine)}", **values)


@contextmanager
def listener(address: str, port: int = 0) -> Iterator[tuple[int, list[tuple[socket.socket, object]]]]:
    """Count whoever connects."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, port), family=family) as server:
        heard = []
        threading.Thread(target=lambda: heard.append(server.accept()), daemon=True).start()
        yield server.getsockname()[1], heard
        for connection, _ in heard:
            connection.close()
        server.close()


def test_of_two_families_the_one_that_answers_is_used(engine: Callable[..., Engine], names: Resolver) -> None:
    running = engine()
    names.set("engine.test", "::1", "127.0.0.1")
    with client_for(named(running)) as client:
        assert client.about().data_port == running.data_port
    assert client.address == "127.0.0.1"
    assert client.name.endswith(f"(engine.test = 127.0.0.1:{port_of(running)})")


def test_an_address_that_shows_another_certificate_is_passed_over(
    engine: Callable[..., Engine], names: Resolver
) -> None:
    running = engine()
    other = engine(listen=f"127.0.0.2:{port_of(running)}")
    names.set("engine.test", "127.0.0.2", "127.0.0.1")
    with client_for(named(running)) as client:
        assert (client.address, client.about().data_port) == ("127.0.0.1", running.data_port)
    names.set("engine.test", "127.0.0.2", "127.0.0.3")
    with pytest.raises(EngineRefused, match=r"engine.test = 127.0.0.2:\d+\) shows another certificate"):
        client_for(named(running))
    assert other.fingerprint != running.fingerprint


def test_after_a_name_moved_no_kept_connection_leads_to_the_old_engine(
    engine: Callable[..., Engine], names: Resolver
) -> None:
    old = engine()
    new = engine(listen=f"127.0.0.2:{port_of(old)}")
    names.set("engine.test", "127.0.0.1")
    endpoint = named(old)
    with shared_client(endpoint) as client:
        client.about()
    names.set("engine.test", "127.0.0.2")
    with shared_client(endpoint) as client, pytest.raises(EngineRefused, match="another certificate") as caught:
        client.about()
    assert "engine.test = 127.0.0.2:" in str(caught.value)
    Endpoint.objects.filter(pk=endpoint.pk).update(
        fingerprint=new.fingerprint, token_encrypted=named(new).token_encrypted
    )
    endpoint.refresh_from_db()
    with shared_client(endpoint) as client:
        assert client.about().data_port == new.data_port
    assert data_addresses(endpoint, client.address) == [client.address] == ["127.0.0.2"]


def test_a_kept_connection_is_used_while_the_name_still_has_its_address(
    engine: Callable[..., Engine], names: Resolver
) -> None:
    running = engine()
    names.set("engine.test", "127.0.0.1")
    endpoint = named(running)
    with shared_client(endpoint) as first:
        first.about()
    names.set("engine.test", "127.0.0.2", "127.0.0.1")
    with shared_client(endpoint) as second:
        assert second is first


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_nothing_connects_to_a_network_that_is_denied(names: Resolver, settings: Settings, address: str) -> None:
    settings.ENGINE_NETWORKS = ""
    with listener(address) as (port, heard):
        names.set("metadata.test", address)
        for host in (f"[{address}]" if ":" in address else address, "metadata.test", "localhost"):
            endpoint = make_endpoint(control_address=f"{host}:{port}", token="t", fingerprint="sha256:" + "0" * 64)
            with pytest.raises(EngineUndisclosed, match="could not be used") as caught:
                client_for(endpoint)
            assert "BENCHWEB" not in str(caught.value)
        assert heard == []


def test_only_the_addresses_that_were_checked_are_connected_to(
    names: Resolver, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ENGINE_NETWORKS = "127.0.0.2"
    with listener("127.0.0.1") as (port, heard):
        names.set("rebinding.test", "127.0.0.2")
        endpoint = make_endpoint(control_address=f"rebinding.test:{port}", token="t", fingerprint="sha256:" + "0" * 64)
        with client_for(endpoint) as client:
            names.set("rebinding.test", "127.0.0.1")
            with pytest.raises(EngineError, match=r"rebinding.test = 127.0.0.2"):
                client.about()
        assert heard == []


def test_of_several_addresses_those_that_are_denied_are_left_out(
    engine: Callable[..., Engine], names: Resolver, settings: Settings
) -> None:
    running = engine()
    names.set("engine.test", "169.254.169.254", "fe80::1%1", "::ffff:169.254.169.254", "127.0.0.1")
    with client_for(named(running)) as client:
        assert client.address == "127.0.0.1"


@pytest.mark.parametrize("stored", ["[fe80::1%lo]:7410", "[fe80::1]:7410", "nonsense:x"])
def test_an_address_that_earlier_versions_accepted_is_refused_in_words(stored: str) -> None:
    endpoint = make_endpoint(token="t")
    Endpoint.objects.filter(pk=endpoint.pk).update(control_address=stored)
    check.check(endpoint.pk)
    endpoint.refresh_from_db()
    assert endpoint.status == "refused"
    assert f"The control address of {endpoint} can't be used: " in endpoint.status_reason
