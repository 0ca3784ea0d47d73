"""GET /healthz and GET /metrics: for monitoring."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from benchweb.accounts.services import token_user
from benchweb.ops import health
from benchweb.ops.metrics import exposition

_BEARER = "Bearer "


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 when every part is ready, else 503; no log-in: it tells no secret."""
    parts = health.parts()
    is_ready = all(part.is_ready for part in parts.values())
    return JsonResponse(
        {"ready": is_ready, **{name: part.as_json() for name, part in parts.items()}},
        status=HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE,
    )


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer Prometheus, which brings an API token: names of schedules are no public matter.

    Not by loopback alone: behind a proxy on the same machine everybody comes from there.
    """
    header = request.headers.get("Authorization", "")
    if not header.startswith(_BEARER) or token_user(secret=header.removeprefix(_BEARER).strip()) is None:
        return HttpResponse(
            "The metrics need the header 'Authorization: Bearer TOKEN': make a token on your account page.\n",
            status=HTTPStatus.UNAUTHORIZED,
            content_type="text/plain; charset=utf-8",
            headers={"WWW-Authenticate": 'Bearer realm="benchweb"'},
        )
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)
