"""Errors as RFC 9457 problem documents: what failed, in which field, and what to do."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse

MEDIA_TYPE = "application/problem+json"
# One wrong list can make an error for each of its thousands of values: the first ones tell the story.
MAXIMUM_ERRORS = 50
# Messages repeat what was sent; what was sent may be megabytes.
MAXIMUM_TEXT = 600


@dataclass(frozen=True)
class FieldError:
    """A fault at one place: `field` is a path into the body or a query parameter, such as steps.0.params.flows."""

    field: str
    message: str


@dataclass
class Problem(Exception):
    """An error that is answered as it is; `detail` says what, where and what to do."""

    status: int
    detail: str
    errors: list[FieldError] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    # The row that a 409 clashes with.
    other_id: int | None = None
    # The field that, when true, has it done anyway.
    insist: str = ""
    # Of a 409 because somebody else changed the row: how it stands now, and what was sent.
    current: Any = None
    sent: Any = None

    def __str__(self) -> str:
        return self.detail


def invalid(where: str, message: str) -> Problem:
    """Refuse one field with 422."""
    return Problem(422, message, [FieldError(where, message)])


def invalid_fields(errors: Sequence[FieldError]) -> Problem:
    """Refuse several fields with 422; the detail repeats the first."""
    first = f"{errors[0].field}: {errors[0].message}" if errors[0].field else errors[0].message
    more = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
    return Problem(422, first + more, list(errors[:MAXIMUM_ERRORS]))


def not_found(what: str, identifier: Any) -> Problem:
    """Answer 404 for a row that isn't there."""
    return Problem(404, f"There is no {what} {str(identifier)[:60]}.")


def problem_response(request: HttpRequest, problem: Problem) -> HttpResponse:
    """Render a problem; `type` is about:blank, for the status says the kind of error and `errors` the place."""
    document: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": problem.detail[:MAXIMUM_TEXT],
        "instance": request.path,
        "errors": [
            {"field": error.field[:MAXIMUM_TEXT], "message": error.message[:MAXIMUM_TEXT]} for error in problem.errors
        ],
    }
    if problem.other_id is not None:
        document["id"] = problem.other_id
    if problem.insist:
        document["insist"] = problem.insist
    if problem.current is not None:
        document |= {"current": problem.current, "sent": problem.sent}
    return HttpResponse(json.dumps(document), status=problem.status, content_type=MEDIA_TYPE, headers=problem.headers)
