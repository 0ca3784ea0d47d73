"""GET /livez, /readyz, /healthz and /metrics: for monitoring."""

from collections.abc import Mapping
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from benchweb.accounts import throttle
from benchweb.accounts.addresses import client_address
from benchweb.accounts.roles.needs import open_to_all
from benchweb.accounts.services import token_user
from benchweb.ops.health import checks as health
from benchweb.ops.health.metrics import exposition

_BEARER = "Bearer "
_TEXT = "text/plain; charset=utf-8"


@open_to_all("monitoring asks it, and it tells no secret")
@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 when every part is ready, else 503; no log-in: it tells no secret."""
    return _response(health.parts())


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
    return _response(health.needs())


@open_to_all("it asks for an API token itself")
@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer Prometheus, which brings an API token: names of schedules are no public matter.

    Not by loopback alone: behind a proxy on the same machine everybody comes from there.
    """
    header = request.headers.get("Authorization", "")
    if not header.startswith(_BEARER):
        return _unauthorized()
    if token_user(secret=header.removeprefix(_BEARER).strip(), address=client_address(request)) is None:
        seconds = throttle.token_failed(client_address(request))
        return _too_many(seconds) if seconds else _unauthorized()
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)


def _response(parts: Mapping[str, health.Part]) -> JsonResponse:
    is_ready = all(part.is_ready for part in parts.values())
    return JsonResponse(
        {"ready": is_ready, **{name: part.as_json() for name, part in parts.items()}},
        status=HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE,
    )


def _unauthorized() -> HttpResponse:
    return HttpResponse(
        "The metrics need the header 'Authorization: Bearer TOKEN': make a token on your account page.\n",
        status=HTTPStatus.UNAUTHORIZED,
        content_type=_TEXT,
        headers={"WWW-Authenticate": 'Bearer realm="benchweb"'},
    )


def _too_many(seconds: int) -> HttpResponse:
    return HttpResponse(
        f"Too many calls with an unknown token came from your address: use a valid one, or wait {seconds} s.\n",
        status=HTTPStatus.TOO_MANY_REQUESTS,
        content_type=_TEXT,
        headers={"Retry-After": str(seconds)},
    )
