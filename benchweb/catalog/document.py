"""The catalog as typed objects, read once a process."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from math import prod
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchweb.catalog.parts import SOURCES, TOOL, Chart, Exclusivity, Metric, Parameter, Params, SlotPart
from benchweb.catalog.translation import TranslatedText

CATALOG_FILE = Path(__file__).resolve().parents[2] / "engine" / "schema" / "catalog.json"
# Before the names of kinds that other systems define: no kind of a later catalog can be one of them.
OWN_PREFIX = "own."


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A test kind with its own parameters (overrides applied) and metrics, in the catalog's order."""

    name: str
    label: TranslatedText = TranslatedText()
    summary: TranslatedText = TranslatedText()
    protocol: str
    # The ends that a test of it has.
    roles: list[Literal["source", "sink"]] = field(default_factory=lambda: ["source", "sink"])
    exclusivity: Exclusivity
    parameters: dict[str, Parameter]
    metrics: dict[str, Metric]
    headline: str
    live: str
    charts: list[Chart]
    slot: SlotPart
    # What a trial takes besides while one of these parameters isn't its default.
    slot_when: dict[str, SlotPart]
    # A parameter that makes a trial exclusive when it isn't its default; empty for none.
    exclusive_when: str
    # Tools that the engine has measure where they are installed; their results are series of their own.
    tools: list[str] = field(default_factory=list)
    # Defined by another system, which measures it: no plan has it.
    is_own: bool = False

    @property
    def is_of_one_host(self) -> bool:
        """Tell whether it measures one host, without a peer."""
        return "sink" not in self.roles

    @cached_property
    def loss(self) -> str:
        """Name the metric that tells what was lost; empty where there is none."""
        return next((name for name, metric in self.metrics.items() if metric.is_loss), "")

    @cached_property
    def sweeps(self) -> list[Chart]:
        """Return its charts over the parameter that its first one is swept over; of each the first metric is drawn."""
        charts = [chart for chart in self.charts if chart.form == "sweep" and chart.x in self.parameters]
        return [chart for chart in charts if chart.x == charts[0].x]

    @cached_property
    def swept_size(self) -> str:
        """Name the size that its charts sweep; empty for a kind that sweeps none."""
        return next((chart.x for chart in self.charts if chart.x and self.parameters[chart.x].is_size), "")

    @cached_property
    def swept_metrics(self) -> list[str]:
        """Name the metrics that are drawn over what is swept."""
        return list(dict.fromkeys(chart.metrics[0] for chart in self.sweeps))

    def filled(self, params: Mapping[str, Any]) -> Params:
        """Return every parameter a value: the given one, else its default."""
        return {name: params.get(name, parameter.default) for name, parameter in self.parameters.items()}

    @cached_property
    def stated_defaults(self) -> Params:
        """Return the parameters that no figure is told without, at their defaults: an identity leaves those unsaid.

        They are what this kind's charts sweep, and the sizes of what is sent. Where something else than a size is
        swept, a size may be another's: a server's own file.
        """
        swept = {chart.x for chart in self.charts if chart.x}
        is_of_sizes = not swept or any(self.parameters[name].is_size for name in swept)
        stated = [
            name for name, parameter in self.parameters.items() if name in swept or (is_of_sizes and parameter.is_size)
        ]
        return {name: self.parameters[name].default for name in stated}

    def measured_seconds(self, params: Mapping[str, Any]) -> float:
        """Seconds of traffic that one trial asks for: the sum of the slot's products of parameters."""
        return sum(
            prod(self._factor(params, factor) for factor in factors)
            for part in self._slot_parts(params)
            for factors in part.products
        )

    def slot_seconds(self, params: Mapping[str, Any]) -> float:
        """Seconds that one trial may occupy its hosts, set-up and drain included."""
        overhead_seconds = sum(part.overhead_seconds for part in self._slot_parts(params))
        return self.measured_seconds(params) + overhead_seconds

    def exclusivity_of(self, params: Mapping[str, Any]) -> Exclusivity:
        """Return the class of a trial with these parameters."""
        if self.exclusive_when and self._is_set(params, self.exclusive_when):
            return "exclusive"
        return self.exclusivity

    def _slot_parts(self, params: Mapping[str, Any]) -> list[SlotPart]:
        return [self.slot, *(part for name, part in self.slot_when.items() if self._is_set(params, name))]

    def _is_set(self, params: Mapping[str, Any], name: str) -> bool:
        return bool(self._value(params, name) != self.parameters[name].default)

    def _factor(self, params: Mapping[str, Any], factor: str | float) -> float:
        return float(self._value(params, factor) if isinstance(factor, str) else factor)

    def _value(self, params: Mapping[str, Any], name: str) -> Any:
        return params[name] if name in params else self.parameters[name].default

    @cached_property
    def series_parameters(self) -> dict[str, Parameter]:
        """Return the parameters that a series may have: a test's own, and those that results add."""
        return {TOOL.name: TOOL, SOURCES.name: SOURCES, **self.parameters}

    def identity(self, params: Mapping[str, Any]) -> Params:
        """Return the parameters that tell one series from another, defaults left out."""
        return {
            name: _identity_value(parameter, params[name])
            for name, parameter in sorted(self.series_parameters.items())
            if parameter.identity and name in params and params[name] != parameter.default
        }

    def identities(self, params: Mapping[str, Any]) -> list[Params]:
        """Return the identities that a test's results may have: the engine's own, and one for each tool it may use."""
        return [self.identity(params), *(self.identity({**params, TOOL.name: tool}) for tool in self.tools)]


class OwnDefinitions(NamedTuple):
    """Kinds that other systems define with their results, and their metrics, by name."""

    kinds: Mapping[str, Kind]
    metrics: Mapping[str, Metric]


NO_OWN_DEFINITIONS = OwnDefinitions({}, {})


class OwnKinds:
    """What this process knows of such kinds: none is changed, so that what it knows is at most late.

    This room has no ORM: who keeps the definitions registers what returns them (benchweb.imports.apps).
    """

    def __init__(self) -> None:
        self._known: Callable[[], OwnDefinitions] = lambda: NO_OWN_DEFINITIONS
        self._merged: dict[int, tuple[Any, OwnDefinitions, dict[str, Any]]] = {}

    def register(self, known: Callable[[], OwnDefinitions]) -> None:
        """Take what returns the definitions; the same object as long as they are the same."""
        self._known = known

    def kinds_beside(self, shipped: dict[str, Kind]) -> dict[str, Kind]:
        """Return the catalog's kinds and these."""
        known = self._known()
        return self._beside(shipped, known, known.kinds) if known.kinds else shipped

    def metrics_beside(self, shipped: dict[str, Metric]) -> dict[str, Metric]:
        """Return the catalog's metrics and these; of one name the catalog's."""
        known = self._known()
        return self._beside(shipped, known, known.metrics) if known.metrics else shipped

    def _beside(self, shipped: dict[str, Any], known: OwnDefinitions, added: Mapping[str, Any]) -> dict[str, Any]:
        merged = self._merged.get(id(shipped))
        if merged is None or merged[0] is not shipped or merged[1] is not known:
            merged = (shipped, known, {**added, **shipped} if added is known.metrics else {**shipped, **added})
            self._merged[id(shipped)] = merged
        return merged[2]


own_kinds = OwnKinds()


@dataclass(frozen=True)
class Catalog:
    """All kinds of one catalog version."""

    version: int
    # What engines measure, and what plans may have.
    tests: dict[str, Kind]
    test_metrics: dict[str, Metric]
    # What a flag on a result means to a reader, by the flag.
    flags: dict[str, str]
    # What limited a run, in words, by the verdict.
    limits: dict[str, str]
    document: dict[str, Any]

    @property
    def kinds(self) -> dict[str, Kind]:
        """Return all that there are results of: tests, and what other systems define."""
        return own_kinds.kinds_beside(self.tests)

    @property
    def metrics(self) -> dict[str, Metric]:
        return own_kinds.metrics_beside(self.test_metrics)


@cache
def catalog() -> Catalog:
    """Read the catalog file, with the overlay of private kinds if the settings name one."""
    from django.conf import settings

    document = json.loads(CATALOG_FILE.read_text(encoding="utf-8"))
    if settings.CATALOG_OVERLAY:
        overlay = json.loads(Path(settings.CATALOG_OVERLAY).read_text(encoding="utf-8"))
        for section in ("parameters", "metrics", "flags", "limits", "kinds"):
            document[section] |= overlay.get(section, {})
    return parsed(document)


def parsed(document: dict[str, Any]) -> Catalog:
    """Turn a catalog document into objects; a KeyError here is a broken catalog, not bad input."""
    metrics = {key: Metric(key=key, **entry) for key, entry in document["metrics"].items()}
    kinds = {name: _kind(name, entry, document, metrics) for name, entry in document["kinds"].items()}
    return Catalog(
        version=document["version"],
        tests=kinds,
        test_metrics=metrics,
        flags=document["flags"],
        limits=document["limits"],
        document=document,
    )


def _kind(name: str, entry: dict[str, Any], document: dict[str, Any], metrics: dict[str, Metric]) -> Kind:
    overrides = entry.get("parameter_overrides", {})
    return Kind(
        name=name,
        label=entry["label"],
        summary=entry["summary"],
        protocol=entry["protocol"],
        roles=entry["roles"],
        exclusivity=entry["exclusivity"],
        parameters={
            key: _parameter(key, document["parameters"][key], overrides.get(key, {})) for key in entry["parameters"]
        },
        metrics={key: _metric(key, metrics[key], entry, document) for key in entry["metrics"]},
        headline=entry["headline"],
        live=entry["live"],
        charts=[Chart(**chart) for chart in entry["charts"]],
        slot=_slot_part(entry["slot"]),
        slot_when={key: _slot_part(part) for key, part in entry["slot"].get("when", {}).items()},
        exclusive_when=entry.get("exclusive_when", ""),
        tools=entry.get("tools", []),
    )


def _metric(key: str, metric: Metric, entry: dict[str, Any], document: dict[str, Any]) -> Metric:
    """Return a metric by the label that the kind has for it: of one host alone nothing is the source's."""
    label = entry.get("metric_labels", {}).get(key)
    return Metric(key=key, **document["metrics"][key] | {"label": label}) if label else metric


def _slot_part(entry: dict[str, Any]) -> SlotPart:
    return SlotPart(products=entry["products_seconds"], overhead_seconds=float(entry["overhead_seconds"]))


def _identity_value(parameter: Parameter, value: Any) -> Any:
    """Return a nested test by its own identity, so that neither defaults nor their order fork a series."""
    kind = catalog().kinds.get(value.get("kind", "")) if parameter.is_test and isinstance(value, Mapping) else None
    return {"kind": kind.name, "params": kind.identity(value.get("params", {}))} if kind else value


def _parameter(name: str, entry: dict[str, Any], override: dict[str, Any]) -> Parameter:
    return Parameter(
        name=name,
        label=entry["label"],
        help=entry["help"],
        schema=entry["schema"] | override,
        unit=entry.get("unit") or "",
        identity=entry["identity"],
        advanced=entry["advanced"],
        excludes=entry.get("excludes", ""),
    )
