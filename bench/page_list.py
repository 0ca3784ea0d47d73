"""The pages and chart data that bench.pages asks for, and what fills their addresses: one table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Each gives rows for a number of requests; a page names one by its place: {run[0]}, {compared[1]}.
SAMPLES = {
    "run": "select id, 1 + id %% 36 from runs_run where state = 'finished' order by md5(id::text) limit %s",
    "host": "select id from hosts_host order by md5(id::text) limit %s",
    "environment": "select id from hosts_environment order by md5(id::text) limit %s",
    "pair": "select id from hosts_pair order by md5(id::text) limit %s",
    "series": "select id from results_series where metric in ('throughput_bps', 'transactions_per_second') "
    "order by md5(id::text) limit %s",
    "campaign": "select id from runs_campaign order by md5(id::text) limit %s",
    "compared": "select a.id, b.id from runs_run a join runs_run b on b.pair_id = a.pair_id and b.id > a.id + 100 "
    "where a.state = 'finished' and b.state = 'finished' and a.id %% 20 = 0 order by md5(a.id::text || b.id) limit %s",
    "plan": "select id from plans_plan limit %s",
    "schedule": "select id from schedules_schedule limit %s",
}


@dataclass(frozen=True)
class Page:
    """A page or its data by its address with places for samples."""

    name: str
    path: str

    def address(self, samples: Mapping[str, Sequence[tuple[Any, ...]]], number: int) -> str:
        """Fill in the samples' rows for one request."""
        return self.path.format(**{name: rows[number % len(rows)] for name, rows in samples.items()})


PAGES = [
    Page("overview", "/"),
    Page("runs", "/runs"),
    Page("runs of an environment, a later page", "/runs?environment={environment[0]}&after={run[0]}"),
    Page("run", "/runs/{run[0]}"),
    Page("run: chart data", "/runs/{run[0]}/charts.json"),
    Page("trial", "/runs/{run[0]}/trials/{run[1]}"),
    Page("trial: chart data", "/runs/{run[0]}/trials/{run[1]}/charts.json"),
    Page("compare", "/compare?runs={compared[0]},{compared[1]}"),
    Page("history", "/history"),
    Page("matrix", "/matrix"),
    Page("hosts", "/hosts"),
    Page("host", "/hosts/{host[0]}"),
    Page("environments", "/environments"),
    Page("environment", "/environments/{environment[0]}"),
    Page("pairs", "/pairs"),
    Page("pair", "/pairs/{pair[0]}"),
    Page("plans", "/plans"),
    Page("plan", "/plans/{plan[0]}"),
    Page("schedules", "/schedules"),
    Page("schedule", "/schedules/{schedule[0]}"),
    Page("campaigns", "/campaigns"),
    Page("campaign", "/campaigns/{campaign[0]}"),
    Page("timeline", "/timeline"),
    Page("calendar", "/timeline/week"),
    Page("search: a kernel", "/search?q=kernel+6.1"),
    Page("search: a host", "/search?q=synthetic-0"),
]
