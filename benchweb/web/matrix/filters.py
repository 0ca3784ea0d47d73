"""The matrix's filters as one sentence: of which environment, which test and figure, compared with what."""

from collections.abc import Sequence
from itertools import groupby

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from benchweb.catalog import catalog, equivalent_named, equivalents
from benchweb.results.latest_medians import MatrixEnvironment
from benchweb.web.matrix.page import FilledMatrix, settings_of
from benchweb.web.matrix.query import USUAL, MatrixQuery, pinned_choice
from benchweb.web.shared.chips import Filter, FilterLine
from benchweb.web.tags.show import kind_label, params_text

# The baseline, which a click chooses.
_CARRIED = ("base_environment", "base_row", "base_column")
# With any other choice of what to compare with a date would say nothing.
_WITH_A_DATE = ("", "date")


def matrix_filters(filled: FilledMatrix, environments: Sequence[MatrixEnvironment]) -> FilterLine:
    """Declare the filters of a matrix. No query."""
    query = filled.query
    return FilterLine(
        reverse("web:matrix"),
        "#matrix-page",
        [*_of_environments(query, environments), *_of_test(filled), *_of_comparison(filled)],
        carried=[(name, value) for name in _CARRIED if (value := query.parameters.get(name))],
    )


def _of_environments(query: MatrixQuery, environments: Sequence[MatrixEnvironment]) -> list[Filter]:
    first, *others = (str(each.pk) for each in query.environments)
    names = [(str(each.pk), each.name) for each in environments]
    beside = [(pk, _("compared with {name}").format(name=name)) for pk, name in names if pk != first]
    by = "mode" if query.by == "mode" else ""
    text = Filter("q", _("Host name contains"), query.text, form="search", hint=_("Part of a host's name"))
    return [
        Filter("environment", _("Environment"), first, names, is_main=True),
        *(
            [Filter("beside", _("Compare with environment"), "".join(others), beside, any=_("no comparison"))]
            if beside
            else []
        ),
        Filter(
            "by",
            _("Rows and columns"),
            by,
            [("mode", _("by network mode"))],
            any=_("by host"),
            is_main=True,
        ),
        *([] if by else [text]),
    ]


def _of_test(filled: FilledMatrix) -> list[Filter]:
    if filled.test is None:
        return []
    known, metric, colon = catalog().metrics, filled.metric, pgettext("before a figure", ": ")
    tests = [
        (
            kind,
            [(test.key, f"{kind}{colon}{params_text(test.kind, settings_of(test, filled.tests))}") for test in group],
        )
        for kind, group in groupby(filled.tests, key=lambda test: kind_label(test.kind))
    ]
    keys = filled.metrics if metric.key in filled.metrics else [metric.key, *filled.metrics]
    notations = [(each.key, _("as published: {name}").format(name=each.label)) for each in equivalents(metric)]
    notation = equivalent_named(metric, filled.query.parameters.get("as", ""))
    return [
        Filter("test", _("Test"), filled.test.key, groups=tests, is_main=True),
        Filter("metric", _("Metric"), metric.key, [(key, known[key].label) for key in keys], is_main=True),
        *(
            [Filter("as", _("Notation"), notation.key if notation else "", notations, any=_("as measured"))]
            if notations
            else []
        ),
    ]


def _of_comparison(filled: FilledMatrix) -> list[Filter]:
    """Offer what to compare with, and the days that this and the matrix are of."""
    query = filled.query
    names = list(dict.fromkeys([*filled.compared.marks.baselines, *filter(None, [query.baseline_name])]))
    times = [
        (USUAL, _("what is usual")),
        ("yesterday", _("yesterday")),
        ("week", _("last week")),
        ("date", _("a date:")),
    ]
    pinned = [(pinned_choice(name), _("baseline %(name)s") % {"name": name}) for name in names]
    word = query.parameters.get("with", "")
    compared = query.compared or (word if word == "date" else "")
    lead = _("compared with")
    filters = [
        Filter("with", _("Compared with"), compared, [*times, *pinned], any=_("nothing"), lead=lead, is_main=True)
    ]
    if compared in _WITH_A_DATE:
        end = _("Compared with the end of")
        filters.append(Filter("on", end, query.parameters.get("on", ""), form="date", is_main=compared == "date"))
    until = str(query.parameters["until"]) if query.until else ""
    return [*filters, Filter("until", _("As of"), until, form="date", lead=_("as of"))]
