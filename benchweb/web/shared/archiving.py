"""What is taken away: the page that asks before, and says what will be hidden and what stays; and undo after."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from benchweb.catalog.translation import sentence_space
from benchweb.common.rows import row_ids
from benchweb.hosts.errors import HostsError
from benchweb.runs.models import OPEN_STATES, Run

# Twice what stands on a page.
_MOST_AT_ONCE = 100
Noun = Literal["endpoint", "host", "pair", "plan", "run", "series", "slot"]
_NOUNS: dict[Noun, Callable[[int], str]] = {
    "endpoint": lambda number: ngettext("{number} endpoint", "{number} endpoints", number),
    "host": lambda number: ngettext("{number} host", "{number} hosts", number),
    "pair": lambda number: ngettext("{number} pair", "{number} pairs", number),
    "plan": lambda number: ngettext("{number} plan", "{number} plans", number),
    "run": lambda number: ngettext("{number} run", "{number} runs", number),
    "series": lambda number: ngettext("{number} series", "{number} series", number),
    "slot": lambda number: ngettext("{number} slot", "{number} slots", number),
}


def archive_page(
    request: HttpRequest, *, title: str, losses: Sequence[str], back: str, done: str, undo: str, act: Callable[[], bool]
) -> HttpResponse:
    """Ask on GET; archive on POST and go to `done`. `losses` say what is hidden, in words; `undo` restores it."""
    if request.method == "POST":
        if act():
            done_with_undo(
                request, _("Archived: {title}. You can restore it from the archive.").format(title=title), undo
            )
        return redirect(done)
    return render(request, "shared/archive.html", {"title": title, "losses": losses, "back": back})


def done_with_undo(request: HttpRequest, text: str, undo: str) -> None:
    """Say what was done, for ten seconds, with a button that posts to `undo`."""
    messages.success(request, text, extra_tags=undo)


def archive_several(
    request: HttpRequest,
    rows: "QuerySet[Any]",
    *,
    noun: Noun,
    act: Callable[[Any], bool],
    back: str,
    undo: str,
    losses: Sequence[str],
) -> HttpResponse:
    """Ask about the rows that were ticked in a list, naming each; archive them all once it is confirmed.

    `undo` is the address that restores those that it is given as `rows`.
    """
    found_rows = list(rows.filter(pk__in=ticked(request.POST.getlist("rows")), archived_at=None).order_by("pk"))
    if not found_rows:
        messages.warning(request, _("Nothing is selected: tick some in the first column."))
        return redirect(back)
    if request.POST.get("confirmed") != "1":
        what = counted(len(found_rows), noun)
        context = {"rows": found_rows, "back": back, "losses": losses, "what": what}
        return render(request, "shared/archive_several.html", context)
    with transaction.atomic():
        archived = [row.pk for row in found_rows if act(row)]
    text = ngettext(
        "Archived: {what}. You can restore it from the archive.",
        "Archived: {what}. You can restore them from the archive.",
        len(archived),
    ).format(what=counted(len(archived), noun))
    done_with_undo(request, text, f"{undo}?rows={','.join(map(str, archived))}")
    return redirect(back)


def restore_several(
    request: HttpRequest, rows: "QuerySet[Any]", *, noun: Noun, act: Callable[[Any], bool], back: str
) -> HttpResponse:
    """Restore the rows that an address names, those archived last first: as they were archived together."""
    ids = ticked(request.GET.get("rows", "").split(","))
    count, refused = 0, ""
    for row in rows.filter(pk__in=ids).exclude(archived_at=None).order_by("-archived_at", "-pk"):
        try:
            count += act(row)
        except HostsError as error:
            refused = error.message
    if count:
        messages.success(request, _("Restored: {what}.").format(what=counted(count, noun)))
    if refused:
        messages.error(request, refused)
    return redirect(back)


def ticked(texts: Sequence[str]) -> list[int]:
    """Return the ids of rows that were ticked in a list, as many as may be handled at once."""
    return row_ids(texts[:_MOST_AT_ONCE])


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
