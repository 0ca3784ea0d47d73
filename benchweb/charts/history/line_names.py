"""How the lines of a look at the history are named: by what sets each apart, and by what all have in common."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from benchweb.catalog import Kind, Parameter
from benchweb.charts.axes import value_words
from benchweb.charts.history.lines import HistoryLine
from benchweb.documents.references import Label, environment_ref, joined_label, numbered_ref, worded

# Of each line its pair, its environment and its parameters in words, by name.
Parts = list[dict[str, Label]]


def line_names(parts: Parts) -> list[Label]:
    """Name each line by what sets it apart from the others; a single one by its pair."""
    differing = [name for name in parts[0] if len({part[name] for part in parts}) > 1] if parts else []
    return [joined_label(part[name] for name in differing or ["pair"]) for part in parts]


def common_words(parts: Parts, kind: Kind) -> Label:
    """Say what all lines have in common: the kind, the pair, the environment, parameters."""
    same = [name for name in parts[0] if len({part[name] for part in parts}) == 1] if parts else []
    return joined_label([kind.label, *(parts[0][name] for name in same)])


def setting_words(parameter: Parameter, value: Any) -> Label:
    """Say a parameter's value with its label and unit."""
    return Label(parameter.label, " ", value_words(parameter, value))


def line_parts(lines: Sequence[HistoryLine], kind: Kind) -> Parts:
    """Return every line's parts by name, the same names for all."""
    pairs = _pair_names(lines)
    ends_of_lines = [
        {"pair": pairs[line.pair.pk], "environment": environment_ref(line.pair.environment)} for line in lines
    ]
    return [
        line_ends | settings
        for line_ends, settings in zip(
            ends_of_lines, setting_parts([line.identity for line in lines], kind), strict=True
        )
    ]


def _pair_names(lines: Sequence[HistoryLine]) -> dict[int, Label]:
    """Name the pairs, with their numbers where two read alike: an archived host's name is free again."""
    names = {line.pair.pk: line.pair_words for line in lines}
    times = Counter(names.values())
    return {
        pk: name
        if times[name] == 1
        else Label(name, " (", worded(_("pair {pair}"), pair=numbered_ref("pair", pk)), ")")
        for pk, name in names.items()
    }


def setting_parts(identities: Sequence[Mapping[str, Any]], kind: Kind) -> Parts:
    """Say every identity's settings by name, the same names for all: an identity leaves out what is a default."""
    measured_names = set().union(*identities)
    parameters = (
        [parameter for name, parameter in kind.series_parameters.items() if name in measured_names]
        if measured_names
        else []
    )
    return [
        {
            parameter.name: setting_words(parameter, identity.get(parameter.name, parameter.default))
            for parameter in parameters
        }
        for identity in identities
    ]
