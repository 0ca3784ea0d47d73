"""Probe endpoints lightly: does the engine answer, how fast, and how busy is its host."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

from benchweb.hosts.models import AvailabilitySpan, Endpoint
from benchweb.hosts.probes import Load, Probe, probes_record
from benchweb.hosts.secrets import SecretUnreadable
from benchweb.hosts.services import endpoint_check
from workers.connections import client_for, let_database_go, seen_fingerprint
from workers.engine_client import (
    EngineClient,
    EngineDown,
    EngineError,
    EngineRefused,
    EngineUnreachable,
)
from workers.resolution import data_addresses

# A host that is away holds a thread for the connection's time-out of 3 s: a minute is enough for 600 of them.
THREADS = 32
_State, _Status = AvailabilitySpan.State, Endpoint.Status


def probe(endpoint_ids: Sequence[int]) -> None:
    """Probe these endpoints at once and record what was found; no database connection is held meanwhile."""
    endpoints = list(Endpoint.objects.filter(pk__in=endpoint_ids, archived_at=None).select_related("host"))
    let_database_go()
    if not endpoints:
        return
    with ThreadPoolExecutor(min(len(endpoints), THREADS), thread_name_prefix="probe") as pool:
        found = list(pool.map(_probed, endpoints))
    for endpoint, result in zip(endpoints, found, strict=True):
        if result is None:
            endpoint_check(endpoint=endpoint)
    probes_record(probes=[result for result in found if result is not None])
    let_database_go()


def _probed(endpoint: Endpoint) -> Probe | None:
    """Give what was found; None for an engine that answers for the first time, which is its check's to judge."""
    started = time.perf_counter()
    try:
        answer = _asked(endpoint)
    except (EngineError, SecretUnreadable) as error:
        # An engine at its limits answers, and is an engine.
        if isinstance(error, EngineRefused) and error.may_pass:
            took = time.perf_counter() - started
            return _found(endpoint, _State.ANSWERED, _Status.ANSWERED, round_trip_seconds=took)
        return _found(endpoint, *_verdict(error), str(error))
    if answer is None:
        return None
    round_trip, load = answer
    return _found(endpoint, _State.ANSWERED, _Status.ANSWERED, round_trip_seconds=round_trip, load=load)


def _verdict(error: Exception) -> tuple[AvailabilitySpan.State, Endpoint.Status]:
    if isinstance(error, EngineUnreachable):
        return _State.ENGINE_DOWN if isinstance(error, EngineDown) else _State.UNREACHABLE, _Status.UNREACHABLE
    # Another certificate, another token, no engine at all: nothing that a run could use.
    return _State.ENGINE_DOWN, _Status.REFUSED


def _asked(endpoint: Endpoint) -> tuple[float, Load] | None:
    """Give how long an answer takes on an open connection, in seconds, and what it tells of the host.

    None for an engine whose certificate isn't pinned yet: nothing secret is sent to it.
    """
    if not endpoint.fingerprint:
        seen_fingerprint(endpoint)
        return None
    with client_for(endpoint) as client:
        client.about()
        address = _data_address(endpoint, client)
        started = time.perf_counter()
        load = _load(client, address, endpoint.bind_device)
        return time.perf_counter() - started, load


def _data_address(endpoint: Endpoint, client: EngineClient) -> str:
    # Without one the engine tells of no interface; that its name can't be resolved here says nothing of the engine.
    try:
        return data_addresses(endpoint, client.address)[0]
    except EngineError:
        return ""


def _load(client: EngineClient, address: str, device: str) -> Load:
    try:
        told = client.host_load(address=address, device=device)
    except EngineRefused as error:
        # An engine of before this call: it answers all the same.
        if error.status != HTTPStatus.NOT_FOUND:
            raise
        return Load()
    return Load(told.cpu_ratio, told.received_bps, told.sent_bps, told.link_bps)


def _found(
    endpoint: Endpoint,
    state: AvailabilitySpan.State,
    status: Endpoint.Status,
    reason: str = "",
    *,
    round_trip_seconds: float | None = None,
    load: Load | None = None,
) -> Probe:
    return Probe(
        endpoint_id=endpoint.pk,
        control_address=endpoint.control_address,
        state=state,
        status=status,
        reason=reason,
        round_trip_seconds=round_trip_seconds,
        load=load or Load(),
    )
