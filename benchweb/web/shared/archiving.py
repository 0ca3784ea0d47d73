"""The page that asks before something is archived, and says what will be hidden and what stays."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from benchweb.catalog.translation import sentence_space
from benchweb.runs.models import OPEN_STATES, Run

Noun = Literal["endpoint", "pair", "run", "series", "slot"]
_NOUNS: dict[Noun, Callable[[int], str]] = {
    "endpoint": lambda number: ngettext("{number} endpoint", "{number} endpoints", number),
    "pair": lambda number: ngettext("{number} pair", "{number} pairs", number),
    "run": lambda number: ngettext("{number} run", "{number} runs", number),
    "series": lambda number: ngettext("{number} series", "{number} series", number),
    "slot": lambda number: ngettext("{number} slot", "{number} slots", number),
}


def archive_page(
    request: HttpRequest, *, title: str, losses: Sequence[str], back: str, done: str, act: Callable[[], bool]
) -> HttpResponse:
    """Ask on GET; archive on POST and go to `done`. `losses` say what is hidden, in words."""
    if request.method == "POST":
        if act():
            messages.success(request, _("Archived: {title}. You can restore it from the archive.").format(title=title))
        return redirect(done)
    return render(request, "shared/archive.html", {"title": title, "losses": losses, "back": back})


def archived_with_it(counts: Mapping[Noun, int]) -> str:
    """Say what is archived together with a row, and that no run can use any of it."""
    parts = [counted(number, noun) for noun, number in counts.items() if number]
    if not parts:
        return _("New runs can't use it.")
    words = pgettext("between items of a list", " and ").join(parts)
    return _("Also archived: {parts}. New runs can't use them.").format(parts=words)


def retained_runs(runs: QuerySet[Run], besides: str = "") -> str:
    """Say how many runs stay, what does besides, and that runs that have not ended go on."""
    parts = [counted(runs.count(), "run"), *([besides] if besides else [])]
    runs_text = pgettext("between items of a list", " and ").join(parts)
    text = _("Kept, with results and links: {runs}.").format(runs=runs_text)
    if going_on := runs.filter(state__in=OPEN_STATES).count():
        text += sentence_space()
        text += ngettext(
            "{number} of these runs has not completed: it continues unless it is cancelled.",
            "{number} of these runs have not completed: they continue unless they are cancelled.",
            going_on,
        ).format(number=f"{going_on:,}")
    return text


def counted(number: int, noun: Noun) -> str:
    """Return a number with its noun: 1 pair, 3 pairs."""
    return _NOUNS[noun](number).format(number=f"{number:,}")
