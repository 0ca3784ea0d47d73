"""Create, change and pin endpoints, and ask workers to check them."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from benchweb.catalog.reasons import reason_fields
from benchweb.common import celery_client
from benchweb.common.loopback import is_loopback_name
from benchweb.hosts.addresses import control_address
from benchweb.hosts.endpoints.fields import checked_fingerprint, encrypted_token, endpoint_fields
from benchweb.hosts.errors import HostsError
from benchweb.hosts.machines import address_check, certificate_check, machine_follow
from benchweb.hosts.models import Endpoint, Host
from benchweb.hosts.path_checks import paths_forget
from benchweb.hosts.tickets import tickets_revoke

CHECK_TASK = "workers.tasks.check_endpoint"


def endpoint_create(*, host: Host, control_address: str, **fields: Any) -> Endpoint:
    """Create an endpoint and check it at once; the fields are those of `endpoint_fields`."""
    if host.archived_at is not None:
        raise HostsError("host", _("Host {host} is archived: restore it, or choose another.").format(host=host.name))
    values = endpoint_fields(control_address=control_address, **fields)
    _check_certificate(host.pk, values)
    _check_address(host.pk, values)
    _refuse_elsewhere(host.pk, values)
    with transaction.atomic():
        endpoint = Endpoint.objects.create(host=host, **values)
        machine_follow(host_id=host.pk)
        celery_client.send_on_commit(CHECK_TASK, endpoint.pk)
    return endpoint


@transaction.atomic
def endpoint_update(*, endpoint: Endpoint, control_address: str, **fields: Any) -> None:
    """Change an endpoint and check it again.

    Without a token the stored one is kept, as long as address and certificate are those that it was entered for.
    """
    values = endpoint_fields(control_address=control_address, **{"same_machine": endpoint.same_machine} | fields)
    # As it is now, not as the caller read it: somebody else may have entered another token since.
    stored = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
    if values["token_encrypted"]:
        tickets_revoke(endpoint_id=endpoint.pk)
    else:
        _refuse_other_engine(stored, values)
        values.pop("token_encrypted")
    _check_certificate(stored.host_id, values)
    if (stored.data_address, stored.control_address) != (values["data_address"], values["control_address"]):
        _refuse_elsewhere(stored.host_id, values)
    if stored.control_address != values["control_address"]:
        _check_address(stored.host_id, values)
        values |= {"seen_fingerprint": "", "data_port": None, "answered_address": ""}
    Endpoint.objects.filter(pk=endpoint.pk).update(
        status=Endpoint.Status.UNKNOWN, checked_at=None, **reason_fields("status_reason", ""), **values
    )
    paths_forget(endpoint_id=endpoint.pk)
    machine_follow(host_id=stored.host_id)
    celery_client.send_on_commit(CHECK_TASK, endpoint.pk)


@transaction.atomic
def endpoint_pin(*, endpoint: Endpoint, fingerprint: str, token: str) -> None:
    """Trust the certificate that was seen, with a token entered for it, and check again."""
    wanted = checked_fingerprint(fingerprint)
    stored = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
    if not wanted or stored.seen_fingerprint != wanted:
        raise HostsError("fingerprint", _("The engine shows another fingerprint by now: check it again, then pin."))
    values = {"fingerprint": wanted, "token_encrypted": encrypted_token(token)}
    if not values["token_encrypted"]:
        _refuse_other_engine(stored, {"control_address": stored.control_address, **values})
    _check_certificate(stored.host_id, {"same_machine": stored.same_machine, **values})
    Endpoint.objects.filter(pk=endpoint.pk).update(**values)
    machine_follow(host_id=stored.host_id)
    celery_client.send_on_commit(CHECK_TASK, endpoint.pk)


def endpoint_pin_first(*, endpoint: Endpoint, fingerprint: str) -> Endpoint:
    """Pin the certificate that the engine proved its token with, and return the endpoint as it is now.

    Not on an endpoint that was given another address or token, or pinned, since it was read. Raise HostsError for a
    certificate of another host's engine.
    """
    certificate_check(host_id=endpoint.host_id, fingerprint=fingerprint, same_machine=endpoint.same_machine)
    Endpoint.objects.filter(
        pk=endpoint.pk,
        fingerprint="",
        control_address=endpoint.control_address,
        token_encrypted=endpoint.token_encrypted,
    ).update(fingerprint=fingerprint)
    return Endpoint.objects.select_related("host").get(pk=endpoint.pk)


def endpoint_check(*, endpoint: Endpoint) -> None:
    """Ask a worker to check the endpoint: reachability, fingerprint, version, clock offset, facts."""
    celery_client.send(CHECK_TASK, endpoint.pk)


def _refuse_other_engine(stored: Endpoint, values: dict[str, Any]) -> None:
    """Refuse to take a stored token to another address or certificate than those that it was entered for."""
    if not stored.token_encrypted:
        return
    if stored.control_address != values["control_address"]:
        raise HostsError(
            "token",
            _("The stored token is for {control_address}: enter the engine's token again.").format(
                control_address=stored.control_address
            ),
        )
    if stored.fingerprint and not values["fingerprint"]:
        raise HostsError(
            "token",
            _("The stored token is for the pinned certificate: to drop its fingerprint, enter the token again."),
        )
    if stored.fingerprint != values["fingerprint"]:
        raise HostsError(
            "token", _("The stored token was not entered for this certificate: enter the engine's token again.")
        )


def _refuse_elsewhere(host_id: int, values: dict[str, Any]) -> None:
    """Refuse a data address at which test traffic would reach another engine, or each machine itself."""
    data, (control, _port) = values["data_address"], control_address(values["control_address"])
    if not data or data == control:
        return
    if is_loopback_name(data) and not is_loopback_name(control):
        raise HostsError(
            "data_address",
            _(
                "{data} is every machine's own address: test traffic from another host never arrives there. "
                "Give the address of the interface that carries it."
            ).format(data=data),
        )
    others = Endpoint.objects.exclude(host=host_id).filter(archived_at=None).select_related("host")
    beginning = f"[{data}]:" if ":" in data else f"{data}:"
    if not is_loopback_name(data) and (other := others.filter(control_address__istartswith=beginning).first()):
        raise HostsError(
            "data_address",
            _(
                "{data} is the address of another engine, {other}: give the address of this host's own interface."
            ).format(data=data, other=other),
        )


def _check_address(host_id: int, values: dict[str, Any]) -> None:
    address, same_machine = values["control_address"], values["same_machine"]
    address_check(host_id=host_id, control_address=address, same_machine=same_machine)


def _check_certificate(host_id: int, values: dict[str, Any]) -> None:
    fingerprint, same_machine = values["fingerprint"], values["same_machine"]
    certificate_check(host_id=host_id, fingerprint=fingerprint, same_machine=same_machine)
