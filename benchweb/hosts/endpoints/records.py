"""Record what checks of endpoints found, and since when an engine has not answered."""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from benchweb.catalog.reasons import reason_fields
from benchweb.hosts.facts.records import facts_record
from benchweb.hosts.machines import machine_follow
from benchweb.hosts.models import Endpoint


@dataclass(frozen=True)
class CheckOutcome:
    """What a check of an endpoint found; `status` is Endpoint.Status, offsets in seconds."""

    status: str
    reason: str = ""
    engine_version: str = ""
    catalog_version: int | None = None
    clock_offset_seconds: float | None = None
    round_trip_seconds: float | None = None
    fingerprint: str = ""
    data_port: int | None = None
    facts: dict[str, Any] | None = None
    # The IP address and port at which the engine answered with the endpoint's token.
    answered_address: str = ""
    # Where the check looked: of an endpoint that was changed meanwhile nothing is recorded. Empty for anywhere.
    control_address: str = ""


@transaction.atomic
def endpoint_record_check(*, endpoint_id: int, outcome: CheckOutcome) -> None:
    """Keep what a check found, unless the endpoint has another address by now."""
    now = timezone.now()
    checked = Endpoint.objects.filter(pk=endpoint_id)
    if outcome.control_address:
        checked = checked.filter(control_address=outcome.control_address)
    is_same = checked.update(
        status=outcome.status,
        **reason_fields("status_reason", outcome.reason),
        checked_at=now,
        engine_version=outcome.engine_version,
        catalog_version=outcome.catalog_version,
        clock_offset_seconds=outcome.clock_offset_seconds,
        round_trip_seconds=outcome.round_trip_seconds,
        seen_fingerprint=outcome.fingerprint,
    )
    if not is_same:
        return
    is_back = outcome.status == Endpoint.Status.ANSWERED
    if is_back:
        Endpoint.objects.filter(pk=endpoint_id).update(
            data_port=outcome.data_port, answered_address=outcome.answered_address
        )
    (endpoint_is_back if is_back else endpoint_is_away)(endpoint_id=endpoint_id)
    if outcome.facts:
        facts_record(endpoint_id=endpoint_id, document=outcome.facts, at=now)
        machine_follow(host_id=checked.values_list("host_id", flat=True).get())


def endpoint_answered_at(*, endpoint: Endpoint, address: str) -> None:
    """Note at which IP address and port an engine answered with the endpoint's token, unless it was moved since."""
    if endpoint.answered_address == address:
        return
    same = Endpoint.objects.filter(pk=endpoint.pk, control_address=endpoint.control_address)
    same.update(answered_address=address)
    endpoint.answered_address = address


def endpoint_is_away(*, endpoint_id: int) -> None:
    """Note since when an engine has not answered."""
    Endpoint.objects.filter(pk=endpoint_id, unreachable_since=None).update(unreachable_since=Now())


def endpoint_is_back(*, endpoint_id: int) -> None:
    """Note that an engine answers."""
    Endpoint.objects.filter(pk=endpoint_id).exclude(unreachable_since=None).update(unreachable_since=None)
