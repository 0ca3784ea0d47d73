"""What the database says of runs that are over: states, overhead, lateness, makespan; plain SQL alone."""

from dataclasses import dataclass
from typing import Any

from bench.rig.rig import Rig

# A run could have begun when it was launched and the last run before it on either of its hosts had ended.
_LATENESS = """
with placed as (
    select r.id, c.created_at, r.started_at, r.finished_at, e.host_id
    from runs_run r
    join runs_campaign c on c.id = r.campaign_id
    join hosts_pair p on p.id = r.pair_id
    join hosts_endpoint e on e.id in (p.source_id, p.sink_id)
    where r.started_at is not null
),
free as (
    select id, created_at, started_at,
        max(finished_at) over (
            partition by host_id order by started_at, id rows between unbounded preceding and 1 preceding
        ) as host_free_at
    from placed
),
late as (
    select id, extract(epoch from min(started_at) - greatest(min(created_at), max(host_free_at))) as seconds
    from free group by id
)
select coalesce(percentile_cont(0.5) within group (order by seconds), 0),
    coalesce(percentile_cont(0.99) within group (order by seconds), 0) from late
"""
_OVERHEAD = """
with own as (
    select run_id, sum(extract(epoch from finished_at - started_at)) as measured
    from runs_trial where state = 'finished' group by run_id
)
select coalesce(avg(seconds), 0), coalesce(percentile_cont(0.5) within group (order by seconds), 0),
    coalesce(percentile_cont(0.99) within group (order by seconds), 0)
from (
    select extract(epoch from r.finished_at - r.started_at) - {measured} as seconds
    from runs_run r join own on own.run_id = r.id where r.state = 'finished'
) as overheads
"""
# The larger of the busiest host's time and, with n hosts, total time over floor(n/2), of what really ran.
_BOUND = """
with spent as (
    select r.id, e.host_id, extract(epoch from r.finished_at - r.started_at) as seconds
    from runs_run r join hosts_pair p on p.id = r.pair_id join hosts_endpoint e on e.id in (p.source_id, p.sink_id)
    where r.started_at is not null
),
busy as (select host_id, sum(seconds) as seconds from spent group by host_id)
select max(seconds), sum(seconds) / 2 / floor(count(*) / 2) from busy
"""
_MAKESPAN = "select extract(epoch from max(finished_at) - min(started_at)) from runs_run where started_at is not null"


@dataclass(frozen=True)
class Figures:
    """Seconds throughout."""

    states: dict[str, int]
    overhead_mean: float
    overhead_p50: float
    overhead_p99: float
    late_p50: float
    late_p99: float
    makespan: float
    lower_bound: float

    @property
    def ratio(self) -> float:
        return self.makespan / self.lower_bound if self.lower_bound else 0.0


def figures(rig: Rig, trial_seconds: float | None = None) -> Figures:
    """Ask for all; overhead is against `trial_seconds` a run, else against the run's own trials' spans."""

    def row(query: str) -> list[float]:
        return [float(value or 0) for value in rig.rows(query)[0]]

    states: dict[str, Any] = dict(rig.rows("select state, count(*) from runs_run group by state order by state"))
    mean, p50, p99 = row(
        _OVERHEAD.format(measured="own.measured" if trial_seconds is None else str(float(trial_seconds)))
    )
    late_p50, late_p99 = row(_LATENESS)
    return Figures(states, mean, p50, p99, late_p50, late_p99, row(_MAKESPAN)[0], max(row(_BOUND)))
