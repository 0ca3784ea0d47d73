"""Which hosts are one machine: their engines show one certificate, or tell one boot id of the kernel.

Two hosts of one machine are one resource: `Host.machine` is the host whose resource all of them take.
"""

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KT
from django.utils.translation import gettext as _

from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Endpoint, Facts, Host

INSIST = "same_machine"


def certificate_check(*, host_id: int | None, fingerprint: str, same_machine: bool) -> None:
    """Refuse a certificate that another host's engine shows, unless it is insisted that both are one machine."""
    if not fingerprint or same_machine:
        return
    holding = _in_use().filter(fingerprint=fingerprint).exclude(host=host_id).order_by("pk").first()
    if holding is None:
        return
    holder, holder_id = holding.host.name, holding.host_id
    raise HostsError(
        "fingerprint",
        _(
            "The engine of host {holder} ({holder_id}) has this certificate: add the endpoint to that host, or "
            "confirm that both hosts are one machine (same_machine)."
        ).format(holder=holder, holder_id=holder_id),
        holding.host,
        insist=INSIST,
    )


def address_check(*, host_id: int | None, control_address: str, same_machine: bool) -> None:
    """Refuse the address of another host's engine, unless it is insisted that both hosts are one machine."""
    found = None if same_machine else _at(control_address).exclude(host=host_id).order_by("pk").first()
    if found is None:
        return
    holder, holder_id = found.host.name, found.host_id
    raise HostsError(
        "control_address",
        _(
            "The engine of host {holder} ({holder_id}) has this address: add the endpoint to that host, or "
            "confirm that both hosts are one machine (same_machine)."
        ).format(holder=holder, holder_id=holder_id),
        found.host,
        insist=INSIST,
    )


def has_known_engine(endpoint: Endpoint) -> bool:
    """Return whether another host's engine has this endpoint's address, or the certificate that it showed last."""
    return has_known_certificate(endpoint) or _at(endpoint.control_address).exclude(host=endpoint.host_id).exists()


def has_known_certificate(endpoint: Endpoint) -> bool:
    """Return whether another host's engine has the certificate that this endpoint's showed last."""
    seen = endpoint.seen_fingerprint
    return bool(seen) and _in_use().filter(fingerprint=seen).exclude(host=endpoint.host_id).exists()


def hosts_of_machine(host: Host) -> "QuerySet[Host, Host]":
    """Return the other hosts in use that are the same machine."""
    machine = host.machine_key
    return Host.objects.filter(Q(pk=machine) | Q(machine=machine), archived_at=None).exclude(pk=host.pk)


@transaction.atomic
def machine_follow(*, host_id: int) -> None:
    """Join a host with those that are the same machine by what is known now, or part it from those that are not."""
    known = list(_known().filter(host=host_id))
    fingerprints = {endpoint.fingerprint for endpoint in known if endpoint.fingerprint}
    boot_ids = {endpoint.boot_id for endpoint in known if endpoint.boot_id}
    same = Q(fingerprint__in=fingerprints) | Q(boot_id__in=boot_ids)
    others = set(_known().filter(same).exclude(host=host_id).values_list("host_id", flat=True))
    if others:
        _join({host_id, *others})
    else:
        _part(host_id, boot_ids)


def _join(host_ids: Collection[int]) -> None:
    rows = Host.objects.select_for_update(no_key=True).filter(pk__in=host_ids).order_by("pk")
    machines = {host.machine_key for host in rows}
    first = min(machines)
    joined = Host.objects.filter(Q(pk__in=machines) | Q(machine__in=machines)).exclude(pk=first)
    joined.exclude(machine=first).update(machine=first)


def _part(host_id: int, boot_ids: Collection[str]) -> None:
    """Part a host whose boot id none of the others had when they were last seen, after it told that first."""
    host = Host.objects.get(pk=host_id)
    latest = (
        Facts.objects.filter(endpoint__host=host_id, document__boot_id__in=boot_ids).order_by("-first_seen_at").first()
    )
    if host.machine_id is None or latest is None:
        return
    if Facts.objects.filter(endpoint__host__in=hosts_of_machine(host), last_seen_at__gt=latest.first_seen_at).exists():
        Host.objects.filter(pk=host_id).update(machine=None)


def _in_use() -> "QuerySet[Endpoint, Endpoint]":
    return Endpoint.objects.filter(archived_at=None, host__archived_at=None).select_related("host")


def _at(control_address: str) -> "QuerySet[Endpoint, Endpoint]":
    return _in_use().filter(control_address__iexact=control_address)


def _known() -> Any:
    """Return the endpoints in use, with the boot id that each told last as `boot_id`."""
    newest = Facts.objects.filter(endpoint=OuterRef("pk")).order_by("-last_seen_at")
    return _in_use().annotate(
        boot_id=Subquery(newest.annotate(reported=KT("document__boot_id")).values("reported")[:1])
    )
