"""Check parameters against a kind's JSON Schemas, with errors that say what, where and what to do."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from jsonschema import Draft202012Validator, ValidationError

from benchweb.catalog.document import Kind, Parameter, Params


class ParameterError(ValueError):
    """A parameter that a kind doesn't take, or a value out of its bounds."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


def validated_params(kind: Kind, params: Mapping[str, Any]) -> Params:
    """Give back one value per named parameter, in the catalog's types; raise ParameterError for the first fault."""
    for name in params:
        if name not in kind.parameters:
            raise ParameterError(name, _unknown(kind, name))
    return {name: _value(parameter, params[name]) for name, parameter in kind.parameters.items() if name in params}


def _value(parameter: Parameter, value: Any) -> Any:
    # JSON Schema takes 1.0 for an integer; the engine and the series' identity want one spelling.
    if parameter.schema["type"] == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    error = next(iter(Draft202012Validator(parameter.schema).iter_errors(value)), None)
    if error is not None:
        raise ParameterError(parameter.name, _explain(parameter, value, error))
    return value


def _unknown(kind: Kind, name: str) -> str:
    close = get_close_matches(name, kind.parameters, n=1)
    hint = f"did you mean {close[0]}?" if close else f"it takes {', '.join(kind.parameters)}."
    return f"{kind.name} has no parameter {name}: {hint}"


def _explain(parameter: Parameter, value: Any, error: ValidationError) -> str:
    schema, unit = parameter.schema, f" {parameter.unit}" if parameter.unit else ""
    shown = repr(value)[:80]
    match error.validator:
        case "minimum" | "maximum":
            bounds = f"from {schema['minimum']:,} to {schema['maximum']:,}{unit}"
            return f"{parameter.name} is {shown}, but must be {bounds}."
        case "enum":
            return f"{parameter.name} is {shown}, but must be one of {', '.join(map(str, schema['enum']))}."
        case "type":
            return f"{parameter.name} is {shown}, but must be of type {schema['type']}{', in' + unit if unit else ''}."
        case _:
            return f"{parameter.name} is {shown}: {parameter.help}"
