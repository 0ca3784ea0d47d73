"""What a host's script asks for with its ticket: the engine's token, once, and then to be added."""

from dataclasses import dataclass

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from benchweb.accounts.audit.actors import Actor
from benchweb.hosts import services
from benchweb.hosts.endpoints import services as endpoint_services
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Endpoint, Enrolment, Host
from benchweb.hosts.naming import free_names
from benchweb.hosts.tickets import LIFE, ticket_fault, ticket_token, tickets_open
from benchweb.site.secrets import decrypted


@dataclass(frozen=True, kw_only=True)
class StartedEngine:
    """What a host tells of the engine that it started; `machine` is the same as when it fetched the token."""

    machine: str
    host_name: str
    address: str
    port: int
    fingerprint: str = ""


def token_claim(ticket: Enrolment, *, machine: str, host_name: str) -> str:
    """Return the engine's token to the first machine that asks with this ticket, and to that one until it is added.

    Raise HostsError for any other, and afterwards.
    """
    if not machine:
        raise HostsError("machine", _("The host says no boot id: /proc/sys/kernel/random/boot_id can't be read."))
    endpoint = _endpoint_of(ticket)
    claim = {"machine": machine, "host_name": host_name[:100], "claimed_at": Now(), "expires_at": Now() + LIFE}
    tickets_open().filter(pk=ticket.pk, claimed_at=None).update(**claim)
    ticket.refresh_from_db()
    _check_unused(ticket)
    _check_machine(ticket, machine)
    if endpoint is None:
        return ticket_token(ticket)
    if endpoint.status == Endpoint.Status.ANSWERED:
        raise HostsError("ticket", _("The engine of {endpoint} answers already.").format(endpoint=endpoint))
    # An edit makes its state unknown again; a certificate that is pinned goes only with the token.
    if endpoint.fingerprint:
        raise HostsError(
            "ticket",
            _(
                "{endpoint} has a pinned certificate, so its stored token is told to nobody: "
                "to set its engine up anew, edit the endpoint, enter a new token and drop the fingerprint."
            ).format(endpoint=endpoint),
        )
    return decrypted(endpoint.token_encrypted)


def host_enrol(ticket: Enrolment, listening: StartedEngine) -> Endpoint:
    """Add the host that has started its engine, or check the endpoint that the ticket is for; raise HostsError."""
    if ticket.claimed_at is None:
        raise HostsError("ticket", _("No token was fetched with this ticket: run the whole script again."))
    _check_machine(ticket, listening.machine)
    if endpoint := ticket.endpoint:
        endpoint_services.endpoint_check(endpoint=endpoint)
        return endpoint
    try:
        return _added(ticket, listening)
    except HostsError as error:
        Enrolment.objects.filter(pk=ticket.pk).update(fault=error.message)
        raise


def acting_ticket(ticket: Enrolment, *, address: str) -> Actor:
    """Return who acts when a host brings a ticket: its issuer, through it."""
    issuer = ticket.issued_by
    name = issuer.get_username() if issuer else ""
    return Actor("ticket", ticket.issued_by_id, name, ticket.token_id, address)


@transaction.atomic
def _added(ticket: Enrolment, listening: StartedEngine) -> Endpoint:
    # Sent twice at once, the second waits here and finds the host of the first; revoked meanwhile, it adds nothing.
    locked = Enrolment.objects.select_for_update(of=("self",)).get(pk=ticket.pk)
    if locked.endpoint is not None:
        return locked.endpoint
    if fault := ticket_fault(locked):
        raise HostsError("ticket", fault)
    (name,) = free_names(Host, [listening.host_name])
    host = services.host_create(name=name)
    address = f"[{listening.address}]" if ":" in listening.address else listening.address
    endpoint = endpoint_services.endpoint_create(
        host=host,
        control_address=f"{address}:{listening.port}",
        token=ticket_token(ticket),
        fingerprint=listening.fingerprint,
    )
    Enrolment.objects.filter(pk=ticket.pk).update(endpoint=endpoint, fault="", added_at=Now())
    return endpoint


def _endpoint_of(ticket: Enrolment) -> Endpoint | None:
    if ticket.endpoint_id is None or ticket.added_at is not None:
        return None
    endpoint = Endpoint.objects.filter(pk=ticket.endpoint_id, archived_at=None).select_related("host").first()
    if endpoint is None:
        raise HostsError("ticket", _("The endpoint of this ticket is archived: restore it, or add the host anew."))
    return endpoint


def _check_unused(ticket: Enrolment) -> None:
    if ticket.added_at is not None and ticket.endpoint is not None:
        raise HostsError(
            "ticket",
            _("This ticket added the host {host} already: copy a new command from the dashboard.").format(
                host=ticket.endpoint.host.name
            ),
        )


def _check_machine(ticket: Enrolment, machine: str) -> None:
    if ticket.machine != machine:
        raise HostsError(
            "ticket",
            _(
                "This ticket was used by {host} already, and is for one host: copy a new command from the dashboard."
            ).format(host=ticket.host_name or _("another host")),
        )
