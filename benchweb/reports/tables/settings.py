"""Settings of tests: what tells one from another of its kind, as an author chooses it, in words and as a command."""

import json
from collections.abc import Iterable, Sequence

from benchweb.catalog import Kind, catalog
from benchweb.catalog.parts import TOOL
from benchweb.charts.axes import value_words
from benchweb.charts.run.reproduce import settings_command
from benchweb.documents.references import Label, free_text, joined_label
from benchweb.reports.reported import Combination, ReportedRun


def setting_key(test: Combination) -> str:
    """Return a test's setting as a report keeps it: its kind and what tells its series from others."""
    kind = catalog().kinds.get(test.first.kind)
    identity = kind.identity(test.first.given) if kind else test.first.given
    return " ".join([test.first.kind, *(f"{name}={json.dumps(value)}" for name, value in sorted(identity.items()))])


def settings_measured(runs: Iterable[ReportedRun], kind: str, metric: str) -> dict[str, list[Combination]]:
    """Return the tests of a kind that have a metric by their settings, in the order in which they were measured."""
    settings: dict[str, list[Combination]] = {}
    for run in runs:
        for test in run.combinations(kind):
            if test.values(metric):
                settings.setdefault(setting_key(test), []).append(test)
    return settings


def setting_label(tests: Sequence[Combination]) -> Label:
    """Say what the tests of one setting have in common: their kind, and all that was set or goes without saying."""
    kind = catalog().kinds.get(tests[0].first.kind)
    if kind is None:
        return free_text(tests[0].first.kind)
    parts = [
        joined_label([parameter.label.lower(), value_words(parameter, value)], " ")
        for name, value in common_params(kind, tests).items()
        if (parameter := kind.series_parameters.get(name)) and not isinstance(value, dict)
    ]
    return joined_label([kind.label, *parts], ", ")


def common_params(kind: Kind, tests: Sequence[Combination]) -> dict[str, object]:
    """Return the parameters with one value in all of the tests, in the catalog's order."""
    given = [{**kind.stated_defaults, **test.first.given} for test in tests]
    first = given[0]
    return {
        name: first[name]
        for name in kind.series_parameters
        if name in first and all(name in each and each[name] == first[name] for each in given)
    }


def setting_command(tests: Sequence[Combination]) -> Label:
    """Return the engine's command for a setting; empty for what other tools measured."""
    kind = catalog().kinds.get(tests[0].first.kind)
    if kind is None or any(TOOL.name in test.first.given for test in tests):
        return Label()
    return settings_command(kind.name, common_params(kind, tests))
