"""Create and change hosts, environments and pairs; archive and restore them and endpoints."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.common.names import kind_word, name_key, stored_name
from benchweb.hosts.belonging import checked_environments, hosts_enter
from benchweb.hosts.errors import HostsError
from benchweb.hosts.machines import certificate_check
from benchweb.hosts.models import Endpoint, Environment, Host, Pair
from benchweb.hosts.naming import checked_name, name_holder, name_once, uplink_fault
from benchweb.labels import labels_fault, stored_labels


def host_create(
    *,
    name: str,
    description: str = "",
    labels: Sequence[str] = (),
    uplink: str = "",
    environments: Sequence[int] = (),
    has_canary: bool = True,
) -> Host:
    """Create a host; its name is not in use yet."""
    values = {"name": checked_name(name), "description": description, **_placing(labels, uplink)}
    values["has_canary"] = has_canary
    values["environment_ids"] = checked_environments(environments)
    with name_once(Host, name):
        return Host.objects.create(**values)


@transaction.atomic
def host_update(
    *,
    host: Host,
    name: str,
    description: str,
    labels: Sequence[str],
    uplink: str,
    environments: Sequence[int] | None = None,
    has_canary: bool | None = None,
) -> None:
    """Rename a host, describe it anew, say by which words it is chosen, which uplink it shares, and where it is.

    Without a word of environments, or of the nightly measurement of the host alone, these stay as they are.
    """
    values = _called(name) | {"description": description, **_placing(labels, uplink)}
    if has_canary is not None:
        values["has_canary"] = has_canary
    if environments is not None:
        locked = Host.objects.select_for_update(of=("self",)).get(pk=host.pk)
        values["environment_ids"] = checked_environments(environments, locked)
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
            hosts_enter(environment.pk, [source.pk, sink.pk])
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
            hosts_enter(environment.pk, [pair.source_id, pair.sink_id])
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
            if isinstance(row, Pair):
                hosts_enter(row.environment_id, [row.source_id, row.sink_id])
            return bool(type(row).objects.filter(pk=row.pk).exclude(archived_at=None).update(archived_at=None))
    except IntegrityError as error:
        if isinstance(row, Host | Environment):
            raise _named_since(row) from error
        raise HostsError("", _("An equal pair was made since: archive that one first.")) from error


def _restore_with(row: Host | Endpoint | Environment | Pair, at: datetime) -> None:
    """Restore what was archived by the same statement as a row, but pairs whose hosts have left their environment."""
    if isinstance(row, Host):
        Endpoint.objects.filter(host=row, archived_at=at).update(archived_at=None)
    inside = {f"{end}__host__environment_ids__contains": [F("environment")] for end in ("source", "sink")}
    _pairs_of(row).filter(archived_at=at, **inside).update(archived_at=None)


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
