"""GET /healthz."""

from http import HTTPStatus

from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from benchweb.ops import health


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
