"""What the compare page shows, as its query string says: the runs, which metrics, which kind, in which order."""

from dataclasses import dataclass, replace
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.http import urlencode

from benchweb.charts.comparison import SHOWN, SORTS
from benchweb.web.row_ids import row_id

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
    # Whether the choice of one more run is open.
    is_choosing: bool = False

    def url(self, name: str = "compare", **changes: Any) -> str:
        """Give the URL of the page, or of an export, with some of it changed; defaults are left out."""
        changed = replace(self, **changes)
        query = {"runs": ",".join(map(str, changed.runs))}
        query |= {"show": changed.show} if changed.show != SHOWN[0] else {}
        query |= {"kind": changed.kind} if changed.kind else {}
        query |= {"sort": changed.sort} if changed.sort != SORTS[0] else {}
        query |= {"choose": "1"} if changed.is_choosing else {}
        return f"{reverse(f'web:{name}')}?{urlencode(query, safe=',') if changed.runs else ''}".rstrip("?")

    def without(self, run: int) -> str:
        """Give the URL without a run."""
        return self.url(runs=tuple(each for each in self.runs if each != run))

    def with_baseline(self, run: int) -> str:
        """Give the URL with another run as the baseline, the others in their order."""
        return self.url(runs=(run, *(each for each in self.runs if each != run)))


def compare_query(query: QueryDict) -> CompareQuery:
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
        is_choosing=query.get("choose") == "1",
    )
