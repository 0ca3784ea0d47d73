"""Kinds and metrics that other systems define with their results: read for the catalog, and added to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from django.utils.translation import gettext as _

from benchweb.catalog import Kind, Metric, Parameter, catalog
from benchweb.catalog.document import NO_OWN_DEFINITIONS, OWN_PREFIX, OwnDefinitions
from benchweb.catalog.parts import SlotPart
from benchweb.common.followed import Followed
from benchweb.imports.models import OwnKind, OwnMetric
from benchweb.imports.own_rules import (
    Definer,
    DefinitionRefused,
    check_kind_name,
    check_metric_names,
    check_parameter_name,
)

MOST_KINDS, MOST_METRICS_OF_KIND, MOST_PARAMETERS = 500, 50, 20
Better = Literal["higher", "lower", "neutral"]
_TYPES = {bool: "boolean", int: "number", float: "number", str: "string"}


@dataclass(frozen=True)
class MetricDefinition:
    """A metric as a caller describes it; unit and direction may be left out once it is defined."""

    name: str
    unit: str | None = None
    better: Better | None = None
    label: str = ""


def _stored() -> OwnDefinitions:
    """Read all of them; two queries at most."""
    rows = list(OwnKind.objects.order_by("pk"))
    metrics = {row.key: _metric(row) for row in OwnMetric.objects.all()} if rows else {}
    known = {**metrics, **catalog().test_metrics}
    # A kind whose metrics were all deleted has nothing to show: no page draws a kind without one.
    measuring = [row for row in rows if any(key in known for key in row.metrics)]
    return OwnDefinitions({row.name: _kind(row, known) for row in measuring}, metrics)


definitions = Followed(_stored, unread=NO_OWN_DEFINITIONS)


def define(
    *, name: str, label: str, metrics: Sequence[MetricDefinition], params: Mapping[str, Any], by: Definer
) -> tuple[str, dict[str, Any]]:
    """Add what is new of a kind, in the caller's transaction; return its full name and the parameters, checked.

    What is defined stays so: another unit, direction or type for a name is refused. Raise DefinitionRefused, or
    DefinitionForbidden for somebody who may not add what is new.
    """
    for index, metric in enumerate(metrics):
        _define_metric(metric, f"metrics.{index}", by)
    kind = _kind_to_use(name, label, by)
    added = [metric.name for metric in metrics if metric.name not in kind.metrics]
    new = [*added, *(parameter for parameter in params if parameter not in kind.parameters)]
    if new:
        by.demand(f"{kind.name}: {new[0]}", within=kind.environment_id)
    kind.metrics += added
    if len(kind.metrics) > MOST_METRICS_OF_KIND:
        raise DefinitionRefused("metrics", _("A kind has at most {most} metrics.").format(most=MOST_METRICS_OF_KIND))
    checked = _checked_params(kind, params)
    if new:
        kind.save(update_fields=["metrics", "parameters"])
    return kind.name, checked


def _kind_to_use(name: str, label: str, by: Definer) -> OwnKind:
    """Return the kind, made where it is new, and locked."""
    full_name = OWN_PREFIX + name
    kind = OwnKind.objects.select_for_update().filter(name=full_name).first()
    if kind is None:
        check_kind_name(name, label)
        by.demand(full_name, within=by.environment.pk)
        if OwnKind.objects.count() >= MOST_KINDS:
            message = _("There are {most} own kinds already, the most there can be: use one of them.")
            raise DefinitionRefused("kind", message.format(most=MOST_KINDS))
        defaults: dict[str, Any] = {"label": label or name, "metrics": [], "parameters": {}}
        defaults["environment"] = by.new_environment
        OwnKind.objects.get_or_create(name=full_name, defaults=defaults)
        # Somebody else's, where two make it at the same moment.
        kind = OwnKind.objects.select_for_update().get(name=full_name)
    by.check_use(kind, "kind")
    return kind


def _define_metric(metric: MetricDefinition, where: str, by: Definer) -> None:
    known = catalog().test_metrics.get(metric.name) or OwnMetric.objects.filter(key=metric.name).first()
    if known is None:
        check_metric_names(metric.name, metric.unit, metric.label, where)
        by.demand(metric.name, within=by.environment.pk)
        if metric.unit is None or metric.better is None:
            raise DefinitionRefused(
                f"{where}.unit" if metric.unit is None else f"{where}.better",
                _("{name} is new: give its unit, and whether higher or lower is better, or neutral.").format(
                    name=metric.name
                ),
            )
        label = metric.label or metric.name.replace("_", " ")
        defaults: dict[str, Any] = {"label": label, "unit": metric.unit, "better": metric.better}
        defaults["environment"] = by.new_environment
        known, _made = OwnMetric.objects.get_or_create(key=metric.name, defaults=defaults)
    if isinstance(known, OwnMetric):
        by.check_use(known, f"{where}.name")
    for field in ("unit", "better"):
        given, stands = getattr(metric, field), getattr(known, field)
        if given is not None and given != stands:
            raise DefinitionRefused(
                f"{where}.{field}",
                _("{name} is defined already with {field} {stands}: use another name for {given}.").format(
                    name=metric.name, field=field, stands=f"{stands!r}", given=f"{given!r}"
                ),
            )


def _checked_params(kind: OwnKind, params: Mapping[str, Any]) -> dict[str, Any]:
    """Note new parameters on the kind with their types; return the values in one spelling."""
    checked: dict[str, Any] = {}
    for name, value in params.items():
        check_parameter_name(name)
        given = _TYPES[type(value)]
        stands = kind.parameters.setdefault(name, given)
        if given != stands:
            raise DefinitionRefused(
                f"params.{name}",
                _("{name} is a {stands} in this kind, not a {given}.").format(name=name, stands=stands, given=given),
            )
        checked[name] = int(value) if isinstance(value, float) and value.is_integer() else value
    if len(kind.parameters) > MOST_PARAMETERS:
        raise DefinitionRefused("params", _("A kind has at most {most} parameters.").format(most=MOST_PARAMETERS))
    return checked


def _metric(row: OwnMetric) -> Metric:
    return Metric(
        key=row.key,
        label=row.label,
        unit=row.unit,
        better=cast(Better, row.better),
        combine="median",
        quantity=row.label,
    )


def _kind(row: OwnKind, metrics: Mapping[str, Metric]) -> Kind:
    of_kind = {key: metrics[key] for key in row.metrics if key in metrics}
    headline = next(iter(of_kind), "")
    return Kind(
        name=row.name,
        label=row.label,
        summary="",
        protocol="",
        exclusivity="background",
        parameters={name: _parameter(name, kind_of_value) for name, kind_of_value in row.parameters.items()},
        metrics=of_kind,
        headline=headline,
        live=headline,
        charts=[],
        slot=SlotPart([], 0.0),
        slot_when={},
        exclusive_when="",
        is_own=True,
    )


def _parameter(name: str, value_type: str) -> Parameter:
    label = name.replace("_", " ").capitalize()
    return Parameter(
        name=name, label=label, help="", schema={"type": value_type}, unit="", identity=True, advanced=False
    )
