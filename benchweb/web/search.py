"""Search across hosts, pairs, plans, runs, schedules, environments and facts: results by type, the best first.

Every word has to be found; `kernel:6.1` (or `kernel 6.1`) asks a fact by its name. Each type costs one query, none of
which reads a large table from end to end: runs are found by the pairs and plans that match.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Case, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery, Value, When
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.hosts.models import Endpoint, Environment, Facts, Host, Pair
from benchweb.hosts.selectors import pair_lines
from benchweb.plans.models import Plan, PlanVersion
from benchweb.runs.latest import RunLine, latest_runs
from benchweb.schedules.models import Schedule
from benchweb.web.row_ids import row_id
from benchweb.web.row_urls import row_url

MOST_WORDS = 8
_LONGEST = 100
# Runs are looked for on so many of the pairs that match: each is an index of its own to walk.
_PAIRS_OF_RUNS = 8
_FACTS_READ = 200
_LONGEST_NOTE = 80
_LONGEST_LINE = 120
# The facts that a search may name; benchweb/hosts/migrations/0004_facts_words.py writes the lines that begin so.
FACTS = (
    *("kernel", "os", "driver", "mtu", "cpu", "governor", "congestion", "address", "offloads", "interface"),
    *("hostname", "architecture", "virtualisation", "boot", "clock", "engine"),
)


@dataclass(frozen=True)
class Hit:
    """Something found: where it is, what it is called, and a word about it."""

    url: str
    label: str
    note: str = ""
    state: str = ""


@dataclass(frozen=True)
class Group:
    """What was found of one type; `more_url` lists all of it where there is such a list."""

    key: str
    title: str
    hits: list[Hit]
    more_url: str = ""


@dataclass(frozen=True)
class Query:
    """What was typed: words, and the facts that were asked for by name."""

    words: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        return " ".join(self.words)


def parsed(text: str) -> Query:
    """Read what was typed; a fact's name takes the word behind it."""
    typed = text.replace("\0", "")[:_LONGEST].replace("→", " ").split()[:MOST_WORDS]
    words, facts = [], []
    while typed:
        word = typed.pop(0)
        name, colon, value = word.partition(":")
        if name.lower() in FACTS and (value or (not colon and typed)):
            facts.append((name.lower(), value or typed.pop(0)))
        else:
            words.append(word)
    return Query(tuple(words), tuple(facts))


def found(query: Query, most: int) -> list[Group]:
    """Give what matches, at most so many of each type; types without a match are left out."""
    if not query.words and not query.facts:
        return []
    groups = [_facts(query, most)]
    if query.words and not query.facts:
        pairs = list(_pairs_matching(query)[: max(most, _PAIRS_OF_RUNS)])
        latest = PlanVersion.objects.filter(plan=OuterRef("pk")).order_by("-number").values("pk")[:1]
        matching = Plan.objects.filter(archived_at=None).annotate(latest_version=Subquery(latest))
        plans = list(_ranked(matching, query)[:most])
        groups = [
            _group("hosts", _of_hosts(query, most), "web:hosts", query),
            _group("pairs", [_of_pair(pair) for pair in pairs[:most]], "web:pairs", query),
            _group("environments", _of_environments(query, most), "web:environments", query),
            _group("plans", [Hit(row_url("web:plan", plan.pk), plan.name) for plan in plans], "web:plans", query),
            _group("schedules", _of_schedules(query, most), "web:schedules", query),
            _group("runs", _of_runs(query, pairs, plans, most), "web:runs", query),
            *groups,
        ]
    return [group for group in groups if group.hits]


_TITLES = {
    "hosts": gettext_noop("Hosts"),
    "pairs": gettext_noop("Pairs"),
    "environments": gettext_noop("Environments"),
    "plans": gettext_noop("Plans"),
    "schedules": gettext_noop("Schedules"),
    "runs": gettext_noop("Runs"),
    "facts": gettext_noop("Facts"),
}


def _group(key: str, hits: list[Hit], list_name: str, query: Query) -> Group:
    return Group(key, _(_TITLES[key]), hits, f"{reverse(list_name)}?{urlencode({'q': query.text})}")


def _of_hosts(query: Query, most: int) -> list[Hit]:
    hosts = Host.objects.filter(archived_at=None)
    for word in query.words:
        addresses = Q(control_address__icontains=word) | Q(data_address__icontains=word) | Q(name__icontains=word)
        by_endpoint = Endpoint.objects.filter(addresses, archived_at=None).values("host")
        named = Q(name__icontains=word) | Q(description__icontains=word) | Q(uplink__icontains=word)
        hosts = hosts.filter(named | Q(labels__contains=[word]) | Q(pk__in=by_endpoint))
    rows = hosts.annotate(rank=_rank(query)).order_by("rank", "name", "pk")[:most]
    return [Hit(row_url("web:host", host.pk), host.name, ", ".join(host.labels)) for host in rows]


def _of_environments(query: Query, most: int) -> list[Hit]:
    rows = _ranked(Environment.objects.filter(archived_at=None), query, "description")[:most]
    return [
        Hit(row_url("web:environment", row.pk), row.name, Truncator(row.description).chars(_LONGEST_NOTE))
        for row in rows
    ]


def _of_schedules(query: Query, most: int) -> list[Hit]:
    schedules = Schedule.objects.filter(archived_at=None).select_related("plan")
    rows = _ranked(schedules, query, "plan__name")[:most]
    return [
        Hit(row_url("web:schedule", row.pk), row.name, row.plan.name, "paused" if row.paused_at else "") for row in rows
    ]


def _of_runs(query: Query, pairs: Sequence[Pair], plans: Sequence[Plan], most: int) -> list[Hit]:
    """Give the run of that number, then the newest on the pairs and of the plans that match."""
    numbers = [number for word in query.words if (number := row_id(word)) is not None]
    versions = [plan.latest_version for plan in plans if plan.latest_version]  # type: ignore[attr-defined]
    wanted = {"numbers": numbers, "pairs": [pair.pk for pair in pairs[:_PAIRS_OF_RUNS]], "versions": versions}
    of = {what: ids for what, ids in wanted.items() if ids}
    runs = latest_runs(of, most=most) if of else []
    return [_of_run(run) for run in sorted(runs, key=lambda run: run.pk not in numbers)[:most]]


def _of_run(run: RunLine) -> Hit:
    label = _("Run {number}").format(number=run.pk)
    return Hit(row_url("web:run", run.pk), label, f"{run.plan} · {run.pair}", run.state)


def _of_plan(plan: Plan) -> Hit:
    return Hit(row_url("web:plan", plan.pk), plan.name)


def _of_pair(pair: Pair) -> Hit:
    return Hit(row_url("web:pair", pair.pk), str(pair), pair.environment.name)


def _pairs_matching(query: Query) -> QuerySet[Pair]:
    pairs = pair_lines(
        Pair.objects.filter(archived_at=None).select_related("source__host", "sink__host", "environment")
    )
    for word in query.words:
        ends = [
            Q((f"{end}__{field}__icontains", word)) for end in ("source", "sink") for field in ("host__name", "name")
        ]
        matching = Q(environment__name__icontains=word)
        for end in ends:
            matching |= end
        pairs = pairs.filter(matching)
    return pairs.order_by("pk")


def _ranked(rows: QuerySet[Any, Any], query: Query, *more_fields: str) -> QuerySet[Any, Any]:
    """Keep rows in which each word is found; what is called so comes before what begins so and what holds it."""
    for word in query.words:
        matching = Q(name__icontains=word)
        for field in more_fields:
            matching |= Q((f"{field}__icontains", word))
        rows = rows.filter(matching)
    ranked: QuerySet[Any, Any] = rows.annotate(rank=_rank(query)).order_by("rank", "name", "pk")
    return ranked


def _rank(query: Query) -> Case:
    text = query.text
    return Case(
        When(name__iexact=text, then=Value(0)),
        When(name__istartswith=text, then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )


def _facts(query: Query, most: int) -> Group:
    newer = Facts.objects.filter(endpoint=OuterRef("endpoint"), last_seen_at__gt=OuterRef("last_seen_at"))
    rows = Facts.objects.filter(endpoint__archived_at=None, endpoint__host__archived_at=None)
    patterns = [*(_named(name, value) for name, value in query.facts), *map(_whole_number, query.words)]
    for pattern in patterns:
        rows = rows.filter(words__iregex=pattern)
    rows = rows.select_related("endpoint__host").defer("document").annotate(is_former=Exists(newer))
    rows = rows.order_by("is_former", F("last_seen_at").desc(), "endpoint__host__name")
    hits: dict[tuple[int, str], Hit] = {}
    for row in rows[:_FACTS_READ]:
        line = _line(row.words, patterns)
        note = _("until {date}").format(date=f"{row.last_seen_at:%Y-%m-%d}") if row.is_former else ""
        url = f"{reverse('web:host', args=[row.endpoint.host_id])}#endpoint-{row.endpoint_id}"
        hit = Hit(url, row.endpoint.host.name, " · ".join(filter(None, (line, note))))
        hits.setdefault((row.endpoint.host_id, line), hit)
    return Group("facts", _(_TITLES["facts"]), list(hits.values())[:most])


def _named(name: str, value: str) -> str:
    return rf"(\n|, ){name} [^\n]*?{_whole_number(value)}"


def _whole_number(value: str) -> str:
    """Match a value so that 6.1 is found in 6.1.0 and not in 6.18 or 16.1."""
    before = r"(?<![0-9.])" if value[:1].isdecimal() else ""
    after = r"(?![0-9])" if value[-1:].isdecimal() else ""
    return before + re.sub(r"([^\w])", r"\\\1", value) + after


def _line(words: str, patterns: Sequence[str]) -> str:
    """Give the lines that matched, for the reader to see why."""
    lines = words.splitlines()
    shown = [line for line in lines if any(re.search(pattern, f"\n{line}", re.IGNORECASE) for pattern in patterns)]
    return " · ".join(Truncator(line).chars(_LONGEST_LINE) for line in shown[:2])
