"""`If-Match`: a change is made only where the row is as its caller read it, by the `ETag` of its GET."""

import copy
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from ninja.operation import PathView

from benchweb.api.problems import Problem, problem_response
from benchweb.api.schemas import Body
from benchweb.common.edits import lock_edit

CHANGING = ("PUT", "PATCH", "DELETE")
_ROOT = "/api/v1/"
View = Callable[..., HttpResponseBase]


def changed_fields(path: PathView) -> set[str]:
    """Return the fields that a path's rows can be changed in; none of a path that shows none, or changes none."""
    if not any("GET" in operation.methods for operation in path.operations):
        return set()
    changing = [operation for operation in path.operations if {"PUT", "PATCH"} & set(operation.methods)]
    bodies = [
        each.annotation
        for operation in changing
        for each in inspect.signature(operation.view_func).parameters.values()
        if inspect.isclass(each.annotation) and issubclass(each.annotation, Body)
    ]
    return {name for body in bodies for name in body.model_fields}


def edited(view: View, request: HttpRequest, fields: set[str], named: Mapping[str, Any]) -> HttpResponseBase:
    """Answer a call for one row: with its `ETag`, or, where `If-Match` names another, with 409 and both states."""
    if not fields:
        return view(request, **named)
    expected = request.headers.get("If-Match")
    if request.method == "GET":
        return _with_etag(view(request, **named), fields)
    if request.method not in CHANGING or expected is None or expected.strip() == "*":
        return view(request, **named)
    with transaction.atomic():
        lock_edit(request.path_info.removeprefix(_ROOT))
        current = view(_reading(request), **named)
        tag = etag_of(current, fields)
        # What compresses an answer makes its tag a weak one; it is of the same state.
        if tag and tag not in [each.strip().removeprefix("W/") for each in expected.split(",")]:
            return problem_response(request, _changed_meanwhile(request, current, tag))
        return view(request, **named)


def etag_of(response: HttpResponseBase, fields: set[str]) -> str:
    """Return the tag of what a row can be changed in; empty of an answer that shows no row."""
    if response.status_code != 200 or not isinstance(response, HttpResponse):
        return ""
    item = json.loads(response.content)
    stated = {name: item[name] for name in sorted(fields & set(item))}
    digest = hashlib.sha256(json.dumps(stated, sort_keys=True).encode()).hexdigest()
    return f'"{digest[:32]}"'


def _with_etag(response: HttpResponseBase, fields: set[str]) -> HttpResponseBase:
    if tag := etag_of(response, fields):
        response.headers["ETag"] = tag
    return response


def _reading(request: HttpRequest) -> HttpRequest:
    """Return the request as one that reads the same path."""
    reading = copy.copy(request)
    reading.method = "GET"
    return reading


def _changed_meanwhile(request: HttpRequest, current: HttpResponseBase, tag: str) -> Problem:
    detail = (
        "Somebody else changed this since it was read: compare `current` with `sent`, and send it with the new ETag."
    )
    try:
        sent = json.loads(request.body or b"null")
    except (ValueError, RequestDataTooBig):
        sent = None
    return Problem(409, detail, headers={"ETag": tag}, current=json.loads(current.content), sent=sent)  # type: ignore[attr-defined]
