"""Replace an engine's token or certificate: asked for here, done by a worker over the channel that is trusted."""

from dataclasses import asdict
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from benchweb.accounts.audit.actors import present_actor
from benchweb.catalog.reasons import reason_fields
from benchweb.common import celery_client
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Endpoint
from benchweb.site.secrets import SecretUnreadable, decrypted, encrypted

ROTATE_TASK = "workers.tasks.rotate_endpoint"
# Longer than all time-outs of a worker that does it; after that its wake-up was lost.
PATIENCE = timedelta(seconds=60)


def rotation_request(*, endpoint: Endpoint, what: Endpoint.Rotation) -> None:
    """Ask a worker to replace the token or certificate of the endpoint's engine; raise HostsError where it can't."""
    if endpoint.archived_at is not None or endpoint.host.archived_at is not None:
        raise HostsError("", _("{endpoint} is archived: restore it first.").format(endpoint=endpoint))
    if not endpoint.token_encrypted or not endpoint.fingerprint:
        raise HostsError(
            "", _("The engine of {endpoint} has never answered: check it first.").format(endpoint=endpoint)
        )
    under_way = Q(rotation_ended_at=None, rotation_requested_at__gt=Now() - PATIENCE)
    actor = present_actor()
    with transaction.atomic():
        free = Endpoint.objects.filter(pk=endpoint.pk).exclude(under_way)
        begun = {"rotation": what, "rotation_requested_at": Now(), "rotation_ended_at": None}
        if not free.update(**begun, **reason_fields("rotation_reason", "")):
            raise HostsError(
                "", _("The token or certificate of {endpoint} is being replaced already.").format(endpoint=endpoint)
            )
        celery_client.send_on_commit(ROTATE_TASK, endpoint.pk, str(what), asdict(actor) if actor else None)


def rotation_end(*, endpoint_id: int, reason: str = "") -> None:
    """Record that a replacement is over; with a reason nothing was replaced."""
    ended = reason_fields("rotation_reason", reason)
    Endpoint.objects.filter(pk=endpoint_id).update(rotation_ended_at=Now(), **ended)


@transaction.atomic
def token_replace(*, endpoint: Endpoint, token: str) -> bool:
    """Store the token that the engine has taken, with every endpoint of that engine that has the former one.

    False where the endpoint was given another token or certificate since it was read.
    """
    former = decrypted(endpoint.token_encrypted)
    of_engine = Endpoint.objects.select_for_update().filter(fingerprint=endpoint.fingerprint).order_by("pk")
    same = [row.pk for row in of_engine if _has_token(row, former)]
    if endpoint.pk not in same:
        return False
    Endpoint.objects.filter(pk__in=same).update(token_encrypted=encrypted(token))
    return True


@transaction.atomic
def certificate_replace(*, endpoint: Endpoint, fingerprint: str) -> bool:
    """Pin the certificate that the engine has announced, for every endpoint that has the former one pinned.

    False where the endpoint was given another since it was read.
    """
    of_engine = Endpoint.objects.select_for_update().filter(fingerprint=endpoint.fingerprint).order_by("pk")
    same = [row.pk for row in of_engine]
    if endpoint.pk not in same:
        return False
    Endpoint.objects.filter(pk__in=same).update(fingerprint=fingerprint, seen_fingerprint=fingerprint)
    return True


def _has_token(endpoint: Endpoint, token: str) -> bool:
    try:
        return decrypted(endpoint.token_encrypted) == token
    except SecretUnreadable:
        return False
