"""The page that asks before something is archived, and says what will be hidden and what stays."""

from collections.abc import Callable, Sequence

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render


def archive_page(
    request: HttpRequest, *, title: str, losses: Sequence[str], back: str, done: str, act: Callable[[], bool]
) -> HttpResponse:
    """Ask on GET; archive on POST and go to `done`. `losses` say what is hidden, in words."""
    if request.method == "POST":
        if act():
            messages.success(request, f"Archived: {title}. It can be restored from the list of archived ones.")
        return redirect(done)
    return render(request, "pages/archive.html", {"title": title, "losses": losses, "back": back})


def counted(number: int, singular: str, plural: str = "") -> str:
    """Give a number with its noun: 1 pair, 3 pairs."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
