"""Parameter values as people type them: "1, 64, 1k, 64Ki" to numbers and back."""

import re
from typing import Any

from django.utils.translation import gettext as _

from benchweb.catalog import Parameter, ParameterError, catalog, nested_words, storable_json
from benchweb.common.formatting import MULTIPLIERS, typed_number

_SEPARATORS = re.compile(r"[,;\s]+")
_BOOLEANS = {"true": True, "false": False}
# Longer than any sweep that a plan may hold: beyond it nothing is parsed.
MAXIMUM_TEXT = 100_000


def parsed_values(parameter: Parameter, text: str) -> Any:
    """Return one value, or a list if the text holds several; raise ParameterError with the part that can't be read."""
    if len(text) > MAXIMUM_TEXT:
        raise ParameterError(parameter.name, _("{label} is too long: shorten the sweep.").format(label=parameter.label))
    parts = _parts(parameter, text)
    values = [_parsed_value(parameter, part) for part in parts]
    return values[0] if len(values) == 1 else values


def spelled(parameter: Parameter, value: Any) -> str:
    """Write a value or a sweep as one would type it: 16384 B is 16Ki, 1000000 bit/s is 1M."""
    if isinstance(value, list):
        separator = "; " if parameter.is_test or any("," in str(single) for single in value) else ", "
        return separator.join(_spelled_value(parameter, single) for single in value)
    return _spelled_value(parameter, value)


def _parts(parameter: Parameter, text: str) -> list[str]:
    text = text.strip()
    if parameter.is_test:
        return [part.strip() for part in text.split(";") if part.strip()]
    if parameter.schema["type"] != "string":
        return [part for part in _SEPARATORS.split(text) if part]
    pattern = parameter.schema.get("pattern")
    # A list of CPUs such as 0,2-3 is one value with a comma in it: then only a semicolon separates.
    if ";" not in text and pattern and re.search(pattern, text):
        return [text]
    return [part.strip() for part in text.split(";" if ";" in text else ",") if part.strip()]


def _parsed_value(parameter: Parameter, part: str) -> Any:
    if parameter.is_test:
        return _parsed_test(parameter, part)
    if parameter.schema["type"] == "string":
        return part
    if parameter.schema["type"] == "boolean":
        return _BOOLEANS.get(part.lower(), part)
    number = typed_number(part)
    if number is None:
        raise ParameterError(
            parameter.name,
            _("{part} is not a number: write 64, 1.5k (k is 1,000) or 64Ki (Ki is 1,024).").format(
                part=f"{part[:40]!r}"
            ),
        )
    return number


def _parsed_test(parameter: Parameter, part: str) -> Any:
    """Read `tcp_rr flows=100 burst=2`, the same as JSON, or none."""
    if part == "none":
        return None
    if part.startswith("{"):
        try:
            return storable_json(part)
        except ValueError as error:
            raise ParameterError(
                parameter.name, _("{part} is not JSON: {error}.").format(part=f"{part[:40]!r}", error=error)
            ) from error
    name, *settings = part.split()
    kind = catalog().kinds.get(name)
    params: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise ParameterError(
                parameter.name, _("{setting} is not name=value, such as flows=4.").format(setting=f"{setting[:40]!r}")
            )
        known = kind.parameters.get(key) if kind else None
        params[key] = parsed_values(known, text) if known else text
    return {"kind": name, "params": params}


def _spelled_value(parameter: Parameter, value: Any) -> str:
    if parameter.is_test:
        return nested_words(value)
    if isinstance(value, bool):
        return str(value).lower()
    suffixes = {"B": ("Gi", "Mi", "Ki"), "bit/s": ("T", "G", "M", "k")}.get(parameter.unit, ())
    if not isinstance(value, int) or value == 0:
        return f"{value:g}" if isinstance(value, float) else str(value)
    suffix = next((suffix for suffix in suffixes if value % MULTIPLIERS[suffix] == 0), "")
    return f"{value // MULTIPLIERS[suffix]}{suffix}"
