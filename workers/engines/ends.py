"""The two ends of a run: clients of their engines, and the addresses that it keeps to from its beginning to its end."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from benchweb.catalog.reasons import Reason
from benchweb.hosts.endpoints.records import endpoint_is_away
from benchweb.hosts.models import Endpoint
from benchweb.runs.execution import addresses_record
from benchweb.runs.queueing.claims import Claimed
from workers.engine_client import About, EngineClient, EngineRefused, EngineUnreachable
from workers.engines.connections import let_database_go, shared_client
from workers.engines.discretion import discreet
from workers.engines.paths import EnginePath, Paths, paths_between
from workers.engines.resolution import data_addresses


@dataclass(frozen=True)
class Ends:
    """The two engines of a run, and where test traffic goes."""

    source: EngineClient
    sink: EngineClient
    paths: Paths
    # The one that the sink's engine told before the run; it may not announce another to its source.
    data_port: int
    is_sink_bound: bool = False
    source_device: str = ""
    sink_device: str = ""

    @property
    def source_bind(self) -> dict[str, str] | None:
        """Return what the source's data sockets are bound to."""
        return _bind_document(self.paths.current.source, self.source_device)

    @property
    def sink_bind(self) -> dict[str, str] | None:
        """Return what the sink's data sockets are bound to."""
        return _bind_document(self.paths.current.sink if self.is_sink_bound else "", self.sink_device)


def ends_of(claimed: Claimed, stack: ExitStack) -> Ends:
    """Return the ends of a run, at the addresses that it began with where another worker began it."""
    run, stored = claimed.run, claimed.run.addresses or {}
    source, sink = run.pair.source, run.pair.sink
    clients = [client_of(end, stack, _stored_address(stored, side, "control")) for end, side in _sides(source, sink)]
    paths = [EnginePath(_stored_address(stored, "source", "data"), _stored_address(stored, "sink", "data"))]
    if not paths[0].sink:
        paths = paths_of(source, sink, *clients)
    ends = Ends(
        source=clients[0],
        sink=clients[1],
        paths=Paths(paths),
        data_port=int(_stored_address(stored, "sink", "data_port") or 0),
        is_sink_bound=bool(sink.data_address),
        source_device=source.bind_device,
        sink_device=sink.bind_device,
    )
    let_database_go()
    if claimed.taken_over and not ends.data_port:
        return with_data_port(claimed, ends, ends.sink.about())
    ends.paths.on_change = lambda: _record_addresses(claimed, ends)
    return ends


def with_data_port(claimed: Claimed, ends: Ends, about: About) -> Ends:
    """Return the ends with the data port that was agreed: what the sink's check found, or else what it says now."""
    sink = claimed.run.pair.sink
    if sink.data_port is not None and sink.data_port != about.data_port:
        ports = {"data_port": about.data_port, "known": sink.data_port}
        raise EngineRefused(Reason("engine_data_port_changed", engine=ends.sink.name, **ports), code="data_port")
    agreed = replace(ends, data_port=about.data_port)
    agreed.paths.on_change = lambda: _record_addresses(claimed, agreed)
    return agreed


def with_stored_tokens(claimed: Claimed, ends: Ends, stack: ExitStack) -> Ends:
    """Return the ends with the tokens and certificates stored by now: new ones may have been entered since."""
    source, sink = claimed.run.pair.source, claimed.run.pair.sink
    stored = Endpoint.objects.in_bulk([source.pk, sink.pk])
    is_source_renewed, is_sink_renewed = (_has_renewed_secret(end, stored[end.pk]) for end in (source, sink))
    return replace(
        ends,
        source=client_of(source, stack, ends.source.address) if is_source_renewed else ends.source,
        sink=client_of(sink, stack, ends.sink.address) if is_sink_renewed else ends.sink,
    )


def _has_renewed_secret(begun_with: Endpoint, stored: Endpoint) -> bool:
    """Take over another token or certificate; a run stays at the addresses that it began with."""
    if stored.control_address != begun_with.control_address:
        return False
    before = (begun_with.fingerprint, bytes(begun_with.token_encrypted))
    begun_with.fingerprint, begun_with.token_encrypted = stored.fingerprint, stored.token_encrypted
    return before != (stored.fingerprint, bytes(stored.token_encrypted))


def addresses_document(ends: Ends) -> dict[str, Any]:
    """Return the addresses in use, as a run keeps them; `data` is missing where the source's kernel chooses."""
    path = ends.paths.current
    source = {"control": ends.source.address} | ({"data": path.source} if path.source else {})
    return {
        "source": source,
        "sink": {"control": ends.sink.address, "data": path.sink, "data_port": ends.data_port},
    }


def refuse_other_address(ends: Ends, prepared: dict[str, Any]) -> None:
    """Raise where a sink wants its traffic elsewhere than agreed: it may not choose whom a source connects to."""
    port, address = prepared.get("data_port"), prepared.get("address", ends.paths.current.sink)
    if port != ends.data_port:
        ports = {"announced": port, "data_port": ends.data_port}
        raise EngineRefused(Reason("engine_other_data_port", engine=ends.sink.name, **ports), code="data_port")
    if address != ends.paths.current.sink:
        agreed = {"announced": address, "address": ends.paths.current.sink}
        raise EngineRefused(Reason("engine_other_data_address", engine=ends.sink.name, **agreed), code="data_address")


def client_of(endpoint: Endpoint, stack: ExitStack, address: str = "") -> EngineClient:
    """Return a client of the endpoint's engine, at this address where the run has one already."""
    try:
        with discreet(endpoint) as contact:
            return stack.enter_context(shared_client(endpoint, address, contact))
    except EngineUnreachable:
        # On first contact its certificate is asked for.
        endpoint_is_away(endpoint_id=endpoint.pk)
        raise


def paths_of(
    source: Endpoint, sink: Endpoint, source_client: EngineClient, sink_client: EngineClient
) -> list[EnginePath]:
    """Return the paths of a pair's test traffic, the likeliest first; raise EngineError where there is none."""
    return paths_between(
        source=data_addresses(source, source_client.address),
        sink=data_addresses(sink, sink_client.address),
        is_bound=bool(source.data_address),
        names=(str(source), str(sink)),
    )


def _sides(source: Endpoint, sink: Endpoint) -> tuple[tuple[Endpoint, str], tuple[Endpoint, str]]:
    return (source, "source"), (sink, "sink")


def _stored_address(addresses: dict[str, Any], side: str, key: str) -> Any:
    return addresses.get(side, {}).get(key, "")


def _record_addresses(claimed: Claimed, ends: Ends) -> None:
    addresses_record(run_id=claimed.run.pk, owner=claimed.owner, addresses=addresses_document(ends))
    let_database_go()


def _bind_document(address: str, device: str) -> dict[str, str] | None:
    return {key: value for key, value in (("address", address), ("device", device)) if value} or None
