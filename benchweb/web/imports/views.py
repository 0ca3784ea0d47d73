"""Preview and import other tools' results; the latest imports below."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.catalog.reasons import reason_of_error
from benchweb.catalog.translation import reason_text
from benchweb.common.exchange import check_wanted
from benchweb.common.rows import row_ids
from benchweb.imports.models import Import
from benchweb.imports.services import ImportRefused, import_results
from benchweb.runs.models import Trial
from benchweb.toolformats.plain_text import still_wanted
from benchweb.web.access.once import once
from benchweb.web.imports.forms import MOST_FILES, ImportForm
from benchweb.web.imports.page import FileFound, found

# All that one form may import are among them.
_MOST_LISTED = MOST_FILES + 1


@needs(Permission.READ, post=Permission.RUN, checked_by_view=True)
@once
@require_http_methods(["GET", "POST"])
def imports(request: HttpRequest) -> HttpResponse:
    """Show the form on GET; import on POST, each file a run of its own: of one go to it, of more offer what is next.

    A script that sends one file after the other is answered in JSON, and 400 where the form is at fault.
    """
    if request.method != "POST":
        return _page(request, ImportForm(initial={"pair": request.GET.get("pair")}))
    form = ImportForm(request.POST, request.FILES)
    is_script = request.get_preferred_type(["text/html", "application/json"]) == "application/json"
    if not form.is_valid():
        return HttpResponse(status=400) if is_script else _page(request, form)
    files = found(form.cleaned_data, still_wanted)
    outcomes = [_imported_file(request, form, file) for file in files]
    if is_script:
        return _answer(outcomes)
    for outcome in outcomes:
        (messages.success if outcome.made else messages.error)(request, outcome.said)
    made = [outcome.made for outcome in outcomes if outcome.made]
    if not made:
        return _page(request, form, files)
    if len(made) == 1:
        return redirect("web:run", made[0].run_id)
    return redirect(f"{reverse('web:imports')}?runs={','.join(str(row.run_id) for row in made)}")


@needs(Permission.RUN, checked_by_view=True)
@require_POST
def import_preview(request: HttpRequest) -> HttpResponse:
    """Return what the files and the text hold, for the part of the page that shows it."""
    form = ImportForm(request.POST, request.FILES, is_preview=True)
    files = found(form.cleaned_data, partial(check_wanted, request)) if form.is_valid() else []
    return render(request, "imports/partials/preview.html", {"form": form, "files": files, "is_preview": True})


@dataclass(frozen=True)
class _Outcome:
    """What became of one file: what was made of it, and the sentence that tells it or why nothing was."""

    said: str
    made: Import | None = None


def _answer(outcomes: Sequence[_Outcome]) -> HttpResponse:
    """Tell a script what became of the file that it sent."""
    run = next((outcome.made.run_id for outcome in outcomes if outcome.made), None)
    said = " ".join(outcome.said for outcome in outcomes)
    return JsonResponse({"run": run, "said": said}, status=201 if run else 422)


def _imported_file(request: HttpRequest, form: ImportForm, file: FileFound) -> _Outcome:
    """Import one file; what is refused is told, and the others go on."""
    name = file.name or _("The pasted text")
    if file.read is None:
        return _Outcome(f"{name}: {file.error}")
    try:
        made = import_results(
            file.read,
            pair=form.cleaned_data["pair"],
            at=form.cleaned_data["at"],
            file_name=file.name,
            is_judged=form.cleaned_data["is_judged"],
            user=cast(User, request.user),
        )
    except ImportRefused as error:
        return _Outcome(f"{name}: {reason_text(reason_of_error(error))}")
    return _Outcome(_("{name} is imported as run {run}.").format(name=name, run=made.run_id), made)


def _page(request: HttpRequest, form: ImportForm, files: list[FileFound] | None = None) -> HttpResponse:
    rows = Import.objects.select_related("pair__source__host", "pair__sink__host", "pair__environment", "created_by")
    imports = list(rows.defer("text")[:_MOST_LISTED])
    chosen = row_ids(request.GET.get("runs", "").split(",")[:_MOST_LISTED])
    made = [row for row in imports if row.run_id in chosen]
    context = {"form": form, "files": files or [], "imports": imports, "made": made, "history": _history(made)}
    return render(request, "imports/imports.html", context)


def _history(made: list[Import]) -> str:
    """Return the address at which imported results stand beside all others of their pair; empty without any."""
    trial = Trial.objects.filter(run__in=[row.run_id for row in made]).order_by("run_id", "index").first()
    if trial is None:
        return ""
    query = {"pair": str(made[0].pair_id), "kind": trial.kind, "view": "sizes", "over": "all"}
    return f"{reverse('web:history')}?{urlencode(query)}"
