"""The list of sensitivities: what each is of, and what it says."""

from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.catalog import catalog
from benchweb.common.names import searched
from benchweb.regressions.judging.sensitivity import SeriesSensitivity as Usual
from benchweb.regressions.models import Sensitivity
from benchweb.web.sensitivities.forms import share_text
from benchweb.web.shared.lists import Column, within_scopes

COLUMNS = [
    Column(gettext_noop("Applies to"), "id"),
    Column(gettext_noop("Smallest change"), "floor_ratio", numeric=True),
    Column(gettext_noop("Noise multiple"), "noise_times", numeric=True),
    Column(gettext_noop("Action"), numeric=True),
]
SCOPES = ("environment", "plan")
_SEARCHED = ("plan__name", "environment__name", "kind", "metric")


@dataclass(frozen=True)
class SensitivityRow:
    """A sensitivity in words; an empty value is the default."""

    sensitivity: Sensitivity
    scope: str
    floor: str
    noise: str
    default_floor: str
    default_noise: str


def sensitivities_matching(query: QueryDict) -> "QuerySet[Sensitivity, Sensitivity]":
    """Return the sensitivities that an address means; those of all plans are among those of any plan."""
    rows = Sensitivity.objects.filter(archived_at__isnull=query.get("archived") != "1")
    rows = within_scopes(rows, query, SCOPES)
    if text := searched(query.get("q", "")):
        matching = Q(pk=None)
        for name in _SEARCHED:
            matching |= Q((f"{name}__icontains", text))
        rows = rows.filter(matching)
    return rows.select_related("plan", "environment")


def sensitivity_row(sensitivity: Sensitivity) -> SensitivityRow:
    """Return a sensitivity's row; it comes with its plan and environment."""
    usual = Usual()
    floor, noise = sensitivity.floor_ratio, sensitivity.noise_times
    return SensitivityRow(
        sensitivity=sensitivity,
        scope=scope_words(sensitivity),
        floor="" if floor is None else share_text(floor),
        noise="" if noise is None else f"{noise:g}",
        default_floor=share_text(usual.floor_ratio),
        default_noise=f"{usual.noise_times:g}",
    )


def scope_words(sensitivity: Sensitivity) -> str:
    """Name what a sensitivity is of."""
    kind, metric = catalog().kinds.get(sensitivity.kind), catalog().metrics.get(sensitivity.metric)
    parts = [
        sensitivity.plan and _("plan {name}").format(name=sensitivity.plan),
        sensitivity.environment and _("environment {name}").format(name=sensitivity.environment),
        kind.label if kind else sensitivity.kind,
        metric.label if metric else sensitivity.metric,
    ]
    return " · ".join(str(part) for part in parts if part)
