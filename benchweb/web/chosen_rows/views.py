"""Compare the rows ticked in any list, and export them."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.charts.comparison.sides import MOST_SIDES, sides_query
from benchweb.web.chosen_rows.export import csv_answer
from benchweb.web.chosen_rows.tables import TABLES, ListTable
from benchweb.web.shared.archiving import ticked
from benchweb.web.shared.lists import posted_back


@needs(Permission.READ)
@require_POST
def ticked_compare(request: HttpRequest, list_name: str) -> HttpResponse:
    """Compare what was measured of the ticked rows, a side for each."""
    table, ids = _table(list_name), ticked(request.POST.getlist("rows"))
    if not 2 <= len(ids) <= MOST_SIDES:
        messages.warning(request, _("Select 2 to {most} rows to compare.").format(most=MOST_SIDES))
        return redirect(posted_back(request, f"web:{list_name}"))
    return redirect(f"{reverse('web:compare')}?{sides_query(*({table.side: str(pk)} for pk in ids))}")


@needs(Permission.READ)
@require_POST
def ticked_export(request: HttpRequest, list_name: str) -> HttpResponseBase:
    """Return the ticked rows with their main figures as CSV."""
    table, ids = _table(list_name), ticked(request.POST.getlist("rows"))
    if not ids:
        messages.warning(request, _("Nothing is selected: tick some in the first column."))
        return redirect(posted_back(request, f"web:{list_name}"))
    return csv_answer(request, table, ids)


def _table(list_name: str) -> ListTable:
    if list_name not in TABLES:
        raise Http404
    return TABLES[list_name]
