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
    # Of these kinds a pair has one series of each metric: the address names just it.
    "series": "select pair_id, kind, metric, id from results_series where kind in ('tcp_rr', 'tcp_crr', 'udp_rr') "
    "and metric in ('transactions_per_second', 'latency_p99_seconds') order by md5(id::text) limit %s",
    "zones": "select a.id, b.id from hosts_environment a, hosts_environment b "
    "where a.name like '%%same zone' and b.name like '%%cross zone' limit %s",
    "campaign": "select id from runs_campaign order by md5(id::text) limit %s",
    "compared": "select a.id, b.id from runs_run a join runs_run b on b.pair_id = a.pair_id and b.id > a.id + 100 "
    "where a.state = 'finished' and b.state = 'finished' and a.id %% 20 = 0 order by md5(a.id::text || b.id) limit %s",
    # Those that have histograms.
    "heat": "select id from hosts_pair order by id limit least(%s, 12)",
    "plan": "select id from plans_plan limit %s",
    "schedule": "select id from schedules_schedule limit %s",
}


Samples = Mapping[str, Sequence[tuple[Any, ...]]]


@dataclass(frozen=True)
class Page:
    """A page or its data by its address with places for samples."""

    name: str
    path: str
    # "year": one series over a year, which has promises of its own.
    promise: str = ""

    def address(self, samples: Samples, number: int) -> str:
        """Fill in the samples' rows for one request; empty where there is no such row."""
        filled = {name: rows[number % len(rows)] for name, rows in samples.items() if rows}
        try:
            return self.path.format(**filled)
        except KeyError:
            return ""


SERIES = "pair={series[0]}&kind={series[1]}&metric={series[2]}&over=1y"
PAGES = [
    Page("overview", "/"),
    Page("runs", "/runs"),
    Page("runs of an environment, a later page", "/runs?environment={environment[0]}&after={run[0]}"),
    Page("run", "/runs/{run[0]}"),
    Page("run: chart data", "/runs/{run[0]}/charts.json"),
    Page("trial", "/runs/{run[0]}/trials/{run[1]}"),
    Page("trial: chart data", "/runs/{run[0]}/trials/{run[1]}/charts.json"),
    Page("compare", "/compare?runs={compared[0]},{compared[1]}"),
    Page("compare: chart data", "/compare/charts.json?runs={compared[0]},{compared[1]}"),
    Page("history", "/history?kind=tcp_stream"),
    Page("history of an environment, a year", "/history?environment={environment[0]}&over=1y"),
    Page("history of an environment, a year: chart data", "/history/charts.json?environment={environment[0]}&over=1y"),
    Page("history of a host, 90 days", "/history?host={host[0]}&over=90d"),
    Page("history of a series, a year", f"/history?{SERIES}"),
    Page("history of a series, a year: chart data", f"/history/charts.json?{SERIES}", "year"),
    Page("history: heat map of a pair, a year", "/history/charts.json?pair={heat[0]}&kind=tcp_rr&view=heat&over=1y"),
    Page("history: message sizes", "/history?kind=tcp_stream&view=sizes"),
    Page("history: message sizes of the latest runs", "/history?kind=tcp_stream&view=sizes&overlay=run"),
    Page("history: message sizes of a pair", "/history/charts.json?pair={pair[0]}&view=sizes&over=1y"),
    Page("matrix", "/matrix"),
    Page("matrix of an environment", "/matrix?environment={environment[0]}"),
    Page("matrix of network modes, two zones", "/matrix?by=mode&environment={zones[0]}&beside={zones[1]}"),
    Page("hosts", "/hosts"),
    Page("host", "/hosts/{host[0]}"),
    Page("host: availability", "/hosts/{host[0]}/availability"),
    Page("environments", "/environments"),
    Page("environment", "/environments/{environment[0]}"),
    Page("pairs", "/pairs"),
    Page("pair", "/pairs/{pair[0]}"),
    Page("audit", "/audit"),
    Page("audit of a user", "/audit?user=user7"),
    Page("audit of a host", "/audit?table=hosts_host&object=7"),
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
