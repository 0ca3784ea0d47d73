"""Plans: list, page, and the editor with its live preview."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext, pgettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchweb.plans import selectors, services
from benchweb.plans.expansion import PlanError
from benchweb.plans.models import Plan
from benchweb.runs.lists import latest_runs
from benchweb.runs.models import Run
from benchweb.web.plans.detectable import detectable_section
from benchweb.web.plans.draft import PlanDraft, changed, draft_of_form, draft_of_version, field_of, new_draft, values_of
from benchweb.web.plans.editor import Editor, editor, preview_of
from benchweb.web.shared.archiving import archive_page, retained_runs
from benchweb.web.shared.lists import RUNS_DISPLAYED, Column, list_page, listing

COLUMNS = [
    Column(gettext_noop("Plan"), "name"),
    Column(gettext_noop("Steps")),
    Column(gettext_noop("Trials"), numeric=True),
    Column(gettext_noop("Maximum duration"), numeric=True),
    Column(gettext_noop("Added"), "created_at"),
]


@login_required
@require_GET
def plan_list(request: HttpRequest) -> HttpResponse:
    """List plans with what their latest versions come to."""
    archived = request.GET.get("archived") == "1"
    plans = selectors.plans_matching(text=request.GET.get("q", ""), archived=archived)
    page = listing(request, plans, columns=COLUMNS, sort="name", filters=["q", "archived"])
    versions = selectors.latest_versions(plans=page.rows)
    rows = [(plan, versions[plan.pk], preview_of(versions[plan.pk])) for plan in page.rows]
    return list_page(request, "plans/plans.html", {"page": page, "rows": rows, "archived": archived})


@login_required
@require_GET
def plan_page(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Show a plan: one of its versions step by step, its versions, its recent runs."""
    plan = get_object_or_404(Plan, pk=plan_id)
    versions = list(plan.versions.order_by("-number"))
    asked = request.GET.get("version", str(versions[0].number))
    version = next((version for version in versions if str(version.number) == asked), None)
    if version is None:
        raise Http404(_("This plan has no version {asked}").format(asked=asked))
    context = {
        "plan": plan,
        "version": version,
        "versions": versions,
        "preview": preview_of(version),
        "runs_filter": f"plan={plan.pk}",
        "runs": latest_runs({"plan": plan.pk}, most=RUNS_DISPLAYED),
    }
    return render(request, "plans/plan.html", context)


@login_required
@require_GET
def plan_detectable(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Say how small a change a plan's series can show; apart from its page, for it takes longer than that."""
    plan = get_object_or_404(Plan, pk=plan_id)
    return render(request, "plans/partials/detectable.html", {"detectable": detectable_section(plan.pk)})


@login_required
@require_http_methods(["GET", "POST"])
def plan_new(request: HttpRequest) -> HttpResponse:
    """Make a plan in the editor."""
    draft = _draft(request, new_draft())
    if not _saves(request):
        return _editor_page(request, editor(draft), _("New plan"), reverse("web:plans"))
    values, errors = values_of(draft)
    if not errors:
        try:
            plan = services.plan_create(**vars(values))
            return redirect("web:plan", plan.pk)
        except PlanError as error:
            errors = {field_of(error, draft): error.message}
    return _editor_page(request, editor(draft, errors), _("New plan"), reverse("web:plans"))


@login_required
@require_http_methods(["GET", "POST"])
def plan_edit(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Change a plan: a new version, if what is tested changed; runs keep theirs."""
    plan = get_object_or_404(Plan, pk=plan_id)
    latest = plan.versions.order_by("-number")[0]
    draft = _draft(request, draft_of_version(plan.name, latest))
    title, back = _("Edit {plan}").format(plan=plan.name), reverse("web:plan", args=[plan.pk])
    if not _saves(request):
        return _editor_page(request, editor(draft), title, back)
    values, errors = values_of(draft)
    if not errors:
        try:
            services.plan_update(plan=plan, **vars(values))
            return redirect(back)
        except PlanError as error:
            errors = {field_of(error, draft): error.message}
    return _editor_page(request, editor(draft, errors), title, back)


@login_required
@require_POST
def plan_steps(request: HttpRequest) -> HttpResponse:
    """Return the editor's steps after a button or another kind; the preview follows out of band."""
    draft = changed(draft_of_form(request.POST), request.POST.get("action", ""))
    return render(request, "plans/partials/steps.html", {"editor": editor(draft), "out_of_band": True})


@login_required
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


@login_required
@require_http_methods(["GET", "POST"])
def plan_archive(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Archive a plan; its runs stay."""
    plan = get_object_or_404(Plan, pk=plan_id)
    runs = Run.objects.filter(plan_version__plan=plan)
    return archive_page(
        request,
        title=_("plan {plan}").format(plan=plan.name),
        losses=[
            _("It can no longer be launched."),
            retained_runs(runs),
            *_schedules_stranded(plan),
        ],
        back=reverse("web:plan", args=[plan.pk]),
        done=reverse("web:plans"),
        act=lambda: services.plan_archive(plan=plan),
    )


@login_required
@require_POST
def plan_restore(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Bring an archived plan back."""
    plan = get_object_or_404(Plan, pk=plan_id)
    if services.plan_restore(plan=plan):
        messages.success(request, _("Plan {plan} is restored.").format(plan=plan.name))
    return redirect("web:plan", plan.pk)


def _draft(request: HttpRequest, start: PlanDraft) -> PlanDraft:
    if request.method == "GET":
        return start
    return changed(draft_of_form(request.POST), request.POST.get("action", ""))


def _saves(request: HttpRequest) -> bool:
    return request.method == "POST" and request.POST.get("action") == "save"


def _editor_page(request: HttpRequest, shown: Editor, title: str, back: str) -> HttpResponse:
    return render(request, "plans/plan_editor.html", {"editor": shown, "title": title, "back": back})
