"""Check an endpoint: does its engine answer, is it the pinned one, how far is its clock from ours."""

import logging
import time
from datetime import UTC, datetime

from benchweb.catalog.reasons import Reason, reason_of_error
from benchweb.hosts.endpoints.records import CheckOutcome, endpoint_answered_at, endpoint_record_check
from benchweb.hosts.facts.shapes import facts_fault
from benchweb.hosts.models import Endpoint
from benchweb.site.secrets import SecretUnreadable
from workers.engine_client import (
    About,
    EngineClient,
    EngineError,
    EngineGarbage,
    EngineUndisclosed,
    EngineUnreachable,
)
from workers.engines.connections import client_for, let_database_go, seen_fingerprint
from workers.engines.discretion import address_with_port, discreet

# The clock offset is taken from the quickest of these, as NTP does: its error is half the round trip.
_CLOCK_PROBES = 4
_log = logging.getLogger(__name__)


def check(endpoint_id: int) -> None:
    """Check one endpoint and record what was found."""
    endpoint = Endpoint.objects.select_related("host").filter(pk=endpoint_id).first()
    if endpoint is None:
        return
    endpoint_record_check(endpoint_id=endpoint_id, outcome=_outcome(endpoint))
    let_database_go()


def _outcome(endpoint: Endpoint) -> CheckOutcome:
    fingerprint = ""
    try:
        let_database_go()
        with discreet(endpoint) as contact:
            fingerprint = seen_fingerprint(endpoint, contact)
            with client_for(endpoint, contact) as client:
                let_database_go()
                about, offset, round_trip = _probed(client)
                # What has answered to the token is the engine: all is told of it.
                endpoint_answered_at(endpoint=endpoint, address=address_with_port(client.address, client.port))
                let_database_go()
                facts = client.facts()
                if fault := facts_fault(facts):
                    raise EngineGarbage(Reason("engine_facts_unreadable", engine=client.name, fault=fault))
    except EngineUndisclosed as error:
        return _fault(endpoint, Endpoint.Status.UNREACHABLE, error.reason, "")
    except EngineUnreachable as error:
        return _fault(endpoint, Endpoint.Status.UNREACHABLE, error.reason, fingerprint)
    except (EngineError, SecretUnreadable) as error:
        return _fault(endpoint, Endpoint.Status.REFUSED, reason_of_error(error), fingerprint)
    except Exception as error:
        # An endpoint whose check ends without a word would be "being checked" for ever.
        _log.exception("The check of endpoint %s broke off", endpoint.pk)
        reason = Reason("check_broke_off", name=type(error).__name__, error=str(error))
        return _fault(endpoint, Endpoint.Status.REFUSED, reason, fingerprint)
    return CheckOutcome(
        status=Endpoint.Status.ANSWERED,
        engine_version=about.engine_version,
        catalog_version=about.catalog_version,
        data_port=about.data_port,
        clock_offset_seconds=offset,
        round_trip_seconds=round_trip,
        fingerprint=fingerprint,
        facts=facts,
        control_address=endpoint.control_address,
        answered_address=address_with_port(client.address, client.port),
    )


def _fault(endpoint: Endpoint, status: Endpoint.Status, reason: str, fingerprint: str) -> CheckOutcome:
    address = endpoint.control_address
    return CheckOutcome(status=status, reason=reason, fingerprint=fingerprint, control_address=address)


def _probed(client: EngineClient) -> tuple[About, float, float]:
    """Return what the engine says of itself, its clock less ours, and the round trip, both in seconds."""
    client.about()
    probes = []
    for _ in range(_CLOCK_PROBES):
        sent_at, started = datetime.now(UTC), time.perf_counter()
        about = client.about()
        round_trip = time.perf_counter() - started
        probes.append((round_trip, (about.time - sent_at).total_seconds() - round_trip / 2, about))
    round_trip, offset, about = min(probes, key=lambda probe: probe[0])
    return about, offset, round_trip
