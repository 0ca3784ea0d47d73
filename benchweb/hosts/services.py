"""Create, change and archive hosts, endpoints, environments and pairs; record checks and facts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.catalog.reasons import reason_fields
from benchweb.common import celery_client
from benchweb.common.loopback import is_loopback_name
from benchweb.common.names import kind_word, name_key, stored_name, text_fault
from benchweb.hosts.addresses import AddressError, control_address, control_text, data_address
from benchweb.hosts.checks.path_checks import paths_forget
from benchweb.hosts.errors import HostsError
from benchweb.hosts.facts.records import facts_record
from benchweb.hosts.machines import address_check, certificate_check, machine_follow
from benchweb.hosts.models import Endpoint, Environment, Host, Pair
from benchweb.hosts.naming import checked_name, name_holder, name_once, uplink_fault
from benchweb.labels import labels_fault, stored_labels
from benchweb.site.secrets import encrypted

CHECK_TASK = "workers.tasks.check_endpoint"
# No link of today is outside: what is has lost a unit.
_SLOWEST_LINK_BPS, _FASTEST_LINK_BPS = 1e3, 1e14
_FINGERPRINT_HELP = gettext_noop("a fingerprint is sha256: and 64 hexadecimal digits, as the engine prints it.")


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


def host_create(*, name: str, description: str = "", labels: Sequence[str] = (), uplink: str = "") -> Host:
    """Create a host; its name is not in use yet."""
    values = {"name": checked_name(name), "description": description, **_placing(labels, uplink)}
    with name_once(Host, name):
        return Host.objects.create(**values)


def host_update(*, host: Host, name: str, description: str, labels: Sequence[str], uplink: str) -> None:
    """Rename a host, describe it anew, and say by which words it is chosen and which uplink it shares."""
    values = _called(name) | {"description": description, **_placing(labels, uplink)}
    with name_once(Host, name, but=host.pk):
        Host.objects.filter(pk=host.pk).update(**values)


def environment_create(*, name: str, description: str = "") -> Environment:
    """Create an environment; its name is not in use yet."""
    stored = checked_name(name)
    with name_once(Environment, name):
        return Environment.objects.create(name=stored, description=description)


def environment_update(*, environment: Environment, name: str, description: str) -> None:
    """Rename an environment or describe it anew."""
    values = _called(name) | {"description": description}
    with name_once(Environment, name, but=environment.pk):
        Environment.objects.filter(pk=environment.pk).update(**values)


def endpoint_create(*, host: Host, control_address: str, **fields: Any) -> Endpoint:
    """Create an endpoint and check it at once; the fields are those of `_endpoint_fields`."""
    if host.archived_at is not None:
        raise HostsError("host", _("Host {host} is archived: restore it, or choose another.").format(host=host.name))
    values = _endpoint_fields(control_address=control_address, **fields)
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
    values = _endpoint_fields(control_address=control_address, **{"same_machine": endpoint.same_machine} | fields)
    # As it is now, not as the caller read it: somebody else may have entered another token since.
    stored = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
    if not values["token_encrypted"]:
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


@transaction.atomic
def endpoint_pin(*, endpoint: Endpoint, fingerprint: str, token: str) -> None:
    """Trust the certificate that was seen, with a token entered for it, and check again."""
    wanted = _checked_fingerprint(fingerprint)
    stored = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
    if not wanted or stored.seen_fingerprint != wanted:
        raise HostsError("fingerprint", _("The engine shows another fingerprint by now: check it again, then pin."))
    values = {"fingerprint": wanted, "token_encrypted": _encrypted(token)}
    if not values["token_encrypted"]:
        _refuse_other_engine(stored, {"control_address": stored.control_address, **values})
    _check_certificate(stored.host_id, {"same_machine": stored.same_machine, **values})
    Endpoint.objects.filter(pk=endpoint.pk).update(**values)
    machine_follow(host_id=stored.host_id)
    celery_client.send_on_commit(CHECK_TASK, endpoint.pk)


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


def pair_create(
    *, source: Endpoint, sink: Endpoint | None, environment: Environment, labels: Sequence[str] = ()
) -> Pair:
    """Create a pair, without a sink that of one host alone; an equal one that isn't archived is refused."""
    if sink == source:
        raise HostsError("sink", _("The sink is the source: choose another, or none to measure this host alone."))
    sink = sink or source
    _pair_check(source, sink, environment)
    stored = _checked_labels(labels)
    try:
        with transaction.atomic():
            return Pair.objects.create(source=source, sink=sink, environment=environment, labels=stored)
    except IntegrityError as error:
        raise HostsError(
            "",
            _("{pair} exists in {environment} already: use that pair.").format(
                pair=Pair(source=source, sink=sink), environment=environment
            ),
        ) from error


def pair_update(*, pair: Pair, environment: Environment, labels: Sequence[str]) -> None:
    """Label a pair anew, or move it to another environment; its ends stay, for its history belongs to them."""
    if environment.pk != pair.environment_id:
        _pair_check(pair.source, pair.sink, environment)
    stored = _checked_labels(labels)
    try:
        with transaction.atomic():
            Pair.objects.filter(pk=pair.pk).update(environment=environment, labels=stored)
    except IntegrityError as error:
        raise HostsError(
            "environment", _("{pair} exists in {environment} already.").format(pair=pair, environment=environment)
        ) from error


@transaction.atomic
def archive(*, row: Host | Endpoint | Environment | Pair) -> bool:
    """Archive a row and what can't be used without it; False when it was archived already."""
    now = timezone.now()
    changed = type(row).objects.filter(pk=row.pk, archived_at=None).update(archived_at=now)
    if isinstance(row, Host):
        Endpoint.objects.filter(host=row, archived_at=None).update(archived_at=now)
    _pairs_of(row).filter(archived_at=None).update(archived_at=now)
    return bool(changed)


def restore(*, row: Host | Endpoint | Environment | Pair, whole: bool = False) -> bool:
    """Bring an archived row back; what was archived with it is restored one by one, unless `whole` undoes it all."""
    if isinstance(row, Endpoint):
        certificate_check(host_id=row.host_id, fingerprint=row.fingerprint, same_machine=row.same_machine)
    try:
        with transaction.atomic():
            if whole and row.archived_at is not None:
                _restore_with(row, row.archived_at)
            return bool(type(row).objects.filter(pk=row.pk).exclude(archived_at=None).update(archived_at=None))
    except IntegrityError as error:
        if isinstance(row, Host | Environment):
            raise _named_since(row) from error
        raise HostsError("", _("An equal pair was made since: archive that one first.")) from error


def _restore_with(row: Host | Endpoint | Environment | Pair, at: datetime) -> None:
    """Restore what was archived by the same statement as a row."""
    if isinstance(row, Host):
        Endpoint.objects.filter(host=row, archived_at=at).update(archived_at=None)
    _pairs_of(row).filter(archived_at=at).update(archived_at=None)


def _named_since(row: Host | Environment) -> HostsError:
    what, other = kind_word(row), name_holder(type(row), row.name, but=row.pk)
    holder, holder_id = (other.name, other.pk) if other else (row.name, "?")
    return HostsError(
        "",
        _("The {what} {holder} ({holder_id}) has this name now: rename one of the two first.").format(
            what=what, holder=holder, holder_id=holder_id
        ),
        other,
    )


def _pairs_of(row: Host | Endpoint | Environment | Pair) -> Any:
    if isinstance(row, Host):
        return Pair.objects.filter(Q(source__host=row) | Q(sink__host=row))
    if isinstance(row, Endpoint):
        return Pair.objects.filter(Q(source=row) | Q(sink=row))
    return Pair.objects.filter(environment=row) if isinstance(row, Environment) else Pair.objects.none()


def _pair_check(source: Endpoint, sink: Endpoint, environment: Environment) -> None:
    for field, row in (("source", source), ("sink", sink), ("environment", environment)):
        if row.archived_at is not None:
            raise HostsError(field, _("{row} is archived: restore it, or choose another.").format(row=row))


def _placing(labels: Sequence[str], uplink: str) -> dict[str, Any]:
    if fault := uplink_fault(uplink):
        raise HostsError("uplink", fault)
    return {"labels": _checked_labels(labels), "uplink": stored_name(uplink)}


def _checked_labels(labels: Sequence[str]) -> list[str]:
    if fault := labels_fault(labels):
        raise HostsError("labels", fault)
    return stored_labels(labels)


def _called(name: str) -> dict[str, Any]:
    return {"name": checked_name(name), "name_key": name_key(name)}


def _endpoint_fields(
    *,
    control_address: str,
    name: str = "",
    data_address: str = "",
    network_mode: str = "host",
    bind_device: str = "",
    token: str = "",
    fingerprint: str = "",
    same_machine: bool = False,
    link_bps: float | None = None,
) -> dict[str, Any]:
    for field, text in (("name", name), ("network_mode", network_mode), ("bind_device", bind_device)):
        if fault := text_fault(text):
            raise HostsError(field, fault)
    if not 1 <= len(network_mode.strip()) <= 40:
        raise HostsError("network_mode", _("network_mode is a word such as host, terway or terway-eni."))
    if len(name) > 100 or len(bind_device) > 15:
        raise HostsError("name" if len(name) > 100 else "bind_device", _("Too long: 100 and 15 characters at most."))
    return {
        "name": stored_name(name),
        "control_address": _checked_control(control_address),
        "data_address": _checked_data(data_address),
        "network_mode": stored_name(network_mode),
        "bind_device": bind_device.strip(),
        "token_encrypted": _encrypted(token),
        "fingerprint": _checked_fingerprint(fingerprint),
        "same_machine": same_machine,
        "link_bps": _checked_link(link_bps),
    }


def _encrypted(token: str) -> bytes:
    return encrypted(token.strip()) if token.strip() else b""


def _checked_control(text: str) -> str:
    try:
        return control_text(text)
    except AddressError as error:
        raise HostsError("control_address", str(error)) from error


def _checked_data(text: str) -> str:
    if not text.strip():
        return ""
    try:
        return data_address(text)
    except AddressError as error:
        raise HostsError("data_address", str(error)) from error


def _checked_link(bps: float | None) -> float | None:
    if bps is not None and not _SLOWEST_LINK_BPS <= bps <= _FASTEST_LINK_BPS:
        raise HostsError("link_bps", _("A link's speed is from 1 kbit/s to 100 Tbit/s."))
    return bps


def _checked_fingerprint(text: str) -> str:
    text = text.strip().lower().replace("sha256:", "")
    digits = text.replace(":", "")
    if digits and (len(digits) != 64 or set(digits) - set("0123456789abcdef")):
        raise HostsError(
            "fingerprint",
            _("{text} is not one: {fingerprint_help}").format(
                text=f"{text[:80]!r}", fingerprint_help=_(_FINGERPRINT_HELP)
            ),
        )
    return f"sha256:{digits}" if digits else ""
