"""Addresses of the comparison of runs before a change of facts with those after it."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.urls import reverse

from benchweb.charts.comparison.sides import sides_query
from benchweb.documents.moments import rfc3339
from benchweb.hosts.facts.differences import FactDifference
from benchweb.hosts.facts.values import FACTS

# Days compared on either side: a change of a few per cent takes some nights to show.
_DAYS_COMPARED = timedelta(days=30)


def before_and_after(
    first: datetime, last: datetime, condition: Mapping[str, str], differences: Sequence[FactDifference] = ()
) -> str:
    """Compare the runs before a change with those after it; empty where nothing says which runs.

    The change came between `first` and `last`. Where one fact that runs can be chosen by changed, each side has its
    value: runs of hosts that changed later, or back, then stand on the right side.
    """
    before = dict(condition) | {"from": rfc3339(first - _DAYS_COMPARED), "to": rfc3339(first)}
    after = dict(condition) | {"from": rfc3339(last), "to": rfc3339(last + _DAYS_COMPARED)}
    chosen = [difference for difference in differences if FACTS.get(difference.fact, ("",))[-1] == difference.key]
    if len(chosen) == 1:
        fact = chosen[0]
        before |= {"to": rfc3339(last), fact.fact: str(fact.before)}
        after |= {"from": rfc3339(first), fact.fact: str(fact.after)}
    elif not condition:
        return ""
    return f"{reverse('web:compare')}?{sides_query(before, after)}"
