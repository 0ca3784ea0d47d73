"""Targets of a matrix: limits of one test that colour its cells and open alerts, added and removed on its page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.catalog import Metric, catalog
from benchweb.charts.matrix.figures import MatrixTable
from benchweb.common.rows import row_id
from benchweb.hosts.models import Environment, Pair
from benchweb.regressions.marks import Target
from benchweb.regressions.models import Threshold
from benchweb.regressions.thresholds.rules import (
    ThresholdValues,
    limit_read,
    metric_of,
    threshold_archive,
    threshold_create,
    threshold_restore,
)
from benchweb.regressions.transitions import AlertError
from benchweb.results.latest_medians import MatrixEnvironment
from benchweb.web.access.once import once
from benchweb.web.matrix.comparison import target_words

# Of a larger matrix a target is of an environment, or made on a smaller part.
_MOST_PAIRS = 144
_DIGEST_DIGITS = 64
_EXAMPLES = {"s": "200 us", "ratio": "1 %"}


@dataclass(frozen=True)
class DisplayedTarget:
    """A target with what it is of."""

    id: int
    words: str
    scope: str


def target_scopes(tables: Sequence[MatrixTable], environments: Sequence[MatrixEnvironment]) -> list[tuple[str, str]]:
    """Return what a target can be of: each environment, and each pair shown."""
    names = [
        (f"environment:{environment.pk}", _("all pairs of %(name)s") % {"name": environment.name})
        for environment in environments
    ]
    pairs = []
    for table in tables:
        items = {item.key: item.label for item in (*table.axes.rows, *table.axes.columns)}
        pairs += [
            (f"pair:{cell.pairs[0]}", f"{items[cell.row]} → {items[cell.column]}")
            for line in table.cells
            for cell in line
            if len(cell.pairs) == 1
        ]
    return [*names, *pairs[:_MOST_PAIRS]]


def limit_example(metric: Metric) -> str:
    """Return a limit as it may be typed in."""
    return _EXAMPLES.get(metric.unit, f"9.4 G{metric.unit}")


def displayed_targets(
    targets: Sequence[Target], scopes: Sequence[tuple[str, str]], metric: Metric
) -> list[DisplayedTarget]:
    """Say each target and what it is of; those of other environments and pairs are left out."""
    names = dict(scopes)
    in_force = []
    for target in targets:
        key = f"pair:{target.pair}" if target.pair else f"environment:{target.environment}"
        scope = _("everywhere") if not target.pair and not target.environment else names.get(key, "")
        if scope:
            in_force.append(DisplayedTarget(target.id, target_words(target, metric), scope))
    return in_force


@needs(Permission.WRITE)
@once
@require_POST
def matrix_target_add(request: HttpRequest) -> HttpResponse:
    """Make a target of the shown test: runs are judged by it from now on."""
    try:
        values = _values(request.POST)
        threshold_create(values, by=cast(User, request.user))
    except AlertError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, _("Target %(name)s: a run that misses it opens an alert.") % {"name": values.name})
    return _back(request)


@needs(Permission.WRITE)
@require_POST
def matrix_target_remove(request: HttpRequest, threshold_id: int) -> HttpResponse:
    """Archive a target, or take it up again."""
    threshold = get_object_or_404(Threshold, pk=threshold_id)
    if request.POST.get("action") == "restore":
        threshold_restore(threshold=threshold)
        messages.success(request, _("Target %(name)s holds again.") % {"name": threshold.name})
    else:
        threshold_archive(threshold=threshold, by=cast(User, request.user))
        messages.success(request, _("Target %(name)s removed.") % {"name": threshold.name})
    return _back(request)


def _values(data: QueryDict) -> ThresholdValues:
    """Read a target; raise AlertError."""
    kind, key = data.get("kind", ""), data.get("metric", "")
    metric = metric_of(kind, key)
    limit = limit_read(data.get("limit", ""), metric.unit)
    what, _colon, number = data.get("scope", "").partition(":")
    pk = row_id(number) or 0
    environment = Environment.objects.filter(pk=pk).first() if what == "environment" else None
    pair = Pair.objects.filter(pk=pk).select_related("environment").first() if what == "pair" else None
    if environment is None and pair is None:
        raise AlertError("scope", _("Choose what the target is of: an environment or a pair."))
    relation = Threshold.Relation.ABOVE if metric.better == "lower" else Threshold.Relation.BELOW
    words = target_words(Target(0, "", relation, limit, None, None), metric)
    return ThresholdValues(
        name=f"{words} · {catalog().kinds[kind].label}"[:100],
        kind=kind,
        metric=key,
        relation=relation,
        limit=limit,
        environment=environment,
        pair=pair,
        identity_digest=data.get("digest", "")[:_DIGEST_DIGITS],
    )


def _back(request: HttpRequest) -> HttpResponse:
    query = request.GET.urlencode()
    return redirect(f"{reverse('web:matrix')}?{query}" if query else reverse("web:matrix"))
