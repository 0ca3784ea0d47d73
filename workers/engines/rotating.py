"""Replace an engine's token or certificate over the channel that is trusted, and use the new one at once.

The engine accepts both until the new one was used. So whatever breaks in between, what is stored is valid.
"""

import logging
import secrets
from http import HTTPStatus
from typing import Any

from benchweb.accounts.audit.actors import Actor, acting
from benchweb.catalog.reasons import Reason, reason_of_error
from benchweb.hosts.endpoints.services import endpoint_check
from benchweb.hosts.enrolment.rotation import certificate_replace, rotation_end, token_replace
from benchweb.hosts.models import Endpoint
from benchweb.site.secrets import SecretUnreadable
from workers.engine_client import EngineClient, EngineError, EngineRefused
from workers.engines.connections import client_for, let_database_go
from workers.engines.discretion import discreet

_TOKEN_BYTES = 32
_log = logging.getLogger(__name__)


def rotate(endpoint_id: int, what: str, actor: dict[str, Any] | None) -> None:
    """Replace the token or the certificate of an endpoint's engine, in the name of who asked for it."""
    endpoint = Endpoint.objects.select_related("host").filter(pk=endpoint_id, archived_at=None).first()
    if endpoint is None:
        return
    with acting(Actor(**actor) if actor else None):
        rotation_end(endpoint_id=endpoint.pk, reason=_fault(endpoint, Endpoint.Rotation(what)))
        let_database_go()
    endpoint_check(endpoint=endpoint)


def _fault(endpoint: Endpoint, what: Endpoint.Rotation) -> str:
    """Replace it; return why it could not be, else nothing."""
    try:
        let_database_go()
        with discreet(endpoint) as contact, client_for(endpoint, contact) as client:
            let_database_go()
            is_stored = _replaced(endpoint, what, client)
    except (EngineError, SecretUnreadable) as error:
        return reason_of_error(error)
    except Exception as error:
        _log.exception("The rotation of endpoint %s broke off", endpoint.pk)
        return Reason("rotation_broke_off", name=type(error).__name__, error=str(error))
    if not is_stored:
        return Reason("rotation_overtaken", endpoint=str(endpoint))
    _use_secret(endpoint)
    return ""


def _replaced(endpoint: Endpoint, what: Endpoint.Rotation, client: EngineClient) -> bool:
    """Have the engine accept the new one, then store it."""
    try:
        if what == Endpoint.Rotation.CERTIFICATE:
            return certificate_replace(endpoint=endpoint, fingerprint=client.announce_certificate())
        token = secrets.token_hex(_TOKEN_BYTES)
        client.take_token(token)
        return token_replace(endpoint=endpoint, token=token)
    except EngineRefused as error:
        if error.status == HTTPStatus.NOT_FOUND:
            raise EngineRefused(Reason("engine_too_old_to_rotate", engine=client.name), code="too_old") from error
        raise


def _use_secret(endpoint: Endpoint) -> None:
    """Show the engine what is stored now, which ends the former one; if it can't be, the next call does."""
    renewed = Endpoint.objects.select_related("host").get(pk=endpoint.pk)
    try:
        with client_for(renewed) as client:
            let_database_go()
            client.about()
    except EngineError as error:
        _log.warning("The new secret of endpoint %s is stored and was not used yet: %s", endpoint.pk, error)
