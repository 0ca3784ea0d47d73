"""Delete a run, or a host with all it has, or take an import back: named and confirmed by typing the name."""

from collections.abc import Callable
from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext
from django.views.decorators.http import require_http_methods

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.common.refusals import RefusedWrite
from benchweb.hosts.models import Host
from benchweb.imports.models import Import
from benchweb.ops.models import Removal
from benchweb.ops.removal.removals import (
    RemovalLosses,
    host_losses,
    host_remove,
    import_take_back,
    run_losses,
    run_remove,
)
from benchweb.runs.models import Run
from benchweb.runs.selectors import environments_of_run


@needs(Permission.ADMIN)
@require_http_methods(["GET", "POST"])
def run_delete(request: HttpRequest, run_id: int) -> HttpResponse:
    """Ask, naming what goes with the run, then have it deleted."""
    run = get_object_or_404(Run, pk=run_id)
    return _removal_page(
        request,
        title=_("run {number}").format(number=run.pk),
        word=str(run.pk),
        losses=run_losses(run),
        back=reverse("web:run", args=[run.pk]),
        done=reverse("web:runs"),
        act=lambda typed: run_remove(run, typed=typed),
    )


@needs(Permission.RUN, within=environments_of_run)
@require_http_methods(["GET", "POST"])
def import_delete(request: HttpRequest, run_id: int) -> HttpResponse:
    """Ask, naming what goes with an import, then have it deleted: for who made it, and for admins."""
    imported = get_object_or_404(Import.objects.select_related("run").defer("text"), run=run_id)
    return _removal_page(
        request,
        title=_("the import of run {number}").format(number=run_id),
        word=str(run_id),
        losses=run_losses(imported.run),
        back=reverse("web:imports"),
        done=reverse("web:imports"),
        act=lambda typed: import_take_back(imported, user=cast(User, request.user), typed=typed),
    )


@needs(Permission.ADMIN)
@require_http_methods(["GET", "POST"])
def host_delete(request: HttpRequest, host_id: int) -> HttpResponse:
    """Ask, naming what goes with the host, then have it deleted."""
    host = get_object_or_404(Host, pk=host_id)
    return _removal_page(
        request,
        title=_("host {host}").format(host=host.name),
        word=host.name,
        losses=host_losses(host),
        back=reverse("web:host", args=[host.pk]),
        done=reverse("web:hosts"),
        act=lambda typed: host_remove(host, typed=typed),
    )


def _removal_page(
    request: HttpRequest,
    *,
    title: str,
    word: str,
    losses: RemovalLosses,
    back: str,
    done: str,
    act: Callable[[str], Removal],
) -> HttpResponse:
    context = {"title": title, "word": word, "losses": _losses_text(losses), "back": back}
    if request.method == "POST":
        try:
            act(request.POST.get("typed", ""))
        except RefusedWrite as error:
            return render(request, "site/delete.html", context | {"error": error.message}, status=422)
        messages.success(request, _("{title} is being deleted; a worker does it in a moment.").format(title=title))
        return redirect(done)
    return render(request, "site/delete.html", context)


def _losses_text(losses: RemovalLosses) -> str:
    counted = [
        (losses.pairs, ngettext("{number} pair", "{number} pairs", losses.pairs)),
        (losses.runs, ngettext("{number} run", "{number} runs", losses.runs)),
        (losses.points, ngettext("{number} point", "{number} points", losses.points)),
        (losses.imports, ngettext("{number} import", "{number} imports", losses.imports)),
        (losses.series, ngettext("{number} series", "{number} series", losses.series)),
        (losses.host_alerts, ngettext("{number} alert", "{number} alerts", losses.host_alerts)),
        (losses.alerts, ngettext("parts of {number} alert", "parts of {number} alerts", losses.alerts)),
        (losses.baselines, ngettext("{number} baseline", "{number} baselines", losses.baselines)),
        (
            losses.report_entries,
            ngettext("{number} entry of reports", "{number} entries of reports", losses.report_entries),
        ),
        (losses.thresholds, ngettext("{number} threshold", "{number} thresholds", losses.thresholds)),
    ]
    words = [text.format(number=f"{number:,}") for number, text in counted if number]
    return pgettext("between items of a list", ", ").join(words)
