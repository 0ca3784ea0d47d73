"""Plans: list, page, and the editor with its live preview."""

from collections.abc import Mapping
from dataclasses import replace

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop, ngettext, pgettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.charts.main_figures import figures_of_plans
from benchweb.common.rows import row_id
from benchweb.labels import labels_in_use
from benchweb.plans import selectors, services
from benchweb.plans.expansion import PlanError
from benchweb.plans.models import Plan
from benchweb.plans.templates import TEMPLATES, template_named
from benchweb.runs.lists import latest_of_plan
from benchweb.runs.models import Run
from benchweb.web.access.context import can_of
from benchweb.web.access.once import once
from benchweb.web.plans.detectable import detectable_section
from benchweb.web.plans.draft import (
    PlanDraft,
    changed,
    draft_of_form,
    draft_of_plan,
    draft_of_template,
    field_of,
    new_draft,
    stated,
    values_of,
)
from benchweb.web.plans.editor import Editor, editor, labels_of
from benchweb.web.plans.main_size import main_sizes
from benchweb.web.plans.preview import preview_of
from benchweb.web.plans.usage import MOST_VERSIONS, compared_versions, plan_usage
from benchweb.web.shared.archiving import archive_several, restore_several, retained_runs
from benchweb.web.shared.edits import OpenedForm, edits, opened_form
from benchweb.web.shared.forms import typed_labels
from benchweb.web.shared.lists import RUNS_DISPLAYED, Column, chosen_columns, list_page, listing
from benchweb.web.shared.plain_pages import PlainPages

COLUMNS = [
    Column(gettext_noop("Select")),
    Column(gettext_noop("Plan"), "name"),
    Column(gettext_noop("Steps"), key="steps"),
    Column(gettext_noop("Main figure"), numeric=True, key="figure"),
    Column(gettext_noop("Change"), key="change"),
    Column(gettext_noop("Last runs"), key="line"),
    Column(gettext_noop("Trials"), numeric=True, key="trials"),
    Column(gettext_noop("Maximum duration"), numeric=True, key="duration"),
    Column(gettext_noop("Added"), "created_at", key="added"),
]


@needs(Permission.READ)
@require_GET
def plan_list(request: HttpRequest) -> HttpResponse:
    """List plans with what their latest versions come to."""
    archived = request.GET.get("archived") == "1"
    text, label = request.GET.get("q", ""), request.GET.get("label", "")
    plans = selectors.plans_matching(text=text, label=label, archived=archived)
    page = listing(request, plans, columns=COLUMNS, sort="name", filters=["q", "label", "archived"])
    versions = selectors.latest_versions(plans=page.rows)
    figures = figures_of_plans([plan.pk for plan in page.rows])
    rows = [(plan, versions[plan.pk], preview_of(versions[plan.pk]), figures.get(plan.pk)) for plan in page.rows]
    columns = chosen_columns(request, "plans", COLUMNS)
    context = {
        "page": page.of_columns(columns.hidden),
        "rows": rows,
        "archived": archived,
        "templates": TEMPLATES,
        "columns": columns,
        "archive_url": can_of(request.user).address("plans_archive"),
        "label_url": can_of(request.user).address("plans_label"),
        "labels": labels_in_use(Plan),
    }
    return list_page(request, "plans/plans.html", context)


@needs(Permission.READ)
@require_GET
def plan_page(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Show a plan: one of its versions step by step, its versions, its recent runs."""
    plan = get_object_or_404(Plan, pk=plan_id)
    versions = list(plan.versions.order_by("-number"))
    requested = request.GET.get("version", str(versions[0].number))
    version = next((version for version in versions if str(version.number) == requested), None)
    if version is None:
        raise Http404(_("This plan has no version {asked}").format(asked=requested))
    context = {
        "plan": plan,
        "version": version,
        "versions": versions,
        "preview": preview_of(version),
        "main_sizes": main_sizes(version),
        "runs_filter": f"plan={plan.pk}",
        "runs": latest_of_plan(plan.pk, most=RUNS_DISPLAYED),
    }
    return render(request, "plans/plan.html", context)


@needs(Permission.WRITE)
@require_POST
def plan_main_size(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Choose the size of the sweep at which the plan's main figures are told; nothing chosen is the middle one."""
    plan = get_object_or_404(Plan, pk=plan_id)
    try:
        services.main_size_choose(plan=plan, size_bytes=row_id(request.POST.get("size", "")))
    except PlanError as error:
        messages.error(request, error.message)
    return redirect("web:plan", plan.pk)


@needs(Permission.READ)
@require_GET
def plan_detectable(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Say how small a change a plan's series can show; apart from its page, for it takes longer than that."""
    plan = get_object_or_404(Plan, pk=plan_id)
    return render(request, "plans/partials/detectable.html", {"detectable": detectable_section(plan.pk)})


@needs(Permission.WRITE)
@once
@require_http_methods(["GET", "POST"])
def plan_new(request: HttpRequest) -> HttpResponse:
    """Make a plan in the editor, from nothing, from a template (`?template=`) or from another plan (`?copy=`)."""
    draft = _draft(request, _start(request))
    errors: dict[str, str] = {}
    if request.POST.get("action") == "save":
        made, errors = _plan_created(draft)
        if made is not None:
            return redirect("web:plan", made.pk)
    more = {"templates": TEMPLATES, "template": request.GET.get("template", "")}
    return _editor_page(request, editor(draft, errors), _("New plan"), reverse("web:plans"), more)


@needs(Permission.WRITE)
@once
@edits("plans", "plan_id")
@require_http_methods(["GET", "POST"])
def plan_edit(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Change a plan: a new version, if what is tested changed; runs keep theirs."""
    plan = get_object_or_404(Plan, pk=plan_id)
    stored = draft_of_plan(plan)
    draft = _draft(request, stored)
    opened = opened_form(request.POST, stated(stored), stated(draft), labels_of(stored))
    title, back = _("Edit {plan}").format(plan=plan.name), reverse("web:plan", args=[plan.pk])
    errors: dict[str, str] = {}
    if request.POST.get("action") == "copy":
        made, errors = _plan_created(draft if draft.name != plan.name else replace(draft, name=_copy_name(plan)))
        if made is not None:
            messages.success(request, _("{plan} is saved as a plan of its own.").format(plan=made.name))
            return redirect("web:plan", made.pk)
    elif request.POST.get("action") == "save":
        values, errors = values_of(draft)
        if not errors and not opened.changes:
            try:
                services.plan_update(plan=plan, **vars(values), labels=typed_labels(draft.labels))
                return redirect(back)
            except PlanError as error:
                errors = {field_of(error, draft): error.message}
    more = {"plan": plan, "usage": plan_usage(plan), "opened": opened}
    return _editor_page(request, editor(draft, errors), title, back, more)


@needs(Permission.READ)
@require_GET
def plan_versions(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Show versions of a plan side by side: the latest, or those that the query string names (`?v=1&v=3`)."""
    plan = get_object_or_404(Plan, pk=plan_id)
    numbers = list(plan.versions.order_by("number").values_list("number", flat=True))
    requested = [number for number in numbers if str(number) in request.GET.getlist("v")]
    chosen = (requested or numbers)[-MOST_VERSIONS:]
    compared = compared_versions(plan.versions.filter(number__in=chosen))
    context = {"plan": plan, "numbers": numbers, "chosen": chosen, "most": MOST_VERSIONS, "compared": compared}
    return render(request, "plans/plan_versions.html", context)


@needs(Permission.WRITE)
@require_POST
def plan_keep(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Move a plan that was made for a single launch to the list of plans."""
    plan = get_object_or_404(Plan, pk=plan_id)
    if services.plan_keep(plan=plan):
        messages.success(request, _("{plan} is in the list of plans.").format(plan=plan.name))
    return redirect("web:plan", plan.pk)


@needs(Permission.RUN, checked_by_view=True)
@require_POST
def plan_steps(request: HttpRequest) -> HttpResponse:
    """Return the editor's steps after a button or another kind; the preview follows out of band."""
    draft = changed(draft_of_form(request.POST), request.POST.get("action", ""))
    return render(request, "plans/partials/steps.html", {"editor": editor(draft), "out_of_band": True})


@needs(Permission.RUN, checked_by_view=True)
@require_POST
def plan_preview(request: HttpRequest) -> HttpResponse:
    """Say what the plan as typed comes to, and put each error at its field out of band."""
    return render(
        request,
        "plans/partials/preview.html",
        {"editor": editor(draft_of_form(request.POST)), "out_of_band_errors": True},
    )


def _schedules_stranded(plan: Plan) -> list[str]:
    """Name the schedules that could launch nothing any more, if any."""
    names = list(plan.schedules.filter(archived_at=None).order_by("name").values_list("name", flat=True))
    comma = pgettext("between items of a list", ", ")
    text = ngettext(
        "The schedule {names} uses it, and launches nothing until it has another plan.",
        "{number} schedules use it, and launch nothing until they have another plan: {names}.",
        len(names),
    )
    return [text.format(number=len(names), names=comma.join(names))] if names else []


class PlanPages(PlainPages[Plan]):
    """Plans; their runs stay."""

    model, page_name, has_archived_pages = Plan, "plan", True
    name, path, list_name = "plan", "plans", "plans"
    noun = gettext_lazy("plan {name}")
    restored = gettext_lazy("Plan {name} is restored.")

    def losses(self, row: Plan) -> list[str]:
        runs = Run.objects.filter(plan_version__plan=row)
        return [_("It can no longer be launched."), retained_runs(runs), *_schedules_stranded(row)]

    def archive(self, row: Plan, by: User) -> bool:
        return services.plan_archive(plan=row)

    def restore(self, row: Plan, request: HttpRequest) -> bool:
        return services.plan_restore(plan=row)


@needs(Permission.WRITE)
@require_POST
def plans_archive(request: HttpRequest) -> HttpResponse:
    """Archive the ticked plans; their runs stay."""
    return archive_several(
        request,
        Plan.objects.all(),
        noun="plan",
        act=lambda plan: services.plan_archive(plan=plan),
        back=reverse("web:plans"),
        undo=reverse("web:plans_restore"),
        losses=[_("They can no longer be launched, and schedules that use them launch nothing."), _("Runs are kept.")],
    )


@needs(Permission.WRITE)
@require_POST
def plans_restore(request: HttpRequest) -> HttpResponse:
    """Undo the archiving of several plans."""
    act = services.plan_restore
    return restore_several(
        request, Plan.objects.all(), noun="plan", act=lambda plan: act(plan=plan), back=reverse("web:plans")
    )


def _draft(request: HttpRequest, start: PlanDraft) -> PlanDraft:
    if request.method == "GET":
        return start
    return changed(draft_of_form(request.POST), request.POST.get("action", ""))


def _start(request: HttpRequest) -> PlanDraft:
    if (template := template_named(request.GET.get("template", ""))) is not None:
        return draft_of_template(template)
    source = Plan.objects.filter(pk=row_id(request.GET.get("copy", "")) or 0).first()
    if source is None:
        return new_draft()
    return draft_of_plan(source, name=_copy_name(source))


def _copy_name(plan: Plan) -> str:
    return _("{plan} (copy)").format(plan=plan.name[:90])


def _plan_created(draft: PlanDraft) -> tuple[Plan | None, dict[str, str]]:
    """Create the plan as typed; else the errors by field."""
    values, errors = values_of(draft)
    if errors:
        return None, errors
    try:
        return services.plan_create(**vars(values), labels=typed_labels(draft.labels)), {}
    except PlanError as error:
        return None, {field_of(error, draft): error.message}


def _editor_page(
    request: HttpRequest, editor: Editor, title: str, back: str, more: Mapping[str, object]
) -> HttpResponse:
    context = {"editor": editor, "title": title, "back": back, **more}
    opened = more.get("opened")
    status = opened.status if isinstance(opened, OpenedForm) else 200
    return render(request, "plans/plan_editor.html", context, status=status)
