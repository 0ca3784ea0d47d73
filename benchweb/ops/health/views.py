"""GET /livez, /readyz, /healthz and /metrics: for monitoring."""

from collections.abc import Mapping
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from benchweb.accounts import throttle
from benchweb.accounts.addresses import client_address
from benchweb.accounts.audit.actors import actor_of
from benchweb.accounts.audit.logins import refusal_add
from benchweb.accounts.models import ApiToken
from benchweb.accounts.permissions import Permission, access_of
from benchweb.accounts.roles.needs import open_to_all
from benchweb.accounts.services import TokenRefused, token_in_use
from benchweb.ops.health import readiness
from benchweb.ops.health.metrics import exposition

_BEARER = "Bearer "
_TEXT = "text/plain; charset=utf-8"


@open_to_all("monitoring asks it, and it tells no secret")
@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 when every part is ready, else 503; no log-in: it tells no secret."""
    return _response(readiness.parts())


@open_to_all("monitoring asks it, and it tells no secret")
@require_safe
@never_cache
def livez(request: HttpRequest) -> JsonResponse:
    """Answer 200 while this process answers at all: it asks nothing else. Restart what doesn't answer."""
    return JsonResponse({"live": True})


@open_to_all("monitoring asks it, and it tells no secret")
@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """Answer 200 when what this process needs is there, else 503: send it no readers then."""
    return _response(readiness.needs())


@open_to_all("it asks for an API token itself")
@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer Prometheus, which brings a token of the scope metrics, and admins: schedules' names are no public matter.

    Not by loopback alone: behind a proxy on the same machine everybody comes from there.
    """
    header = request.headers.get("Authorization", "")
    if not header.startswith(_BEARER):
        return _unauthorized_answer()
    try:
        token = token_in_use(secret=header.removeprefix(_BEARER).strip(), address=client_address(request))
    except TokenRefused:
        token = None
    if token is None:
        seconds = throttle.token_failed(client_address(request))
        return _too_many(seconds) if seconds else _unauthorized_answer()
    if token.scope != ApiToken.Scope.METRICS and not access_of(token.user).may(Permission.ADMIN):
        return _forbidden_answer(request, token)
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)


def _response(parts: Mapping[str, readiness.SystemPart]) -> JsonResponse:
    is_ready = all(part.is_ready for part in parts.values())
    return JsonResponse(
        {"ready": is_ready, **{name: part.as_json() for name, part in parts.items()}},
        status=HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE,
    )


def _unauthorized_answer() -> HttpResponse:
    return HttpResponse(
        "The metrics need the header 'Authorization: Bearer TOKEN': make one of the scope metrics among your tokens.\n",
        status=HTTPStatus.UNAUTHORIZED,
        content_type=_TEXT,
        headers={"WWW-Authenticate": 'Bearer realm="benchweb"'},
    )


def _forbidden_answer(request: HttpRequest, token: ApiToken) -> HttpResponse:
    """Refuse another scope's token; a scraper comes again every minute, and is noted once in a while."""
    text = (
        f"The metrics need a token of the scope metrics, or an admin's of the scope admin; this one has {token.scope}."
    )
    if throttle.is_first_in_window(f"metrics:{token.pk}"):
        refusal_add(
            actor_of(request, token.user, token_id=token.pk), what=f"{request.method} {request.path_info}: {text}"
        )
    return HttpResponse(f"{text}\n", status=HTTPStatus.FORBIDDEN, content_type=_TEXT)


def _too_many(seconds: int) -> HttpResponse:
    return HttpResponse(
        f"Too many calls with an unknown token came from your address: use a valid one, or wait {seconds} s.\n",
        status=HTTPStatus.TOO_MANY_REQUESTS,
        content_type=_TEXT,
        headers={"Retry-After": str(seconds)},
    )
