"""Two people edit one thing: the second is told what the first changed, field by field, and keeps what they typed.

A form carries what it showed when it was opened. What differs from that when it is sent was changed by somebody else;
what the sender typed alike is no conflict, so that a form that is sent twice is none.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

from django.db import transaction
from django.http import HttpRequest, HttpResponse

from benchweb.common.edits import lock_edit

FIELD = "opened_as"
CONFLICT = 409
View = TypeVar("View", bound=Callable[..., HttpResponse])


@dataclass(frozen=True)
class FieldChange:
    """A field that somebody else changed while a form was open."""

    name: str
    label: str
    was: str
    now: str
    typed: str


@dataclass(frozen=True)
class OpenedForm:
    """What a form carries of what it showed, and what others changed since."""

    written: str
    changes: list[FieldChange]

    @property
    def status(self) -> int:
        return CONFLICT if self.changes else 200


def opened_form(
    sent: Mapping[str, Any], now: Mapping[str, str], typed: Mapping[str, str], labels: Mapping[str, str]
) -> OpenedForm:
    """Compare what a form showed, which it sends, with what stands now; `sent` without it is a form that is opened."""
    was = _read(sent.get(FIELD, ""))
    changes = [
        FieldChange(name, labels.get(name, name), was.get(name, ""), now.get(name, ""), typed.get(name, ""))
        for name in dict.fromkeys([*now, *was] if was else [])
        if now.get(name, "") not in (was.get(name, ""), typed.get(name, ""))
    ]
    return OpenedForm(json.dumps(dict(now)), changes)


def edits(path: str, argument: str) -> Callable[[View], View]:
    """Let a view change a row, named as in the API's paths, while nobody else does; below `needs`."""

    def alone(view: View) -> View:
        @wraps(view)
        def edited(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponse:
            if request.method != "POST":
                return view(request, *arguments, **named)
            with transaction.atomic():
                lock_edit(f"{path}/{named[argument]}")
                return view(request, *arguments, **named)

        return edited  # type: ignore[return-value]

    return alone


def _read(text: str) -> dict[str, str]:
    try:
        read = json.loads(text or "{}")
    except ValueError:
        return {}
    return {str(name): str(value) for name, value in read.items()} if isinstance(read, dict) else {}
