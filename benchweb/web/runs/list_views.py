"""The list of runs, and what is done with several at once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext
from django.views.decorators.http import require_POST

from benchweb.accounts.permissions import Permission, access_of
from benchweb.accounts.roles.needs import needs
from benchweb.charts.history.choices import MOST_PAIRS
from benchweb.charts.main_figures import figures_of_runs
from benchweb.common.formatting import typed_number
from benchweb.common.names import name_key, searched
from benchweb.common.rows import row_id
from benchweb.hosts.models import Environment, Host
from benchweb.hosts.pairs import pair_choices
from benchweb.labels import with_label
from benchweb.plans.selectors import plan_choices, versions_of_size
from benchweb.runs import services
from benchweb.runs.lists import listed_runs
from benchweb.runs.models import FAULTY_STATES, OPEN_STATES, Run, State
from benchweb.runs.selectors import environments_of_runs
from benchweb.state_words import state_word
from benchweb.web.chosen_rows.export import csv_answer
from benchweb.web.chosen_rows.labels import rows_labelled
from benchweb.web.chosen_rows.tables import TABLES
from benchweb.web.runs.launch_days import LAUNCH_DAYS, launched_within
from benchweb.web.runs.rows import COLUMNS, run_rows
from benchweb.web.shared.archiving import ticked
from benchweb.web.shared.chips import Filter, FilterLine, FilterNote
from benchweb.web.shared.lists import MOST_RUNS_COUNTED, choices_of_all, chosen_columns, list_page, listing, posted_back
from benchweb.web.shared.zones import reader_zone

_BY_ID = {
    "plan": "plan_version__plan_id",
    "pair": "pair_id",
    "environment": "pair__environment_id",
    "campaign": "campaign_id",
}
# In the address: whatever ended and has no whole result.
WITHOUT_RESULT = "without"
_FILTERS = ("q", "state", *_BY_ID, "host", "size", "label", *LAUNCH_DAYS)


@needs(Permission.READ)
def run_list(request: HttpRequest) -> HttpResponse:
    """Show runs as the query string filters, sorts and pages them; htmx gets the filters and the table."""
    # Which runs, by a plan that knows the filters' values; what their lines show, by one for all.
    runs = _filtered(request.GET, reader_zone(request)).values_list("pk", named=True)
    page = listing(request, runs, columns=COLUMNS, sort="-pk", filters=_FILTERS, most_counted=MOST_RUNS_COUNTED)
    columns = chosen_columns(request, "runs", COLUMNS)
    lines = listed_runs([row.pk for row in page.rows])
    rows = run_rows(lines, figures=figures_of_runs([line.pk for line in lines], size_bytes=_size(request.GET)))
    context = {"listing": page.of_columns(columns.hidden), "rows": rows, "columns": columns}
    context |= {"filters": _filter_line(request.GET, page.filters)}
    if request.htmx and not request.htmx.boosted:  # type: ignore[attr-defined]
        return list_page(request, "runs/partials/list.html", context)
    return render(request, "runs/runs.html", context)


@needs(Permission.READ, checked_by_view=True)
@require_POST
def runs_bulk(request: HttpRequest) -> HttpResponseBase:
    """Compare, report, export, label or cancel the ticked runs; what is lost by cancelling is told before."""
    ids = ticked(request.POST.getlist("runs"))
    back = posted_back(request, "web:runs")
    if not ids:
        messages.warning(request, _("No run is selected: tick some in the first column."))
        return redirect(back)
    action = request.POST.get("action", "")
    if action == "compare":
        return redirect(f"{reverse('web:compare')}?runs={','.join(map(str, sorted(ids)))}")
    if action == "report":
        return redirect(f"{reverse('web:report_new')}?runs={','.join(map(str, sorted(ids)))}")
    if action == "export":
        return csv_answer(request, TABLES["runs"], ids)
    access_of(request.user).demand(Permission.RUN, environments_of_runs(ids))
    if action in ("label", "unlabel"):
        return rows_labelled(request, Run.objects.filter(pk__in=ids), "run", back)
    return _cancelled(request, ids, back)


def _cancelled(request: HttpRequest, ids: Sequence[int], back: str) -> HttpResponse:
    opened = Run.objects.filter(pk__in=ids, state__in=OPEN_STATES, cancel_requested_at=None)
    runs = listed_runs(list(opened.order_by("-pk").values_list("pk", flat=True)))
    if not runs:
        messages.warning(request, _("Nothing to cancel: every run has completed or is already stopping."))
        return redirect(back)
    if request.POST.get("confirmed") != "1":
        return render(request, "runs/cancel_runs.html", {"runs": runs, "back": back})
    count = services.runs_cancel(run_ids=[run.pk for run in runs])
    text = ngettext("{count} run is cancelled.", "{count} runs are cancelled.", count)
    messages.success(request, text.format(count=count))
    return redirect(back)


def _filtered(query: QueryDict, zone: ZoneInfo) -> QuerySet[Run]:
    runs = launched_within(Run.objects.all(), query, zone)
    if query.get("state") == WITHOUT_RESULT:
        runs = runs.filter(state__in=FAULTY_STATES)
    elif query.get("state") in State.values:
        runs = runs.filter(state=query["state"])
    requested = {name: query.get(name, "").strip() for name in _FILTERS}
    for name, field in _BY_ID.items():
        if requested[name]:
            runs = runs.filter(**{field: _id(requested[name])})
    if requested["host"]:
        host = _id(requested["host"])
        runs = runs.filter(Q(pair__source__host=host) | Q(pair__sink__host=host))
    if requested["size"]:
        size_bytes = _size(query)
        runs = runs.none() if size_bytes is None else runs.filter(plan_version__in=versions_of_size(size_bytes))
    if requested["label"]:
        runs = with_label(runs, requested["label"])
    return runs.filter(_text_matches(searched(requested["q"]))) if requested["q"] else runs


def _size(query: QueryDict) -> int | None:
    """Return the message size that the query string names, in bytes, as in a plan; None for none and for no size."""
    # However it is written: 4 kib, 4KiB, 4096 bytes.
    text = query.get("size", "").strip().upper().removesuffix("BYTES").strip().replace("I", "i")
    number = typed_number(text)
    return None if number is None or number < 0 else round(number)


def _text_matches(text: str) -> Q:
    matches = Q(pk=_id(text)) | Q(plan_version__plan__name__icontains=text) | Q(reason__icontains=text)
    for end in ("source", "sink"):
        matches |= Q((f"pair__{end}__host__name_key__contains", name_key(text)))
    return matches


def _id(text: str) -> int:
    """Return the id that a query string names; 0, which no row has, for anything else."""
    return row_id(text) or 0


def _filter_line(query: QueryDict, chosen: Mapping[str, str]) -> FilterLine:
    """Declare the filters; a pair is chosen by its hosts' names where there are too many for a list. Two queries."""
    rows = choices_of_all(
        plans=plan_choices(row_id(query.get("plan", ""))),
        environments=Environment.objects.filter(archived_at=None),
        hosts=Host.objects.filter(archived_at=None),
    )
    plans, environments, hosts = (
        [(str(pk), name) for pk, name in rows[of]] for of in ("plans", "environments", "hosts")
    )
    pairs = [(str(pk), name) for pk, name in pair_choices(most=MOST_PAIRS, chosen=_id(query.get("pair", "")))]
    states = [*((state, state_word(state)) for state in State.values), (WITHOUT_RESULT, _("incomplete"))]
    text = _("Plan, host, reason or run number")
    offered = [
        Filter("q", _("Search runs"), form="search", hint=text, is_main=True),
        Filter("state", _("State"), options=states, any=_("any state"), is_main=True),
        Filter("plan", _("Plan"), options=plans, any=_("any plan"), is_main=True),
        Filter("environment", _("Environment"), options=environments, any=_("any environment")),
        Filter("host", _("Host"), options=hosts, any=_("any host")),
        *([Filter("pair", _("Pair"), options=pairs, any=_("any pair"), is_main=True)] if pairs else []),
        Filter("size", _("Message size"), form="text", hint=_("Size, such as 4 KiB")),
        Filter("from", _("Launched from"), form="date", lead=_("launched from")),
        Filter("to", _("Launched until"), form="date", lead=pgettext("the last day", "to")),
    ]
    names = [name for name in ("label", "campaign") if chosen[name]]
    return FilterLine(
        reverse("web:runs"),
        "#runs-page",
        [replace(each, chosen=chosen[each.name]) for each in offered],
        carried=[(name, chosen[name]) for name in names],
        notes=[_note(name, chosen[name]) for name in names],
    )


def _note(name: str, value: str) -> FilterNote:
    """Say what no control chooses: a label, or the campaign that launched the runs."""
    every, label = reverse("web:runs"), _("All runs")
    if name == "label":
        return FilterNote(_("labelled {label}").format(label=value), every, label)
    number = row_id(value)
    campaign = reverse("web:campaign", args=[number]) if number else ""
    return FilterNote(_("launched together as campaign {number}").format(number=value), every, label, campaign)
