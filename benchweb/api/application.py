"""django-ninja with problem documents for every refusal, also for those that the library and Django make."""

import json
import logging
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import wraps
from typing import Any

from django.core.exceptions import RequestAborted, RequestDataTooBig
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, URLResolver, re_path
from ninja import NinjaAPI, Router
from ninja.errors import HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation, PathView
from ninja.renderers import BaseRenderer
from ninja.responses import NinjaJSONEncoder

from benchweb.accounts.permissions import Refused
from benchweb.accounts.roles.bounds import BeyondBounds
from benchweb.accounts.roles.grants import RoleError
from benchweb.accounts.roles.needs import Needs, needs_by_method, open_to_all
from benchweb.api.authentication import BearerToken, beyond_bounds, refused
from benchweb.api.editing import CHANGING, changed_fields, edited
from benchweb.api.parser import too_large
from benchweb.api.problems import MEDIA_TYPE, FieldError, Problem, invalid_fields, problem_response
from benchweb.common.database_faults import took_too_long
from benchweb.documents.moments import rfc3339
from benchweb.hosts.errors import HostsError
from benchweb.labels import LabelError
from benchweb.notifications.errors import NotificationError
from benchweb.plans.expansion import PlanError
from benchweb.regressions.transitions import AlertError
from benchweb.runs.services import LaunchError
from benchweb.schedules.services import ScheduleError
from benchweb.sharing.services import ShareError

_log = logging.getLogger(__name__)
View = Callable[..., HttpResponseBase]
# PostgreSQL is back from a crash in a second or two.
RETRY_AFTER_SECONDS = 5
# A method that a path doesn't have, and a path that isn't there, never reach ninja's error handlers.
OF_DESCRIPTION = "which calls there are is no secret"
_METHODS = "GET, POST, PUT, PATCH, DELETE"
# What services refuse, each with the field at fault.
_REFUSALS = (
    *(HostsError, PlanError, LaunchError, ScheduleError, ShareError, NotificationError, AlertError),
    *(LabelError, RoleError),
)
_FIELD_ERROR = {
    "type": "object",
    "required": ["field", "message"],
    "properties": {
        "field": {"type": "string", "description": "where, such as steps.0.params.flows; empty for the whole"},
        "message": {"type": "string"},
    },
}
_PROBLEM_SCHEMA = {
    "title": "Problem",
    "description": "RFC 9457: what failed, where, and what to do.",
    "type": "object",
    "required": ["type", "title", "status", "detail", "instance", "errors"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string", "format": "uri-reference"},
        "errors": {"type": "array", "items": _FIELD_ERROR},
        "id": {"type": "integer", "description": "of a 409: the row that has the name or the certificate"},
        "insist": {"type": "string", "description": "the field that, when true, has the call done anyway"},
        "current": {"description": "of a 409 by If-Match: the row as it stands now"},
        "sent": {"description": "of a 409 by If-Match: the body that was sent"},
    },
}


# See benchweb.api.idempotency.
_KEY_PARAMETER = {
    "in": "header",
    "name": "Idempotency-Key",
    "required": False,
    "description": "1 to 255 printable ASCII characters without spaces, new for each call, such as a UUID. For 24 "
    "hours the same call of the same token with the same key is answered as the first, and makes nothing. Another call "
    "with it is refused with 422. One while the first is under way waits for it, or is refused with 409. A call that "
    "failed leaves its key free.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}


# See benchweb.api.editing.
_MATCH_PARAMETER = {
    "in": "header",
    "name": "If-Match",
    "required": False,
    "description": "The ETag of the row's GET. Where somebody else changed it since, nothing is changed: the answer is "
    "409 with `current`, how it stands now, `sent`, and the new ETag.",
    "schema": {"type": "string"},
}


class BenchwebAPI(NinjaAPI):
    """The API: add routers to it, then take its `urls`."""

    def __init__(self, **options: Any) -> None:
        self._added: list[Router] = []
        super().__init__(**options)
        self.add_exception_handler(Problem, _problem)
        self.add_exception_handler(Refused, refused)
        self.add_exception_handler(BeyondBounds, beyond_bounds)
        self.add_exception_handler(HttpError, _http_error)
        self.add_exception_handler(ValidationError, _validation_error)
        self.add_exception_handler(RequestDataTooBig, _too_big)
        for refusal in _REFUSALS:
            self.add_exception_handler(refusal, _refusal_answer)
        self.add_exception_handler(OperationalError, _database_away)
        self.add_exception_handler(RequestAborted, _reader_left)
        self.add_exception_handler(Exception, _fault_answer)

    @property
    def urls(self) -> tuple[list[URLResolver | URLPattern], str, str]:
        """Return ninja's URLs, so wrapped that 404 and 405 are problem documents too."""
        patterns, application, namespace = super().urls
        views = {path.lstrip("/").replace("{", "<").replace("}", ">"): view for path, view in self.path_views()}
        for pattern in patterns:
            if isinstance(pattern, URLPattern):
                view = views.get(str(pattern.pattern))
                # Pages are let in by their views' permissions, calls by those of their operations.
                mark = needs_by_method(_methods(view)) if view else open_to_all(OF_DESCRIPTION)
                fields = changed_fields(view) if view else set()
                pattern.callback = mark(_view_with_problems(pattern.callback, fields))
        # The first pattern that matches wins, so the root's own 404 page is never shown.
        return (
            [*patterns[:-1], re_path("", open_to_all(OF_DESCRIPTION)(_no_such_path)), patterns[-1]],
            application,
            namespace,
        )

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Name an operation as its view, such as run_create: generated clients show these names."""
        return operation.view_func.__name__

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        """Add the problem document as the answer to whatever goes wrong."""
        schema = super().get_openapi_schema(**options)
        schema["components"]["schemas"]["Problem"] = _PROBLEM_SCHEMA
        content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        stated = {
            self.get_openapi_operation_id(operation): stated_by(operation)
            for _path, view in self.path_views()
            for operation in view.operations
        }
        editing = {
            self.get_openapi_operation_id(operation)
            for _path, view in self.path_views()
            if changed_fields(view)
            for operation in view.operations
            if set(CHANGING) & set(operation.methods)
        }
        for operations in schema["paths"].values():
            for operation in operations.values():
                operation["responses"]["default"] = {"description": "A problem", "content": content}
                if "201" in map(str, operation["responses"]):
                    operation["parameters"] = [*operation.get("parameters", []), _KEY_PARAMETER]
                if operation["operationId"] in editing:
                    operation["parameters"] = [*operation.get("parameters", []), _MATCH_PARAMETER]
                _tell_permission(operation, stated[operation["operationId"]])
        return schema

    def path_views(self) -> Iterator[tuple[str, PathView]]:
        """Return every path with its operations."""
        for router in self._added:
            yield from router.path_operations.items()

    def add_router(self, prefix: str, router: Router | str, **options: Any) -> None:
        """Add a router as ninja does, and remember it."""
        super().add_router(prefix, router, **options)
        if isinstance(router, Router):
            self._added.append(router)


def _methods(view: PathView) -> dict[str, Needs | None]:
    return {method: stated_by(operation) for operation in view.operations for method in operation.methods}


def stated_by(operation: Operation) -> Needs | None:
    """Return what an operation says that it needs; what all have together names no permission."""
    return next((auth.stated for auth in operation.auth_callbacks if isinstance(auth, BearerToken)), None)


def _tell_permission(documented: dict[str, Any], stated: Needs | None) -> None:
    if stated is None:
        return
    documented["security"] = [{name: [stated.write.value] for name in each} for each in documented["security"]]
    where = "" if stated.within is None and not stated.checked_by_view else ", in the environments that it concerns"
    text = f"Needs the role {stated.write.role.value}{where}."
    documented["description"] = f"{documented.get('description', '')}\n\n{text}".strip()


def _view_with_problems(view: View, fields: set[str]) -> View:
    @wraps(view)
    def answered(request: HttpRequest, **named: Any) -> HttpResponseBase:
        requested = request.method
        # RFC 9110: HEAD is GET without the content, which the server leaves out by itself.
        request.method = "GET" if requested == "HEAD" else requested
        response = edited(view, request, fields, named)
        request.method = requested
        if response.status_code != 405:
            return response
        allowed = response.headers.get("Allow", _METHODS)
        return problem_response(
            request, Problem(405, f"{request.method} is not possible here; {allowed} is.", headers={"Allow": allowed})
        )

    return answered


def _no_such_path(request: HttpRequest) -> HttpResponse:
    trailing = " Paths have no slash at the end." if request.path.endswith("/") else ""
    detail = f"There is no such path: /api/v1/openapi.json lists them.{trailing}"
    return problem_response(request, Problem(404, detail))


# Bearer tokens only: there is no cookie here that a foreign page could ride on.
_no_such_path.csrf_exempt = True  # type: ignore[attr-defined]


def _problem(request: HttpRequest, error: Any) -> HttpResponse:
    return problem_response(request, error)


def _http_error(request: HttpRequest, error: Any) -> HttpResponse:
    # Ninja turns whatever its parser raises into a bare 400; the cause says more.
    if isinstance(error.__cause__, Problem):
        return problem_response(request, error.__cause__)
    return problem_response(request, Problem(error.status_code, str(error)))


def _validation_error(request: HttpRequest, error: Any) -> HttpResponse:
    in_path = next((fault for fault in error.errors if fault["loc"][0] == "path"), None)
    if in_path is not None:
        # No row can have such an id: to the caller it is a row that isn't there.
        return problem_response(request, Problem(404, "The path names no id: ids are whole numbers from 1."))
    return problem_response(request, invalid_fields([_field_error(fault) for fault in error.errors]))


def _field_error(fault: dict[str, Any]) -> FieldError:
    source, *path = fault["loc"]
    if source == "body":
        # The second part is the view's own name for the body.
        path = path[1:]
        if not path and fault["type"] == "missing":
            return FieldError("", "The call needs a JSON object as its body.")
    field = ".".join(map(str, path))
    match fault["type"]:
        case "missing":
            return FieldError(field, "This field is required.")
        case "extra_forbidden":
            return FieldError(field, "There is no such field here: leave it out, or look for a misspelling.")
        case _:
            return FieldError(field, fault["msg"].removeprefix("Value error, "))


def _refusal_answer(request: HttpRequest, error: Any) -> HttpResponse:
    # A service that blames no field found a clash with another row: nothing in the body is wrong by itself.
    other = getattr(error, "other", None)
    status = 422 if error.field and other is None else 409
    errors = [FieldError(error.field, error.message)]
    clash = {"other_id": other.pk, "insist": error.insist} if other else {}
    return problem_response(request, Problem(status, error.message, errors, **clash))


def _too_big(request: HttpRequest, error: Any) -> HttpResponse:
    return problem_response(request, too_large())


def _reader_left(request: HttpRequest, error: Any) -> HttpResponse:
    return problem_response(request, Problem(503, str(error)))


def _database_away(request: HttpRequest, error: Any) -> HttpResponse:
    if took_too_long(error):
        _log.error("%s %s was stopped by the time limit for statements", request.method, request.path)
        detail = (
            "The answer took the database longer than it may, and nothing of this call was kept: ask for less, such as "
            "a shorter time or a smaller limit."
        )
        return problem_response(request, Problem(503, detail))
    _log.error("%s %s failed, the database can't be used: %s", request.method, request.path, error)
    detail = "The database can't be used at the moment. Nothing of this call was kept: try again in a few seconds."
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
    return problem_response(request, Problem(503, detail, headers=headers))


def _fault_answer(request: HttpRequest, error: Any) -> HttpResponse:
    _log.exception("%s %s failed", request.method, request.path, exc_info=error)
    detail = "Something failed on the server, which has logged it. Nothing of this call was kept."
    return problem_response(request, Problem(500, detail))


class MicrosecondRenderer(BaseRenderer):
    """Ninja's JSON, whose encoder would cut times to milliseconds."""

    media_type = "application/json"

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> str:
        return json.dumps(data, cls=_Encoder, ensure_ascii=False)


class _Encoder(NinjaJSONEncoder):
    def default(self, o: Any) -> Any:
        return rfc3339(o) if isinstance(o, datetime) else super().default(o)
