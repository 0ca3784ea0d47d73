"""The form of sets: what each side can be chosen by, and facts of which there are several values, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from urllib.parse import parse_qsl

from django.urls import reverse
from django.utils.translation import ngettext

from benchweb.catalog import catalog
from benchweb.catalog.parts import TOOL
from benchweb.charts.comparison.sides import FACT_LABELS, MOST_SIDES, sides_query
from benchweb.hosts.facts.values import FACTS, FactValue, fact_values
from benchweb.hosts.models import Environment, Host, Pair
from benchweb.imports.selectors import imported_tools
from benchweb.labels import labels_in_use
from benchweb.plans.models import Plan

_MOST_CHOICES = 1_000
_LEAST_SIDES = 2
# Of one fact: the newest values beside those before them.
_MOST_OFFERED = 3


@dataclass(frozen=True)
class SetChoices:
    """What there is to choose from: values with their labels; facts under the name of each."""

    environments: list[tuple[str, str]]
    hosts: list[tuple[str, str]]
    plans: list[tuple[str, str]]
    labels: list[tuple[str, str]]
    tools: list[tuple[str, str]]
    facts: list[tuple[str, list[tuple[str, str]]]]


@dataclass(frozen=True)
class SetFields:
    """One side of the form with what is chosen; `others` is what no field changes, such as a pair."""

    number: int
    chosen: dict[str, str]
    fact: str
    others: list[tuple[str, str]]


@dataclass(frozen=True)
class Offer:
    """Two values of a fact, and the page that compares them."""

    label: str
    older: str
    newer: str
    url: str


@dataclass(frozen=True)
class SetForm:
    """The form with its choices."""

    choices: SetChoices
    sides: list[SetFields]
    offers: list[Offer]
    # The form with one side more, where there may be one.
    more_url: str


def set_form(sides: Sequence[str], *, count: int) -> SetForm:
    """Prepare the form with `count` sides at least; six queries."""
    values = fact_values()
    side_count = min(MOST_SIDES, max(_LEAST_SIDES, len(sides), count))
    texts = [*sides, *[""] * MOST_SIDES][:side_count]
    more = "&".join(filter(None, [sides_text(sides), f"sides={side_count + 1}"]))
    return SetForm(
        choices=_choices(values),
        sides=[_fields(number, text) for number, text in enumerate(texts, 1)],
        offers=[] if sides else _offers(values),
        more_url=f"{reverse('web:compare_sets')}?{more}" if side_count < MOST_SIDES else "",
    )


def sides_text(sides: Sequence[str]) -> str:
    """Write sides as a query string."""
    return sides_query(*(dict(parse_qsl(side)) for side in sides))


def _choices(values: Sequence[FactValue]) -> SetChoices:
    named = (Environment, Host, Plan)
    environments, hosts, plans = (
        [
            (str(pk), name)
            for pk, name in model.objects.filter(archived_at=None).values_list("pk", "name")[:_MOST_CHOICES]
        ]
        for model in named
    )
    facts = [
        (str(FACT_LABELS[name]), [(f"{name}={fact.value}", f"{fact.value} ({_hosts(fact)})") for fact in group])
        for name, group in groupby(values, key=lambda fact: fact.name)
    ]
    return SetChoices(
        environments, hosts, plans, [(label, label) for label in labels_in_use(Host, Pair, Plan)], _tools(), facts
    )


def _tools() -> list[tuple[str, str]]:
    """Return the engine, the tools that it may start, and those of what was imported."""
    started = {tool for kind in catalog().tests.values() for tool in kind.tools}
    return [(tool, tool) for tool in [TOOL.default, *sorted(started | set(imported_tools()))]]


def _fields(number: int, text: str) -> SetFields:
    given = dict(parse_qsl(text))
    fact = next((f"{name}={given[name]}" for name in FACTS if name in given), "")
    others: list[tuple[str, str]] = [(name, given[name]) for name in ("run", "campaign", "pair") if name in given]
    return SetFields(number, given, fact, others)


def _offers(values: Sequence[FactValue]) -> list[Offer]:
    """Offer each fact's newest values beside the ones before them."""
    offers = []
    for name, group in groupby(values, key=lambda fact: fact.name):
        for newer, older in list(pairwise(group))[:_MOST_OFFERED]:
            query = sides_query({name: older.value}, {name: newer.value})
            url = f"{reverse('web:compare')}?{query}"
            offers.append(Offer(str(FACT_LABELS[name]), older.value, newer.value, url))
    return offers


def _hosts(value: FactValue) -> str:
    return ngettext("%(count)s host", "%(count)s hosts", value.hosts) % {"count": value.hosts}
