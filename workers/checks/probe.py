"""Probe endpoints lightly: does the engine answer, how fast, and how busy is its host."""

import logging
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from http import HTTPStatus

from benchweb.catalog.reasons import Reason, reason_of_error
from benchweb.common.in_parts import in_parts
from benchweb.hosts.endpoints.records import endpoint_answered_at
from benchweb.hosts.endpoints.services import endpoint_check
from benchweb.hosts.models import AvailabilitySpan, Endpoint
from benchweb.hosts.probing.probes import Probe, ProbedLoad, probes_record
from benchweb.site.secrets import SecretUnreadable
from workers.engine_client import (
    EngineClient,
    EngineDown,
    EngineError,
    EngineRefused,
    EngineUnreachable,
)
from workers.engines.connections import client_for, let_database_go
from workers.engines.discretion import address_with_port, discreet
from workers.engines.resolution import data_addresses

# A host that is away holds a thread for the connection's time-out of 3 s: a minute is enough for 600 of them.
THREADS = 32
# What was found is recorded at least so often: an engine that drips its answer keeps no other waiting.
RECORD_SECONDS = 10.0
# Longer than all time-outs of a whole batch of hosts that are away.
BATCH_SECONDS = 120.0
_log = logging.getLogger(__name__)
_State, _Status = AvailabilitySpan.State, Endpoint.Status
_ENDLESS = Reason("probe_endless")


def probe(endpoint_ids: Sequence[int]) -> None:
    """Probe these endpoints at once and record what was found; no database connection is held meanwhile."""
    endpoints = list(Endpoint.objects.filter(pk__in=endpoint_ids, archived_at=None).select_related("host"))
    let_database_go()
    if not endpoints:
        return
    pool = ThreadPoolExecutor(min(len(endpoints), THREADS), thread_name_prefix="probe")
    endpoint_of = {pool.submit(_safely_probed, endpoint): endpoint for endpoint in endpoints}
    waiting: set[Future[Probe | None]] = set(endpoint_of)
    give_up_at = time.monotonic() + BATCH_SECONDS
    while waiting and time.monotonic() < give_up_at:
        done, waiting = wait(waiting, timeout=RECORD_SECONDS)
        _record_probes((endpoint_of[future], future.result()) for future in done)
    stuck = [endpoint_of[future] for future in waiting if future.running()]
    pool.shutdown(wait=False, cancel_futures=True)
    _record_probes((endpoint, _probe_of(endpoint, _State.ENGINE_DOWN, _Status.REFUSED, _ENDLESS)) for endpoint in stuck)


def _record_probes(results: Iterable[tuple[Endpoint, Probe | None]]) -> None:
    """Keep what was found, each finding by itself where they can't be kept together."""
    probes = []
    for endpoint, result in results:
        if result is None:
            endpoint_check(endpoint=endpoint)
        else:
            probes.append(result)
    in_parts(probes, lambda some: probes_record(probes=some))
    let_database_go()


def _safely_probed(endpoint: Endpoint) -> Probe | None:
    """Probe one endpoint; whatever goes wrong is this endpoint's own."""
    try:
        return _probed(endpoint)
    except Exception as error:
        _log.exception("The probe of endpoint %s broke off", endpoint.pk)
        reason = Reason("probe_broke_off", name=type(error).__name__, error=str(error))
        return _probe_of(endpoint, _State.ENGINE_DOWN, _Status.REFUSED, reason)
    finally:
        # This thread ends with the batch: what it still holds the pool would count as in use for ever.
        let_database_go()


def _probed(endpoint: Endpoint) -> Probe | None:
    """Return what was found; None for an engine that answers for the first time, which is its check's to judge."""
    started = time.perf_counter()
    try:
        answer = _answer_of(endpoint)
    except (EngineError, SecretUnreadable) as error:
        # An engine at its limits answers, and is an engine.
        if isinstance(error, EngineRefused) and error.may_pass:
            took = time.perf_counter() - started
            return _probe_of(endpoint, _State.ANSWERED, _Status.ANSWERED, round_trip_seconds=took)
        return _probe_of(endpoint, *_verdict(error), reason_of_error(error))
    if answer is None:
        return None
    round_trip, load = answer
    return _probe_of(endpoint, _State.ANSWERED, _Status.ANSWERED, round_trip_seconds=round_trip, load=load)


def _verdict(error: Exception) -> tuple[AvailabilitySpan.State, Endpoint.Status]:
    if isinstance(error, EngineUnreachable):
        return _State.ENGINE_DOWN if isinstance(error, EngineDown) else _State.UNREACHABLE, _Status.UNREACHABLE
    # Another certificate, another token, no engine at all: nothing that a run could use.
    return _State.ENGINE_DOWN, _Status.REFUSED


def _answer_of(endpoint: Endpoint) -> tuple[float, ProbedLoad] | None:
    """Return how long an answer takes on an open connection, in seconds, and what it tells of the host.

    None for an engine whose certificate wasn't pinned yet, and is now: its check tells the rest.
    """
    with discreet(endpoint) as contact:
        if not endpoint.fingerprint:
            client_for(endpoint, contact).close()
            let_database_go()
            return None
        with client_for(endpoint, contact) as client:
            client.about()
            endpoint_answered_at(endpoint=endpoint, address=address_with_port(client.address, client.port))
            let_database_go()
            return _measured(endpoint, client)


def _measured(endpoint: Endpoint, client: EngineClient) -> tuple[float, ProbedLoad]:
    address = _data_address(endpoint, client)
    let_database_go()
    started = time.perf_counter()
    load = _load(client, address, endpoint.bind_device)
    return time.perf_counter() - started, load


def _data_address(endpoint: Endpoint, client: EngineClient) -> str:
    # Without one the engine tells of no interface; that its name can't be resolved here says nothing of the engine.
    try:
        return data_addresses(endpoint, client.address)[0]
    except EngineError:
        return ""


def _load(client: EngineClient, address: str, device: str) -> ProbedLoad:
    try:
        load = client.host_load(address=address, device=device)
    except EngineRefused as error:
        # An engine of before this call: it answers all the same.
        if error.status != HTTPStatus.NOT_FOUND:
            raise
        return ProbedLoad()
    return ProbedLoad(load.cpu_ratio, load.received_bps, load.sent_bps, load.link_bps)


def _probe_of(
    endpoint: Endpoint,
    state: AvailabilitySpan.State,
    status: Endpoint.Status,
    reason: str = "",
    *,
    round_trip_seconds: float | None = None,
    load: ProbedLoad | None = None,
) -> Probe:
    return Probe(
        endpoint_id=endpoint.pk,
        control_address=endpoint.control_address,
        state=state,
        status=status,
        reason=reason,
        round_trip_seconds=round_trip_seconds,
        load=load or ProbedLoad(),
    )
