"""Take a result that another system pushes: once by its key, of a kind of the catalog or of one that it defines."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.catalog import Kind, ParameterError, catalog, validated_params
from benchweb.catalog.parts import TOOL
from benchweb.common.storable import is_figure
from benchweb.hosts.models import Pair
from benchweb.imports.models import Import
from benchweb.imports.own_kinds import MetricDefinition, define, definitions
from benchweb.imports.own_rules import Definer, DefinitionRefused
from benchweb.imports.trials import ImportedTrial, steps_of
from benchweb.imports.writing import run_write
from benchweb.plans.models import PlanVersion
from benchweb.plans.services import one_off_version, reported_version


class PushRefused(ValueError):
    """A result wasn't taken: `field` is the place in the body; `existing` has the same key with other content."""

    def __init__(self, field: str, message: str, existing: Import | None = None) -> None:
        super().__init__(message)
        self.field, self.existing = field, existing


@dataclass(frozen=True)
class PushedMetric:
    """A metric with one value for each repetition."""

    definition: MetricDefinition
    values: Sequence[float]


@dataclass(frozen=True)
class Push:
    """A result as it was pushed; `content` is the body in one spelling."""

    key: str
    tool: str
    kind: str
    params: Mapping[str, Any]
    metrics: Sequence[PushedMetric]
    content: str
    label: str = ""
    at: datetime | None = None
    is_judged: bool = True

    @property
    def digest(self) -> str:
        """Return what the content is known by, as SHA-256."""
        return hashlib.sha256(self.content.encode()).hexdigest()


def push_result(push: Push, *, pair: Pair, user: User | None) -> tuple[Import, bool]:
    """Write a result as a finished run of the pair; False beside it where the key's result was taken before.

    Raises PushRefused with nothing written, or Refused where the user may not push it.
    """
    if existing := _taken(push, pair, user):
        return existing, False
    at = push.at or timezone.now()
    if at > timezone.now():
        raise PushRefused("at", _("{at} is in the future: when was it measured?").format(at=at.isoformat()))
    _check_values(push)
    try:
        with transaction.atomic():
            made = _written(push, pair, at, user)
    except IntegrityError:
        # Pushed twice at the same moment.
        if existing := _taken(push, pair, user):
            return existing, False
        raise
    except DefinitionRefused as error:
        raise PushRefused(error.field, str(error)) from error
    finally:
        # Also where it was refused: what was read within the transaction is gone.
        definitions.read_now()
    return made, True


def _taken(push: Push, pair: Pair, user: User | None) -> Import | None:
    existing = Import.objects.filter(created_by_id=user.pk if user else None, key=push.key).first()
    if existing is not None and (existing.digest, existing.pair_id) != (push.digest, pair.pk):
        message = _("The key {key} has another result already, run {run}: push each result under a key of its own.")
        raise PushRefused("key", message.format(key=push.key, run=existing.run_id), existing)
    return existing


def _check_values(push: Push) -> None:
    counts = {len(metric.values) for metric in push.metrics}
    if len(counts) > 1:
        raise PushRefused("metrics", _("Each metric needs as many values: one for each repetition."))
    names = [metric.definition.name for metric in push.metrics]
    for index, metric in enumerate(push.metrics):
        if metric.definition.name in names[:index]:
            raise PushRefused(f"metrics.{index}.name", _("{name} is here twice.").format(name=names[index]))
        if not all(map(is_figure, metric.values)):
            raise PushRefused(f"metrics.{index}.values", _("A value is larger than can be kept: 2^63."))


def _written(push: Push, pair: Pair, at: datetime, user: User | None) -> Import:
    kind = catalog().tests.get(push.kind)
    name, params = _of_catalog(kind, push) if kind else _own(push, Definer(user, pair.environment))
    version = _version(push, name, params, is_test=kind is not None)
    trials = [
        ImportedTrial(
            name,
            {TOOL.name: push.tool} | params,
            {metric.definition.name: float(metric.values[index]) for metric in push.metrics},
            {"kind": name, "tool": push.tool, "key": push.key},
        )
        for index in range(len(push.metrics[0].values))
    ]
    run = run_write(version=version, trials=trials, pair=pair, at=at, user=user, is_judged=push.is_judged)
    return Import.objects.create(
        run=run,
        pair=pair,
        tools=[push.tool],
        digest=push.digest,
        text=push.content,
        key=push.key,
        created_by_id=user.pk if user else None,
    )


def _of_catalog(kind: Kind, push: Push) -> tuple[str, dict[str, Any]]:
    """Check a result of a kind that benchweb measures itself: its own metrics and parameters."""
    for index, metric in enumerate(push.metrics):
        known = kind.metrics.get(metric.definition.name)
        if known is None:
            message = _("{kind} has no metric {name}: it has {metrics}.")
            raise PushRefused(
                f"metrics.{index}.name",
                message.format(kind=kind.name, name=metric.definition.name, metrics=", ".join(kind.metrics)),
            )
        for field in ("unit", "better"):
            given, stands = getattr(metric.definition, field), getattr(known, field)
            if given is not None and given != stands:
                raise PushRefused(
                    f"metrics.{index}.{field}",
                    _("{name} has {field} {stands}, not {given}.").format(
                        name=known.key, field=field, stands=f"{stands!r}", given=f"{given!r}"
                    ),
                )
    try:
        return kind.name, validated_params(kind, push.params)
    except ParameterError as error:
        raise PushRefused(f"params.{error.field}", error.message) from error


def _own(push: Push, by: Definer) -> tuple[str, dict[str, Any]]:
    metrics = [metric.definition for metric in push.metrics]
    name, params = define(name=push.kind, label=push.label, metrics=metrics, params=push.params, by=by)
    definitions.read_now()
    return name, params


def _version(push: Push, kind: str, params: dict[str, Any], *, is_test: bool) -> PlanVersion:
    name = f"{push.tool}: {push.label or push.kind}"[:100]
    if not is_test:
        # Without parameters: one version for all that this system reports of the kind.
        return reported_version(name=name, steps=[{"kind": kind, "params": {}}])
    steps = steps_of([ImportedTrial(kind, params, {}, {})])
    return one_off_version(name=name, steps=steps, repetitions=1, order=PlanVersion.Order.SEQUENTIAL)


def content_of(body: Mapping[str, Any]) -> str:
    """Write a body in one spelling, so that the same again is known whatever the order of its members."""
    return json.dumps(body, sort_keys=True, ensure_ascii=False, default=str)
