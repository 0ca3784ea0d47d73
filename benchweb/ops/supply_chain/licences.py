"""Judge the licence that a package states, an SPDX expression."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from license_expression import ExpressionError, get_spdx_licensing

from benchweb.ops.supply_chain.findings import Finding
from benchweb.ops.supply_chain.policy import EXCEPTIONS, Exceptional

_spdx = get_spdx_licensing()


def is_accepted(expression: str, accepted: Collection[str]) -> bool:
    """Tell whether the expression can be met by accepted licences alone; false for what is no SPDX expression."""
    try:
        parsed = _spdx.parse(expression, validate=True)
    except ExpressionError:
        return False
    return parsed is not None and _is_met(parsed, accepted)


def judge(
    stated: Mapping[str, str | None], accepted: Collection[str], exceptions: Mapping[str, Exceptional], *, what: str
) -> Iterator[Finding]:
    """Yield what is wrong with the licences of packages; None is "not installed", "" none stated."""
    for name, expression in sorted(stated.items()):
        problem = _problem(expression, accepted, exceptions.get(name))
        if problem:
            yield Finding(f"{what} {name} {problem}. Replace it, or accept it by name in {EXCEPTIONS}.")
    for name in sorted(exceptions.keys() - stated.keys()):
        yield Finding(f"{what} {name} is no dependency any more: take it out of {EXCEPTIONS}.")


def _problem(stated: str | None, accepted: Collection[str], exception: Exceptional | None) -> str:
    if exception:
        # What says nothing is taken by the exception's word; what says something else has changed.
        is_same = not stated or stated == exception.licence
        return "" if is_same else f"has the licence {stated}, where {exception.licence} was accepted"
    if stated is None:
        return "is not installed here, so that its licence is not known"
    if not stated:
        return "states no licence"
    return (
        "" if is_accepted(stated, accepted) else f"has the licence {stated}, which is not on the list of accepted ones"
    )


def _is_met(parsed: Any, accepted: Collection[str]) -> bool:
    if isinstance(parsed, _spdx.OR):
        return any(_is_met(part, accepted) for part in parsed.args)
    if isinstance(parsed, _spdx.AND):
        return all(_is_met(part, accepted) for part in parsed.args)
    return parsed.render() in accepted
