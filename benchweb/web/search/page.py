"""Search across hosts, pairs, plans, runs, schedules, environments and facts: results by type, the best first.

Every word has to be found; `kernel:6.1` (or `kernel 6.1`) asks a fact by its name. Where nothing is called so, sizes,
tests and days among the words lead to filtered pages. It costs three queries, or four, none of which reads a large
table from end to end: runs are found by the pairs and plans that match.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.common.formatting import setting
from benchweb.common.names import searched
from benchweb.common.rows import row_ids
from benchweb.hosts.pairs import PairNames
from benchweb.runs.lists import RunLine, searched_runs
from benchweb.web.runs.launch_days import LAUNCH_DAYS
from benchweb.web.search.meaning import Meaning, meaning
from benchweb.web.search.rows import FACTS_READ, NamedRow, facts_with, rows_called
from benchweb.web.series.section import measured_query
from benchweb.web.shared.zones import day_text

MOST_WORDS = 8
_LONGEST = 100
# Runs are looked for on so many of the pairs that match: each is an index of its own to walk.
_PAIRS_OF_RUNS = 8
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
class FoundGroup:
    """The finds of one type; `more_url` lists all of them where there is such a list."""

    key: str
    title: str
    hits: list[Hit]
    more_url: str = ""
    # There are more than are shown.
    is_cut: bool = False


@dataclass(frozen=True)
class Query:
    """The words that were typed, and the facts requested by name."""

    words: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        return " ".join(self.words)


def parsed(text: str) -> Query:
    """Read what was typed; a fact's name takes the word behind it."""
    typed = searched(text)[:_LONGEST].replace("→", " ").split()[:MOST_WORDS]
    words, facts = [], []
    while typed:
        word = typed.pop(0)
        name, colon, value = word.partition(":")
        if name.lower() in FACTS and (value or (not colon and typed)):
            facts.append((name.lower(), value or typed.pop(0)))
        else:
            words.append(word)
    return Query(tuple(words), tuple(facts))


def found(query: Query, most: int, zone: tzinfo = UTC) -> list[FoundGroup]:
    """Return what matches, at most so many of each type; types without a match are left out."""
    if not query.words and not query.facts:
        return []
    groups = _called_so(query, most, zone)
    return _meant(query, zone, is_called_so=bool(groups)) + groups


def _meant(query: Query, zone: tzinfo, *, is_called_so: bool) -> list[FoundGroup]:
    """Return the filtered pages that words mean of which some are no names; one query where names are left."""
    meant = meaning(query.words, datetime.now(zone).date())
    if meant.is_empty or query.facts or (meant.words and is_called_so):
        return []
    rows = rows_called(meant.words, most=1, most_pairs=1) if meant.words else {}
    named = [(of, rows[plural][0]) for of, plural in _NARROWING.items() if rows.get(plural)]
    # Whose host is called so, pairs are too.
    named = [(of, row) for of, row in named if of != "pair" or not rows["hosts"]]
    hits = [_meant_hit(meant, of, row) for of, row in named] if meant.words else [_meant_hit(meant)]
    return [FoundGroup("meant", _(_TITLES["meant"]), hits)] if hits else []


def _meant_hit(meant: Meaning, of: str = "", row: NamedRow | None = None) -> Hit:
    """Return the page of the runs that are meant, or of a test's history."""
    name = "" if row is None else PairNames(**row.ends).pair if row.ends else row.name
    size = "" if meant.size_bytes is None else setting(meant.size_bytes, "B")
    days = " – ".join(dict.fromkeys(map(day_text, meant.days))) if meant.days else ""
    label = " · ".join(filter(None, [meant.kind.label if meant.kind else "", name, size, days]))
    query: dict[str, object] = {of: row.pk} if row else {}
    query |= dict(zip(LAUNCH_DAYS, meant.days, strict=True)) if meant.days else {}
    if meant.kind is None:
        query |= {} if meant.size_bytes is None else {"size": size}
        return Hit(f"{reverse('web:runs')}?{urlencode(query)}", label, _("runs"))
    sizes = {} if meant.size_bytes is None else {"message_size_bytes": meant.size_bytes}
    measured = measured_query(meant.kind.name, meant.kind.headline, json.dumps(sizes))
    return Hit(f"{reverse('web:history')}?{urlencode(query)}&{measured}", label, _("history"))


def _called_so(query: Query, most: int, zone: tzinfo) -> list[FoundGroup]:
    # One more than is shown tells whether there are more.
    most_hits, most = most, most + 1
    groups = [_facts(query, most, zone, read_most=FACTS_READ)]
    if query.words and not query.facts:
        rows = rows_called(query.words, most=most, most_pairs=max(most, _PAIRS_OF_RUNS))
        groups = [
            _group("hosts", [_hit("web:host", row, row.note) for row in rows["hosts"]], query),
            _group("pairs", list(map(_pair_hit, rows["pairs"][:most])), query),
            _group("environments", list(map(_environment_hit, rows["environments"])), query),
            _group("plans", [_hit("web:plan", row) for row in rows["plans"]], query),
            _group("schedules", list(map(_schedule_hit, rows["schedules"])), query),
            _group("runs", _run_hits(query, rows["pairs"], rows["plans"], most), query),
            *groups,
        ]
    return [
        replace(group, hits=group.hits[:most_hits], is_cut=group.is_cut or len(group.hits) > most_hits)
        for group in groups
        if group.hits
    ]


# What runs and histories are narrowed to, as their addresses have it.
_NARROWING = {"host": "hosts", "pair": "pairs", "environment": "environments"}
_TITLES = {
    "meant": gettext_noop("Suggested filter"),
    "hosts": gettext_noop("Hosts"),
    "pairs": gettext_noop("Pairs"),
    "environments": gettext_noop("Environments"),
    "plans": gettext_noop("Plans"),
    "schedules": gettext_noop("Schedules"),
    "runs": gettext_noop("Runs"),
    "facts": gettext_noop("Facts"),
}


def _group(key: str, hits: list[Hit], query: Query) -> FoundGroup:
    return FoundGroup(key, _(_TITLES[key]), hits, f"{reverse(f'web:{key}')}?{urlencode({'q': query.text})}")


def _hit(url_name: str, row: NamedRow, note: str = "", state: str = "") -> Hit:
    return Hit(reverse(url_name, args=[row.pk]), row.name, note, state)


def _pair_hit(row: NamedRow) -> Hit:
    return Hit(reverse("web:pair", args=[row.pk]), PairNames(**row.ends).pair, row.note)


def _environment_hit(row: NamedRow) -> Hit:
    return _hit("web:environment", row, Truncator(row.note).chars(_LONGEST_NOTE))


def _schedule_hit(row: NamedRow) -> Hit:
    return _hit("web:schedule", row, row.note, "paused" if row.is_paused else "")


def _run_hits(query: Query, pairs: Sequence[NamedRow], plans: Sequence[NamedRow], most: int) -> list[Hit]:
    """Return the run of that number, then the newest on the pairs and of the plans that match."""
    numbers = row_ids(query.words)
    versions = [plan.version for plan in plans if plan.version]
    runs = searched_runs(numbers, [pair.pk for pair in pairs[:_PAIRS_OF_RUNS]], versions, most=most)
    return [_run_hit(run) for run in sorted(runs, key=lambda run: run.pk not in numbers)[:most]]


def _run_hit(run: RunLine) -> Hit:
    label = _("Run {number}").format(number=run.pk)
    return Hit(reverse("web:run", args=[run.pk]), label, f"{run.plan_version} · {run.pair}", run.state)


def facts_found(query: Query, most: int, zone: tzinfo = UTC) -> list[FoundGroup]:
    """Return the facts alone, where somebody wants to see all that match; one query."""
    if not query.words and not query.facts:
        return []
    group = _facts(query, most, zone, read_most=most + 1)
    return [group] if group.hits else []


def _facts(query: Query, most: int, zone: tzinfo, *, read_most: int) -> FoundGroup:
    patterns = [*(_parameter_pattern(name, value) for name, value in query.facts), *map(_whole_number, query.words)]
    hits: dict[tuple[int, str], Hit] = {}
    rows = facts_with([*(value for _name, value in query.facts), *query.words], patterns, most=read_most)
    for row in rows:
        line = _line(row.words, patterns)
        day = f"{row.last_seen_at.astimezone(zone):%Y-%m-%d}"
        note = _("last seen {date}").format(date=day) if row.is_former else ""
        url = f"{reverse('web:host', args=[row.host])}#endpoint-{row.endpoint}"
        hits.setdefault((row.host, line), Hit(url, row.host_name, " · ".join(filter(None, (line, note)))))
    return FoundGroup("facts", _(_TITLES["facts"]), list(hits.values())[:most], is_cut=len(rows) == read_most)


def _parameter_pattern(name: str, value: str) -> str:
    return rf"(\n|, ){name} [^\n]*?{_whole_number(value)}"


def _whole_number(value: str) -> str:
    """Match a value so that 6.1 is found in 6.1.0 and not in 6.18 or 16.1."""
    before = r"(?<![0-9.])" if value[:1].isdecimal() else ""
    after = r"(?![0-9])" if value[-1:].isdecimal() else ""
    return before + re.sub(r"([^\w])", r"\\\1", value) + after


def _line(words: str, patterns: Sequence[str]) -> str:
    """Return the lines that matched, for the reader to see why."""
    lines = words.splitlines()
    matching = [line for line in lines if any(re.search(pattern, f"\n{line}", re.IGNORECASE) for pattern in patterns)]
    return " · ".join(Truncator(line).chars(_LONGEST_LINE) for line in matching[:2])
