"""What a host's script asks for with its ticket: the engine's token, once, and then to be added."""

from dataclasses import dataclass

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from benchweb.hosts import services
from benchweb.hosts.endpoints import services as endpoint_services
from benchweb.hosts.enrolment.tickets import Ticket
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Endpoint, Enrolment, Host
from benchweb.hosts.naming import free_names
from benchweb.site.secrets import decrypted


@dataclass(frozen=True, kw_only=True)
class Listening:
    """What a host tells of the engine that it started; `machine` is the same as when it fetched the token."""

    machine: str
    host_name: str
    address: str
    port: int
    fingerprint: str = ""


def token_claim(ticket: Ticket, *, machine: str, host_name: str) -> str:
    """Return the engine's token to the first machine that asks with this ticket, and to that one until it is added.

    Raise HostsError for any other, and afterwards.
    """
    if not machine:
        raise HostsError("machine", _("The host says no boot id: /proc/sys/kernel/random/boot_id can't be read."))
    endpoint = _endpoint_of(ticket)
    values = {"machine": machine, "host_name": host_name[:100], "endpoint": endpoint}
    enrolment, _is_new = Enrolment.objects.get_or_create(number=ticket.number, defaults=values)
    _check_machine(enrolment, machine)
    if endpoint is None:
        _check_unused(enrolment)
        return ticket.token
    if endpoint.status == Endpoint.Status.ANSWERED:
        raise HostsError("ticket", _("The engine of {endpoint} answers already.").format(endpoint=endpoint))
    return decrypted(endpoint.token_encrypted)


def host_enrol(ticket: Ticket, listening: Listening) -> Endpoint:
    """Add the host that has started its engine, or check the endpoint that the ticket is for; raise HostsError."""
    enrolment = Enrolment.objects.filter(number=ticket.number).first()
    if enrolment is None:
        raise HostsError("ticket", _("No token was fetched with this ticket: run the whole script again."))
    _check_machine(enrolment, listening.machine)
    if endpoint := enrolment.endpoint:
        endpoint_services.endpoint_check(endpoint=endpoint)
        return endpoint
    try:
        return _added(enrolment, ticket, listening)
    except HostsError as error:
        Enrolment.objects.filter(pk=enrolment.pk).update(fault=error.message)
        raise


@transaction.atomic
def _added(enrolment: Enrolment, ticket: Ticket, listening: Listening) -> Endpoint:
    # Sent twice at once, the second waits here and finds the host of the first.
    locked = Enrolment.objects.select_for_update(of=("self",)).get(pk=enrolment.pk)
    if locked.endpoint is not None:
        return locked.endpoint
    (name,) = free_names(Host, [listening.host_name])
    host = services.host_create(name=name)
    address = f"[{listening.address}]" if ":" in listening.address else listening.address
    endpoint = endpoint_services.endpoint_create(
        host=host,
        control_address=f"{address}:{listening.port}",
        token=ticket.token,
        fingerprint=listening.fingerprint,
    )
    Enrolment.objects.filter(pk=enrolment.pk).update(endpoint=endpoint, fault="", added_at=Now())
    return endpoint


def _endpoint_of(ticket: Ticket) -> Endpoint | None:
    if ticket.endpoint_id is None:
        return None
    endpoint = Endpoint.objects.filter(pk=ticket.endpoint_id, archived_at=None).select_related("host").first()
    if endpoint is None:
        raise HostsError("ticket", _("The endpoint of this ticket is archived: restore it, or add the host anew."))
    return endpoint


def _check_unused(enrolment: Enrolment) -> None:
    if enrolment.endpoint is not None:
        raise HostsError(
            "ticket",
            _("This ticket added the host {host} already: copy a new command from the dashboard.").format(
                host=enrolment.endpoint.host.name
            ),
        )


def _check_machine(enrolment: Enrolment, machine: str) -> None:
    if enrolment.machine != machine:
        raise HostsError(
            "ticket",
            _(
                "This ticket was used by {host} already, and is for one host: copy a new command from the dashboard."
            ).format(host=enrolment.host_name or _("another host")),
        )
