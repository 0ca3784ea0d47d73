"""The form of sets as one sentence: what sides are, what they share; and facts of which there are several values."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from urllib.parse import parse_qsl

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from benchweb.catalog import catalog
from benchweb.catalog.parts import TOOL
from benchweb.charts.comparison.sides import FACT_LABELS, FIELDS, MOST_SIDES, sides_query
from benchweb.hosts.facts.values import FACTS, FactValue, fact_values
from benchweb.hosts.models import Environment, Host, Pair
from benchweb.imports.selectors import imported_tools
from benchweb.labels import labels_in_use
from benchweb.plans.models import Plan
from benchweb.web.compare.query import COMMON
from benchweb.web.shared.chips import Filter, FilterLine

_MOST_CHOICES = 1_000
_LEAST_SIDES = 2
# Of one fact: the newest values beside those before them.
_MOST_OFFERED = 3
_TIMES = ("from", "to")
# What a side can be of, that which tells most first.
_SUBJECT_ORDER = ("run", "campaign", "pair", *FACTS, "environment", "host", "plan", "label", "tool")
_SUBJECTS = frozenset(_SUBJECT_ORDER)
# Choices under a heading: values and their words.
_Group = tuple[str, list[tuple[str, str]]]


@dataclass(frozen=True)
class Offer:
    """Two values of a fact, and the page that compares them."""

    label: str
    older: str
    newer: str
    url: str


@dataclass(frozen=True)
class SetForm:
    """The form: its sides, and what all of them have in common, as one sentence."""

    line: FilterLine
    offers: list[Offer]
    # The form with one side more, where there may be one.
    more_url: str


def set_form(sides: Sequence[str], *, count: int) -> SetForm:
    """Prepare the form with `count` sides at least; six queries."""
    values = fact_values()
    side_count = min(MOST_SIDES, max(_LEAST_SIDES, len(sides), count))
    more = "&".join(filter(None, [sides_text(sides), f"sides={side_count + 1}"]))
    offered, subjects = _offered(values)
    read = _read_sides(sides, {each.name for each in offered})
    chips = [
        chip
        for number in range(1, side_count + 1)
        for chip in _side(
            number, *(read.sides[number - 1] if number <= len(read.sides) else ("", {})), subjects, offered
        )
    ]
    common = [_chosen(each, COMMON, read.common.get(each.name, "")) for each in offered]
    times = [each for number in range(1, side_count + 1) for each in _times(number, read)]
    return SetForm(
        line=FilterLine(reverse("web:compare"), "", [*chips, *common, *times]),
        offers=[] if sides else _offers(values),
        more_url=f"{reverse('web:compare_sets')}?{more}" if side_count < MOST_SIDES else "",
    )


def sides_text(sides: Sequence[str]) -> str:
    """Write sides as a query string."""
    return sides_query(*(dict(parse_qsl(side)) for side in sides))


@dataclass(frozen=True)
class _ReadSides:
    """Each side's subject, such as `kernel=6.8`, with what else only it has, and what all sides have in common."""

    sides: list[tuple[str, dict[str, str]]]
    common: dict[str, str]


def _read_sides(texts: Sequence[str], sayable: Collection[str]) -> _ReadSides:
    """Part sides into what sets them apart and what they share, of the names that the sentence can say of all at once.

    Where only their times differ all have one subject, which the sentence says of each.
    """
    given = [dict(parse_qsl(text)) for text in texts]
    first, *others = given or [{}]
    common = {
        name: value
        for name, value in first.items()
        if name in sayable and all(each.get(name) == value for each in others)
    }
    if not all(_SUBJECTS & (each.keys() - common.keys()) for each in given):
        shared = next((name for name in FIELDS if name in common and name in _SUBJECTS), "")
        common.pop(shared, None)
    sides = []
    for each in given:
        own = {name: value for name, value in each.items() if name not in common}
        subject = next((name for name in _SUBJECT_ORDER if name in own), "")
        sides.append((f"{subject}={own.pop(subject)}" if subject else "", own))
    return _ReadSides(sides, common)


def _offered(values: Sequence[FactValue]) -> tuple[list[Filter], list[_Group]]:
    """Return what all sides can be chosen by in common, and what each can be of, under headings."""
    environments, hosts, plans = (
        [
            (str(pk), name)
            for pk, name in model.objects.filter(archived_at=None).values_list("pk", "name")[:_MOST_CHOICES]
        ]
        for model in (Environment, Host, Plan)
    )
    facts = [
        (str(FACT_LABELS[name]), [(f"{name}={fact.value}", f"{fact.value} ({_hosts(fact)})") for fact in group])
        for name, group in groupby(values, key=lambda fact: fact.name)
    ]
    labels, tools = [(label, label) for label in labels_in_use(Host, Pair, Plan)], _tools()
    named = [
        ("environment", _("Environment"), environments),
        ("plan", _("Plan"), plans),
        ("host", _("Host"), hosts),
        ("label", _("Label"), labels),
        ("tool", _("Tool"), tools),
    ]
    subjects = [
        (heading, [(f"{name}={value}", words) for value, words in options])
        for name, heading, options in named
        if options
    ]
    periods = [("-7d", _("last 7 days")), ("-30d", _("last 30 days")), ("-90d", _("last 90 days"))]
    common = [
        Filter(
            "environment",
            _("Environment"),
            options=environments,
            any=_("any environment"),
            lead=pgettext("sentence of a comparison", "in"),
            is_main=True,
        ),
        Filter("from", _("Period"), options=periods, any=_("at any time"), is_main=True),
        Filter("plan", _("Plan"), options=plans, any=_("any plan"), lead=_("of plan")),
        Filter("host", _("Host"), options=hosts, any=_("any host"), lead=_("with host")),
        Filter("label", _("Label"), options=labels, any=_("any label"), lead=_("labelled")),
        Filter("tool", _("Tool"), options=tools, any=_("any tool"), lead=_("measured by")),
        Filter("to", _("Before"), form="text", lead=_("before"), hint="2026-11-27"),
    ]
    return common, [*facts, *subjects]


def _tools() -> list[tuple[str, str]]:
    """Return the engine, the tools that it may start, and those of what was imported."""
    started = {tool for kind in catalog().tests.values() for tool in kind.tools}
    return [(tool, tool) for tool in [TOOL.default, *sorted(started | set(imported_tools()))]]


def _side(
    number: int, subject: str, own: Mapping[str, str], subjects: Sequence[_Group], offered: Sequence[Filter]
) -> list[Filter]:
    """Return a side's chips: what it is of, and what else sets it apart from the others; its times have fields."""
    leads = [
        pgettext("sentence of a comparison", "Compare"),
        pgettext("sentence of a comparison", "with"),
        pgettext("sentence of a comparison", "and with"),
    ]
    lead = leads[min(number, len(leads)) - 1]
    label = _("Baseline") if number == 1 else _("Compared with")
    known = {value for _heading, options in subjects for value, _words in options}
    # A run, a pair or a campaign comes from its own page; it is offered because it is chosen.
    groups = [
        *([(_("Chosen"), [(subject, _plain_words(subject))])] if subject and subject not in known else []),
        *subjects,
    ]
    chip = Filter(f"{number}.of", label, subject, groups=groups, any=_("choose…"), lead=lead, is_main=True)
    named = {each.name: each for each in offered}
    others = [(named.get(name) or _plain_field(name), value) for name, value in own.items() if name not in _TIMES]
    return [chip, *(_chosen(offer, str(number), value) for offer, value in others)]


def _plain_field(name: str) -> Filter:
    """Return a field for what has no list of choices here, such as a second fact, or what isn't known at all."""
    label = str(FACT_LABELS.get(name, name))
    return Filter(name, label, form="text", lead=label)


def _plain_words(subject: str) -> str:
    name, _equals, value = subject.partition("=")
    words = {"run": _("run {id}"), "campaign": _("campaign {id}"), "pair": _("pair {id}")}
    return words[name].format(id=value) if name in words else value


def _chosen(offered: Filter, side: str, value: str) -> Filter:
    """Return a filter of a side, or of all, with what is chosen; a period of its own is offered beside the usual."""
    options = offered.options
    if value and offered.name == "from" and value not in {known for known, _words in options}:
        options = [*options, (value, _("since {time}").format(time=value))]
    return replace(offered, name=f"{side}.{offered.name}", chosen=value, options=options)


def _times(number: int, read: _ReadSides) -> list[Filter]:
    """Return the fields of a side's own time, where it differs from the others'."""
    own = read.sides[number - 1][1] if number <= len(read.sides) else {}
    side = str(number)
    day = _("2026-11-20 or -7d")
    words = {
        "from": (_("Side {number} from"), _("side {number} from")),
        "to": (_("Side {number} before"), _("side {number} before")),
    }
    return [
        Filter(
            f"{number}.{name}",
            label.format(number=side),
            own.get(name, ""),
            form="text",
            lead=lead.format(number=side),
            hint=day,
        )
        for name, (label, lead) in words.items()
    ]


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
