"""Make a reading a trial: the catalog's kind, its parameters and metrics; or say why it becomes none."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from benchweb.catalog import Kind, ParameterError, catalog, validated_params
from benchweb.catalog.document import OWN_PREFIX
from benchweb.catalog.parts import TOOL
from benchweb.catalog.reasons import Reason
from benchweb.catalog.tool_reasons import tool_reason
from benchweb.common.storable import storable
from benchweb.imports.host_tests import DISK, MEMORY, HostTest, host_tests
from benchweb.imports.own_kinds import MetricDefinition
from benchweb.imports.own_readings import own_definition, own_params
from benchweb.plans.expansion import MAXIMUM_STEPS
from benchweb.results.ingest import failed_flags, law_flags
from benchweb.toolformats.defaults import certain_defaults
from benchweb.toolformats.readings import Figure, Reading, ToolDocument

# Of a plan.
_LONGEST_NAME = 100
# What a tool measures whose reading tells no kind, where it failed before it printed a figure.
_KINDS_OF_TOOLS = {"fio": DISK, "mbw": MEMORY, "stream": MEMORY, "sysbench": MEMORY}
# Buffers as a tool tells them are what the kernel granted, no parameter that was asked for.
_GRANTED = {
    "source_socket_buffer_bytes": "source_send_buffer_bytes",
    "source_receive_buffer_bytes": "source_receive_buffer_bytes",
    "sink_socket_buffer_bytes": "sink_receive_buffer_bytes",
    "sink_send_buffer_bytes": "sink_send_buffer_bytes",
    "sink_receive_buffer_bytes": "sink_receive_buffer_bytes",
}


@dataclass(frozen=True)
class ImportedTrial:
    """A reading as a trial: `params` name the tool, so that its series stand beside the engine's.

    One with an `error` fails for that reason: its metrics are kept and shown, and join no series.
    """

    kind: str
    params: dict[str, Any]
    metrics: dict[str, float]
    document: dict[str, Any]
    flags: list[str] = field(default_factory=list)
    # Of a kind that the catalog doesn't have: what the import defines.
    definitions: tuple[MetricDefinition, ...] = ()
    error: str = ""
    # What it was made of, as the tool printed it: several of a mixed job.
    readings: tuple[Reading, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Unusable:
    """A reading that no series can take, and why."""

    reading: Reading
    reason: str


def trials_of(document: ToolDocument) -> tuple[list[ImportedTrial], list[Unusable]]:
    """Return the trials that a document's readings become, and the readings that become none."""
    trials: list[ImportedTrial] = []
    unusable: list[Unusable] = []
    of_hosts: dict[int, list[HostTest]] = {}
    for test in host_tests(document):
        for reading in test.readings:
            of_hosts.setdefault(id(reading), []).append(test)
    for reading in document:
        if tests := of_hosts.get(id(reading)):
            # A job of several readings stands where its first one does.
            trials += [_host_trial(document, test) for test in tests if test.readings[0] is reading]
            continue
        made = _trials(document, reading)
        trials += made
        if not made:
            unusable.append(Unusable(reading, error_of(reading) or _("It holds no figure of the whole test.")))
    return trials, unusable


def error_of(reading: Reading) -> str:
    """Return why a reading is none, or only a part of one, as a reason; empty where nothing is said against it."""
    if not reading.error:
        return ""
    reason = tool_reason(reading.error)
    return reason if isinstance(reason, Reason) else Reason("import_tool_said", tool=reading.tool, said=reason)


def _host_trial(document: ToolDocument, test: HostTest) -> ImportedTrial:
    kind, first = catalog().kinds[test.kind], test.readings[0]
    params = _checked({TOOL.name: first.tool}, kind, test.params)
    metrics = {key: value for key, value in test.metrics.items() if key in kind.metrics}
    whole = _document(document, first, kind.name) | {"figures": storable([asdict(figure) for figure in test.figures])}
    if len(test.readings) > 1:
        whole["raw"] = "\n".join(dict.fromkeys(document.raw(reading) for reading in test.readings))
    flags, law = law_flags(kind, params, metrics, is_imported=True)
    error = next((error_of(reading) for reading in test.readings if reading.error), "")
    return ImportedTrial(kind.name, params, metrics, whole | law, flags, error=error, readings=test.readings)


def _trials(document: ToolDocument, reading: Reading) -> list[ImportedTrial]:
    error = error_of(reading)
    failed = _KINDS_OF_TOOLS.get(reading.tool, "") if error and not reading.figures else ""
    kind = catalog().tests.get(reading.kind or failed)
    if kind is None:
        return _own_trials(document, reading, error)
    metrics = _metrics(reading, kind)
    if not metrics and not error:
        return []
    params, whole = _params(reading, kind), _document(document, reading, kind.name)
    flags = failed_flags(params, metrics, reading.value("requests"))
    return [ImportedTrial(kind.name, params, metrics, whole, flags, error=error, readings=(reading,))]


def _own_trials(document: ToolDocument, reading: Reading, error: str) -> list[ImportedTrial]:
    """Return a trial for each part of a reading that the catalog has no kind for, such as mbw's three methods."""
    by_part: dict[str, list[Figure]] = {}
    for figure in reading.figures:
        by_part.setdefault(figure.part, []).append(figure)
    stored = _document(document, reading, OWN_PREFIX + reading.tool)
    return [
        ImportedTrial(
            OWN_PREFIX + reading.tool,
            {TOOL.name: reading.tool} | own_params(reading, part),
            {figure.metric: figure.value for figure in figures},
            stored,
            definitions=tuple(own_definition(figure) for figure in figures),
            error=error,
            readings=(reading,),
        )
        for part, figures in by_part.items()
    ]


def _metrics(reading: Reading, kind: Kind) -> dict[str, float]:
    metrics = {
        figure.metric: figure.value for figure in reading.figures if not figure.part and figure.metric in kind.metrics
    }
    if metrics:
        for name, metric in _GRANTED.items():
            value = reading.parameters.get(name)
            if metric in kind.metrics and isinstance(value, int):
                metrics[metric] = float(value)
    return metrics


def _params(reading: Reading, kind: Kind) -> dict[str, Any]:
    """Return the parameters that the catalog takes; what a tool did beyond them stands in the document alone."""
    given = {name: value for name, value in reading.parameters.items() if name not in _GRANTED}
    untold: dict[str, Any] = {name: None for name in reading.untold if name in kind.parameters}
    return _checked({TOOL.name: reading.tool} | untold, kind, given)


def _checked(params: dict[str, Any], kind: Kind, given: Mapping[str, Any]) -> dict[str, Any]:
    """Add the values that the catalog takes, and what the text doesn't tell."""
    for name, value in given.items():
        if name in kind.parameters:
            with suppress(ParameterError):
                params |= validated_params(kind, {name: value})
    return params | _unknown_settings(params[TOOL.name], kind, params)


def _unknown_settings(tool: str, kind: Kind, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a text doesn't tell and a test of the catalog's default wouldn't share.

    As the tool has them by itself where that is certain, else None: unknown. An advanced setting whose default sets
    nothing is set by no tool either; benchweb's own tables leave defaults out.
    """
    if tool == TOOL.default:
        return {}
    certain = certain_defaults(tool, kind.name)
    untold: dict[str, Any] = {}
    for name, parameter in kind.parameters.items():
        if name in known or not parameter.identity:
            continue
        is_set = not parameter.advanced or bool(parameter.default)
        value = certain.get(name, None if is_set else parameter.default)
        if value != parameter.default:
            untold[name] = value
    return untold


def _document(document: ToolDocument, reading: Reading, kind: str) -> dict[str, Any]:
    """Return what stands beside the metrics: the tool's own text, and each figure with its digits."""
    made: dict[str, Any] = storable(
        {
            "kind": kind,
            "tool": reading.tool,
            "tool_version": reading.version,
            "test": reading.test,
            "raw": document.raw(reading),
            "lines": [reading.lines.first, reading.lines.last],
            "figures": [asdict(figure) for figure in reading.figures],
            "parameters": dict(reading.parameters),
            "remarks": list(reading.remarks),
        }
    )
    return made


def steps_of(trials: Sequence[ImportedTrial]) -> list[dict[str, Any]]:
    """Return the steps that test what was imported, each once: what "Run again" measures by the engine."""
    steps: list[dict[str, Any]] = []
    for trial in trials:
        if trial.definitions or (trial.error and not trial.metrics):
            continue
        params = {name: value for name, value in trial.params.items() if name != TOOL.name and value is not None}
        step = {"kind": trial.kind, "params": params}
        if step not in steps:
            steps.append(step)
        if len(steps) == MAXIMUM_STEPS:
            break
    return steps


def imported_plan_name(tools: Iterable[str]) -> str:
    """Name the one plan of all that these tools gave."""
    return f"imported {', '.join(sorted(tools))}"[:_LONGEST_NAME]


def summary(trials: Sequence[ImportedTrial]) -> dict[str, int]:
    """Return how many trials each tool gave."""
    counts: dict[str, int] = {}
    for trial in trials:
        counts[trial.params["tool"]] = counts.get(trial.params["tool"], 0) + 1
    return counts
