"""Remember the engines' tokens entered in this session: only there a command shows one."""

import hashlib
from collections.abc import Sequence

from django.http import HttpRequest

from benchweb.hosts.models import Endpoint

_KEY = "entered_tokens"
# As many as one table of hosts may add.
_CACHE_SIZE = 500


def note_entered(request: HttpRequest, endpoint: Endpoint) -> None:
    """Note that the endpoint's stored token was entered in this session."""
    endpoint.refresh_from_db(fields=["token_encrypted"])
    note_all_entered(request, [endpoint])


def note_all_entered(request: HttpRequest, endpoints: Sequence[Endpoint]) -> None:
    """Note that the stored tokens of these endpoints were entered in this session."""
    known = request.session.get(_KEY, [])
    request.session[_KEY] = [*known, *map(_mark, endpoints)][-_CACHE_SIZE:]


def was_entered(request: HttpRequest, endpoint: Endpoint) -> bool:
    """Tell whether the token that is stored now was entered in this session."""
    return _mark(endpoint) in request.session.get(_KEY, [])


def _mark(endpoint: Endpoint) -> str:
    # Each encryption is another text, even of the same token: a token that somebody else entered since isn't ours.
    return hashlib.sha256(bytes(endpoint.token_encrypted)).hexdigest()[:24]
