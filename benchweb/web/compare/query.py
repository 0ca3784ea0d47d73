"""What the compare page shows, as its query string says: the runs, which metrics, which kind, in which order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from benchweb.charts.comparison.rows import SHOWN, SORTS
from benchweb.common.rows import row_id

# More columns than that nobody reads beside each other, and there are eight colours.
MOST_RUNS = 8


@dataclass(frozen=True)
class CompareQuery:
    """The parsed query; `runs` is without doubles, the baseline first; `unread` is what isn't a run's number."""

    runs: tuple[int, ...]
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
        query = {"runs": ",".join(map(str, changed.runs))}
        query |= {"show": changed.show} if changed.show != SHOWN[0] else {}
        query |= {"kind": changed.kind} if changed.kind else {}
        query |= {"sort": changed.sort} if changed.sort != SORTS[0] else {}
        query |= {"rows": "differing"} if changed.is_differing else {}
        query |= {"choose": "1"} if changed.is_choosing else {}
        return f"{reverse(f'web:{name}')}?{urlencode(query, safe=',') if changed.runs else ''}".rstrip("?")

    def without(self, run: int) -> str:
        """Return the URL without a run."""
        return self.url(runs=tuple(each for each in self.runs if each != run))

    def with_baseline(self, run: int) -> str:
        """Return the URL with another run as the baseline, the others in their order."""
        return self.url(runs=(run, *(each for each in self.runs if each != run)))


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
    found = [
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
        found.append(Switch(_("Kind"), [(label, query.url(kind=name), query.kind == name) for name, label in every]))
    return found


def compare_query(query: QueryDict, zone: tzinfo = UTC) -> CompareQuery:
    """Read the query: `runs=3,5`, or `runs=3&runs=5` as a form of tick boxes sends it; nonsense gives the default."""
    words = [word.strip() for given in query.getlist("runs") for word in given.split(",")]
    ids = dict.fromkeys(number for word in words if (number := row_id(word)) is not None)
    # Ticked in a list, whichever way it is sorted: the earliest is what the others are held against.
    ordered = sorted(ids) if len(query.getlist("runs")) > 1 else list(ids)
    show, sort = query.get("show", ""), query.get("sort", "")
    return CompareQuery(
        runs=tuple(ordered[:MOST_RUNS]),
        unread=tuple(dict.fromkeys(word for word in words if word and row_id(word) is None)),
        too_many=max(0, len(ordered) - MOST_RUNS),
        show=show if show in SHOWN else SHOWN[0],
        kind=query.get("kind", ""),
        sort=sort if sort in SORTS else SORTS[0],
        is_differing=query.get("rows") == "differing",
        is_choosing=query.get("choose") == "1",
        zone=zone,
    )
