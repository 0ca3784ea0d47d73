"""Environments: list, page, create, edit, archive, restore."""

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_GET

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.hosts import selectors, services
from benchweb.hosts.models import Environment, Pair
from benchweb.hosts.pairs import first_pairs
from benchweb.hosts.selectors import environment_itself
from benchweb.results.series_summaries import SeriesScope
from benchweb.runs.lists import latest_of_pairs
from benchweb.runs.models import Run
from benchweb.web.hosts.forms import NamedForm
from benchweb.web.series.subject import subject_part
from benchweb.web.shared.archiving import archived_with_it, retained_runs
from benchweb.web.shared.lists import PAIRS_DISPLAYED, RUNS_DISPLAYED, Column
from benchweb.web.shared.plain_pages import PlainFormPages

COLUMNS = [
    Column(gettext_noop("Environment"), "name"),
    Column(gettext_noop("Description")),
    Column(gettext_noop("Pairs"), "pair_count", numeric=True),
    Column(gettext_noop("Added"), "created_at"),
]


class EnvironmentPages(PlainFormPages[Environment, NamedForm, NamedForm]):
    """Environments, listed with the number of their pairs; one is archived with its pairs."""

    model, page_name, has_archived_pages = Environment, "environment", True
    name, path, list_name = "environment", "environments", "environments"
    within = staticmethod(environment_itself)
    noun = gettext_lazy("environment {name}")
    restored = gettext_lazy("Environment {name} is restored.")
    undo_query = "?undo=1"
    list_template, columns = "environments/environments.html", COLUMNS
    new_form = change_form = NamedForm
    add_title = gettext_lazy("Add an environment")

    def matching(self, query: QueryDict) -> "QuerySet[Environment]":
        return selectors.environments_matching(text=query.get("q", ""), archived=query.get("archived") == "1")

    def losses(self, row: Environment) -> list[str]:
        pairs = row.pairs.filter(archived_at=None).count()
        return [archived_with_it({"pair": pairs}), retained_runs(Run.objects.filter(pair__environment=row))]

    def archive(self, row: Environment, by: User) -> bool:
        return services.archive(row=row)

    def restore(self, row: Environment, request: HttpRequest) -> bool:
        """Bring an archived environment back; its pairs are restored one by one."""
        return services.restore(row=row, whole="undo" in request.GET)

    def create(self, form: NamedForm, request: HttpRequest) -> Environment:
        return services.environment_create(**form.cleaned_data)

    def update(self, row: Environment, form: NamedForm) -> None:
        services.environment_update(environment=row, **form.cleaned_data)


@needs(Permission.READ)
@require_GET
def environment_page(request: HttpRequest, environment_id: int) -> HttpResponse:
    """Show an environment: its pictures, what changed, pairs and recent runs."""
    environment = get_object_or_404(Environment, pk=environment_id)
    pairs = first_pairs({"environment": environment.pk}, most=PAIRS_DISPLAYED)
    context = {
        "environment": environment,
        **subject_part(request, {"environment": environment.pk}, SeriesScope(environment=environment.pk)),
        "pairs": pairs,
        "pair_total": pairs[0].total if pairs else 0,
        "pairs_filter": f"environment={environment.pk}",
        "pair_query": f"?environment={environment.pk}",
        "runs_filter": f"environment={environment.pk}",
        "runs": latest_of_pairs(Pair.objects.filter(environment=environment), most=RUNS_DISPLAYED),
    }
    return render(request, "environments/environment.html", context)
