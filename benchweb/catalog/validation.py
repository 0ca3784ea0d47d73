"""Check parameters against a kind's JSON Schemas, with errors that say what, where and what to do."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from django.utils.translation import gettext as _
from jsonschema import Draft202012Validator, ValidationError

from benchweb.catalog.document import Kind, catalog
from benchweb.catalog.nested import is_none
from benchweb.catalog.parts import Parameter, Params
from benchweb.common.refusals import RefusedWrite


class ParameterError(RefusedWrite):
    """A parameter that a kind doesn't take, or a value out of its bounds."""


def validated_params(kind: Kind, params: Mapping[str, Any]) -> Params:
    """Return back one value per named parameter, in the catalog's types; raise ParameterError for the first fault."""
    for name in params:
        if name not in kind.parameters:
            raise ParameterError(name, _unknown(kind, name))
    return {name: _value(parameter, params[name]) for name, parameter in kind.parameters.items() if name in params}


def _value(parameter: Parameter, value: Any) -> Any:
    if parameter.is_test:
        return _test(parameter, value)
    # JSON Schema takes 1.0 for an integer; the engine and the series' identity want one spelling.
    if parameter.schema["type"] == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    error = next(iter(Draft202012Validator(parameter.schema).iter_errors(value)), None)
    if error is not None:
        raise ParameterError(parameter.name, _explain(parameter, value, error))
    return value


def _test(parameter: Parameter, value: Any) -> Params | None:
    """Check a test within a test; the fields of its faults are paths such as load.params.flows."""
    if is_none(value):
        return None
    name, kinds = parameter.name, catalog().tests
    if not isinstance(value, Mapping) or not {"kind"} <= set(value) <= {"kind", "params"}:
        example = '{"kind": "tcp_stream", "params": {"flows": 4}}'
        raise ParameterError(
            name,
            _("{name} is {value}, but must be a test such as {example}, or none.").format(
                name=name, value=f"{str(value)[:80]!r}", example=example
            ),
        )
    usable = [key for key, kind in kinds.items() if _runs_for_a_time(kind)]
    if value["kind"] not in usable:
        raise ParameterError(
            f"{name}.kind",
            _("{value} can't be a {name}: choose one of {usable}.").format(
                value=f"{value['kind']!r}", name=name, usable=", ".join(usable)
            ),
        )
    given = value.get("params", {})
    if not isinstance(given, Mapping):
        raise ParameterError(f"{name}.params", _("{name}.params must be an object of parameters.").format(name=name))
    try:
        return {"kind": value["kind"], "params": validated_params(kinds[value["kind"]], given)}
    except ParameterError as error:
        raise ParameterError(f"{name}.params.{error.field}", error.message) from error


def _runs_for_a_time(kind: Kind) -> bool:
    """Say whether another test can start and end a kind: the engine's own rule."""
    is_timed = "duration_seconds" in kind.parameters and not kind.is_of_one_host
    return is_timed and not any(parameter.is_test for parameter in kind.parameters.values())


def _unknown(kind: Kind, name: str) -> str:
    close = get_close_matches(name, kind.parameters, n=1)
    hint = (
        _("did you mean {close}?").format(close=close[0])
        if close
        else _("it takes {parameters}.").format(parameters=", ".join(kind.parameters))
    )
    return _("{kind} has no parameter {name}: {hint}").format(kind=kind.name, name=name, hint=hint)


def _explain(parameter: Parameter, value: Any, error: ValidationError) -> str:
    schema, unit = parameter.schema, f" {parameter.unit}" if parameter.unit else ""
    written = repr(value)[:80]
    match error.validator:
        case "minimum" | "maximum":
            bounds = _("from {least} to {most}{unit}").format(
                least=f"{schema['minimum']:,}", most=f"{schema['maximum']:,}", unit=unit
            )
            return _("{parameter} is {shown}, but must be {bounds}.").format(
                parameter=parameter.name, shown=written, bounds=bounds
            )
        case "enum":
            return _("{parameter} is {shown}, but must be one of {values}.").format(
                parameter=parameter.name, shown=written, values=", ".join(map(str, schema["enum"]))
            )
        case "type":
            return _("{parameter} is {shown}, but must be of type {type}{unit}.").format(
                parameter=parameter.name,
                shown=written,
                type=schema["type"],
                unit=_(", in {unit}").format(unit=parameter.unit) if unit else "",
            )
        case _:
            return _("{parameter} is {shown}: {help}").format(
                parameter=parameter.name, shown=written, help=parameter.help
            )
