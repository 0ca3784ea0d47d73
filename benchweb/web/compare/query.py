"""What the compare page shows, as its query string says: the runs, which metrics, which kind, in which order."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from benchweb.charts.comparison.rows import SHOWN, SORTS
from benchweb.charts.comparison.sides import FIELDS, MOST_SIDES, side_text
from benchweb.common.rows import row_id, row_ids

MOST_RUNS = MOST_SIDES
# A form's fields are named by the side's number, or by this where they are of all sides: `2.kernel`, `all.plan`.
COMMON = "all"
_FIELD = re.compile(rf"([1-{MOST_SIDES}]|{COMMON})\.({'|'.join(FIELDS)})", re.ASCII)
_CHOICES = ("of", "fact")
# Lists whose rows may be ticked to be compared.
_TICKED = ("pair", "environment", "host", "plan")


@dataclass(frozen=True)
class CompareQuery:
    """The parsed query; `runs` is without doubles, the baseline first; `unread` is what isn't a run's number."""

    runs: tuple[int, ...]
    # Queries, each a side, the baseline first; where there are any, runs are not compared by their repetitions.
    sides: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    too_many: int = 0
    show: str = SHOWN[0]
    kind: str = ""
    sort: str = SORTS[0]
    # Whether only the rows in which something differs are shown.
    is_differing: bool = False
    # Whether the choice of one more run is open.
    is_choosing: bool = False
    # The reader's: what sets runs apart may be when they began.
    zone: tzinfo = UTC

    def url(self, name: str = "compare", **changes: Any) -> str:
        """Return the URL of the page, or of an export, with some of it changed; defaults are left out."""
        changed = replace(self, **changes)
        query: dict[str, Any] = {"side": changed.sides} if changed.sides else {}
        query |= {"runs": ",".join(map(str, changed.runs))} if changed.runs else {}
        query |= {"show": changed.show} if changed.show != SHOWN[0] else {}
        query |= {"kind": changed.kind} if changed.kind else {}
        query |= {"sort": changed.sort} if changed.sort != SORTS[0] else {}
        query |= {"rows": "differing"} if changed.is_differing else {}
        query |= {"choose": "1"} if changed.is_choosing else {}
        is_of_any = changed.runs or changed.sides
        written = urlencode(query, doseq=True, safe=",") if is_of_any else ""
        return f"{reverse(f'web:{name}')}?{written}".rstrip("?")

    def without(self, run: int) -> str:
        """Return the URL without a run."""
        return self.url(runs=tuple(other for other in self.runs if other != run))

    def with_baseline(self, run: int) -> str:
        """Return the URL with another run as the baseline, the others in their order."""
        return self.url(runs=(run, *(other for other in self.runs if other != run)))

    def without_side(self, side: int) -> str:
        """Return the URL without a side, by its place."""
        return self.url(sides=self.sides[:side] + self.sides[side + 1 :])

    def with_baseline_side(self, side: int) -> str:
        """Return the URL with another side as the baseline, by its place."""
        return self.url(sides=(self.sides[side], *self.sides[:side], *self.sides[side + 1 :]))


def links(query: CompareQuery) -> dict[str, str]:
    """Return the page's own URLs: its exports and charts, and with the choice of runs open or closed."""
    exports = {each: query.url(f"compare_{each}", is_choosing=False) for each in ("csv", "json", "charts")}
    return exports | {"choose": query.url(is_choosing=True), "closed": query.url(is_choosing=False)}


@dataclass(frozen=True)
class Switch:
    """A choice of one, as links: each a label, the URL, and whether it is the one that is shown."""

    label: str
    options: list[tuple[str, str, bool]]


def switches(query: CompareQuery, kinds: Sequence[tuple[str, str]]) -> list[Switch]:
    """Return what else the page could show of the same runs."""
    shows = zip(SHOWN, (_("Main"), _("Headline"), _("All")), strict=True)
    sorts = zip(SORTS, (_("Worst first"), _("Plan order")), strict=True)
    choices = [
        Switch(
            _("Rows"),
            [
                (label, query.url(is_differing=only), query.is_differing == only)
                for label, only in ((_("All"), False), (_("Differences only"), True))
            ],
        ),
        Switch(_("Metrics"), [(label, query.url(show=name), query.show == name) for name, label in shows]),
        Switch(_("Order"), [(label, query.url(sort=name), query.sort == name) for name, label in sorts]),
    ]
    if len(kinds) > 1 or query.kind:
        every = [("", _("All")), *kinds]
        choices.append(Switch(_("Kind"), [(label, query.url(kind=name), query.kind == name) for name, label in every]))
    return choices


def compare_query(query: QueryDict, zone: tzinfo = UTC) -> CompareQuery:
    """Read the query: `runs=3,5`, or `runs=3&runs=5` as a form of tick boxes sends it; nonsense gives the default."""
    words = [word.strip() for given in query.getlist("runs") for word in given.split(",")]
    ids = dict.fromkeys(row_ids(words))
    # Ticked in a list, whichever way it is sorted: the earliest is what the others are held against.
    ordered = sorted(ids) if len(query.getlist("runs")) > 1 else list(ids)
    show, sort = query.get("show", ""), query.get("sort", "")
    return CompareQuery(
        runs=tuple(ordered[:MOST_RUNS]),
        sides=tuple(dict.fromkeys(side for side in query.getlist("side") if side.strip()))[:MOST_SIDES],
        unread=tuple(dict.fromkeys(word for word in words if word and row_id(word) is None)),
        too_many=max(0, len(ordered) - MOST_RUNS),
        show=show if show in SHOWN else SHOWN[0],
        kind=query.get("kind", ""),
        sort=sort if sort in SORTS else SORTS[0],
        is_differing=query.get("rows") == "differing",
        is_choosing=query.get("choose") == "1",
        zone=zone,
    )


def form_sides(query: QueryDict) -> tuple[str, ...]:
    """Return the sides that a form's fields say, such as `1.kernel` and `2.kernel`; empty where there are none.

    What is of all of them, such as `all.plan`, is added to each. Rows that were ticked in a list are a side each:
    `pairs=3&pairs=5`.
    """
    fields: dict[str, dict[str, str]] = {}
    for name, value in query.items():
        if str(value).strip() and (found := _FIELD.fullmatch(name)):
            fields.setdefault(found[1], {})[found[2]] = str(value)
    # What a side is of comes as one choice: "kernel=6.1.0-28", "environment=3".
    for number in "12345678"[:MOST_SIDES]:
        for choice in _CHOICES:
            name, is_chosen, value = query.get(f"{number}.{choice}", "").partition("=")
            if is_chosen and name in FIELDS:
                fields.setdefault(number, {})[name] = value
    common = fields.pop(COMMON, {})
    ticked = [side_text({name: pk}) for name in _TICKED for pk in query.getlist(f"{name}s")]
    return (*ticked, *(text for _, each in sorted(fields.items()) if (text := side_text(common | each))))
