"""Which runs a set has, and the sample that it gave."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from benchweb.results.selectors import TrialRow


@dataclass(frozen=True)
class RunSet:
    """Which runs; None and empty narrow nothing. A fact is of the host where one is named, else of both ends."""

    run: int | None = None
    campaign: int | None = None
    pair: int | None = None
    environment: int | None = None
    host: int | None = None
    # Of the pair, one of its hosts, or the plan.
    label: str = ""
    plan: int | None = None
    first: datetime | None = None
    # Runs that began before it.
    last: datetime | None = None
    fact: str = ""
    fact_value: str = ""
    # Whose measurements; a tool is no part of what is compared then.
    tool: str = ""

    @property
    def narrows(self) -> bool:
        """Tell whether it says anything at all of which pairs are meant."""
        ids = (self.run, self.campaign, self.pair, self.environment, self.host, self.plan)
        return any((*ids, self.label, self.fact, self.tool))


@dataclass(frozen=True)
class Sample:
    """What a set gave: a row for each run and test, its metrics being medians; and the pair of each run."""

    trials: list[TrialRow]
    pair_of_run: dict[int, int]
    # Of each pair the hosts of source and sink.
    hosts_of_pair: dict[int, tuple[int, int]]
    # Of how many pairs there are, those that have results and match.
    pairs: int
    total_pairs: int
    first: datetime | None
    last: datetime | None


class SetPair(NamedTuple):
    number: int
    pair: int
    source: int
    sink: int
    source_host: int
    sink_host: int
    total: int
    # The one that is meant, where the set is of one run of each pair.
    run: int | None
    # The label that the plan of a run must have, where the pair and its hosts don't have it; else empty.
    plan_label: str
