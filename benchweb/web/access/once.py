"""A form that is sent twice, such as by a double click, is done once: the second is led to what the first made."""

import hashlib
from collections.abc import Callable, Iterator
from functools import wraps
from typing import TypeVar

from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.messages.storage.base import BaseStorage
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.safestring import SafeData, mark_safe
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from benchweb.idempotency.services import Answer, RequestKey, StillUnderWay, answered_once

_TOKEN = "csrfmiddlewaretoken"  # noqa: S105  (the field's name)
_MARK = "is_once"
View = TypeVar("View", bound=Callable[..., HttpResponse])


def once(view: View) -> View:
    """Let a view make something once for each form that it is sent; below `needs`, which is asked each time.

    What it makes it answers by 201 or by leading elsewhere. All happens in one transaction.
    """

    @wraps(view)
    def answered(request: HttpRequest, *arguments: object, **named: object) -> HttpResponse:
        key = _request_key(request)
        if key is None:
            return view(request, *arguments, **named)
        try:
            outcome = answered_once(
                key, lambda: view(request, *arguments, **named), kept=lambda given: _answer(request, given)
            )
        except StillUnderWay:
            return render(request, "409.html", status=409)
        return _repeated(request, outcome) if isinstance(outcome, Answer) else outcome

    setattr(answered, _MARK, True)
    return answered  # type: ignore[return-value]


def is_once(view: object) -> bool:
    """Tell whether what a view makes is made once."""
    return getattr(view, _MARK, False)


def _request_key(request: HttpRequest) -> RequestKey | None:
    """Return the key of a form: its token against forgery, which Django masks anew for each page, with what was sent.

    Another choice in the same form is another request.
    """
    token = request.POST.get(_TOKEN) or request.headers.get("X-CSRFToken", "")
    # htmx sends the token with what only asks for a page, too.
    if request.method != "POST" or not token or not isinstance(request.user, User):
        return None
    digest = hashlib.sha256(f"{request.get_full_path()}\n{token}".encode())
    for part in _sent(request):
        digest.update(hashlib.sha256(part).digest())
    return RequestKey(request.user.pk, None, digest.hexdigest(), digest.hexdigest())


def _sent(request: HttpRequest) -> Iterator[bytes]:
    """Return the fields of a form and its files; the file of a field stays where it is read from."""
    for name, values in request.POST.lists():
        if name != _TOKEN:
            yield from (text.encode(errors="replace") for text in (name, *values))
    for name, files in request.FILES.lists():
        for file in files:
            yield from (text.encode() for text in (name, file.name or ""))
            yield from file.chunks()
            file.seek(0)


def _answer(request: HttpRequest, given: HttpResponse) -> Answer | None:
    """Return what is kept of an answer; None of one that only shows the form again."""
    is_made = given.status_code == 201 or 300 <= given.status_code < 400 or "HX-Redirect" in given.headers
    if not is_made:
        return None
    told = messages.get_messages(request)
    texts = [
        (message.level, str(message.message), message.extra_tags or "", isinstance(message.message, SafeData))
        for message in told
    ]
    if isinstance(told, BaseStorage):
        # They are still to be shown.
        told.used = False
    return Answer(given.status_code, given.content.decode(), dict(given.headers), texts)


def _repeated(request: HttpRequest, answer: Answer) -> HttpResponse:
    for level, text, tags, is_markup in answer.messages:
        messages.add_message(request, level, mark_safe(text) if is_markup else text, tags)  # noqa: S308  (our own)
    messages.info(request, _("The form was sent twice and done once. To do it again, reload the form's page first."))
    if location := answer.headers.get("Location") or answer.headers.get("HX-Redirect"):
        # The button is htmx's, and a form's where no script runs.
        return (
            HttpResponseClientRedirect(location) if "HX-Request" in request.headers else HttpResponseRedirect(location)
        )
    return HttpResponse(answer.body, status=answer.status, headers=answer.headers)
