"""The lists whose rows can be ticked, as tables: the columns of each, its rows by id, and where its figures are."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchweb.charts.main_figures import (
    MainFigure,
    figures_of_campaigns,
    figures_of_hosts,
    figures_of_pairs,
    figures_of_plans,
    figures_of_runs,
)
from benchweb.hosts.models import Endpoint, Host, Pair
from benchweb.plans.models import Plan
from benchweb.plans.selectors import latest_versions
from benchweb.runs.lists import listed_runs
from benchweb.runs.summaries import campaign_summaries
from benchweb.schedules.selectors import listed_campaigns

Rows = Iterator[tuple[int, Sequence[Any]]]


@dataclass(frozen=True)
class ListTable:
    """A list as a table; `side` is the condition by which its rows are sides of a comparison."""

    name: str
    side: str
    columns: Sequence[str]
    rows: Callable[[Sequence[int]], Rows]
    figures: Callable[[Sequence[int]], dict[int, MainFigure]]


def _runs(ids: Sequence[int]) -> Rows:
    for run in listed_runs(ids):
        named = [run.pk, run.state, str(run.why), run.plan, run.version, run.source, run.sink, run.environment]
        yield run.pk, [*named, " ".join(run.labels), run.created_at, run.started_at, run.finished_at]


def _campaigns(ids: Sequence[int]) -> Rows:
    summaries = campaign_summaries(ids)
    for campaign in listed_campaigns(ids):
        summary = summaries[campaign.pk]
        named = [
            campaign.pk,
            summary.state.value,
            campaign.plan,
            campaign.version,
            campaign.schedule,
            campaign.created_by,
        ]
        times = [campaign.created_at, summary.started_at, summary.finished_at]
        yield campaign.pk, [*named, *times, summary.total, summary.whole]


def _hosts(ids: Sequence[int]) -> Rows:
    hosts = Host.objects.in_bulk(ids)
    ends: dict[int, list[Endpoint]] = {}
    for endpoint in Endpoint.objects.filter(host__in=ids, archived_at=None).order_by("pk"):
        ends.setdefault(endpoint.host_id, []).append(endpoint)
    for host in (hosts[pk] for pk in ids if pk in hosts):
        its = ends.get(host.pk, [])
        control_columns = [
            " ".join(each) for each in zip(*((e.control_address, e.status) for e in its), strict=True)
        ] or ["", ""]
        yield host.pk, [host.pk, host.name, " ".join(host.labels), host.uplink, *control_columns, host.created_at]


def _pairs(ids: Sequence[int]) -> Rows:
    pairs = Pair.objects.select_related("source__host", "sink__host", "environment").in_bulk(ids)
    for pair in (pairs[pk] for pk in ids if pk in pairs):
        named = [pair.pk, str(pair.source), str(pair.sink), str(pair.environment), " ".join(pair.labels)]
        yield pair.pk, [*named, pair.source.status, pair.sink.status, pair.path_status, pair.created_at]


def _plans(ids: Sequence[int]) -> Rows:
    plans = Plan.objects.in_bulk(ids)
    versions = latest_versions(plans=plans.values())
    for plan in (plans[pk] for pk in ids if pk in plans):
        version = versions[plan.pk]
        kinds = " ".join(step["kind"] for step in version.steps)
        yield (
            plan.pk,
            [
                plan.pk,
                plan.name,
                " ".join(plan.labels),
                version.number,
                kinds,
                version.repetitions,
                version.order,
                plan.created_at,
            ],
        )


_TIMES = ("launched_at", "started_at", "finished_at")
TABLES = {
    table.name: table
    for table in (
        ListTable(
            "runs",
            "run",
            ("run", "state", "reason", "plan", "version", "source", "sink", "environment", "labels", *_TIMES),
            _runs,
            figures_of_runs,
        ),
        ListTable(
            "campaigns",
            "campaign",
            ("campaign", "state", "plan", "version", "schedule", "launched_by", *_TIMES, "runs", "finished"),
            _campaigns,
            figures_of_campaigns,
        ),
        ListTable(
            "hosts",
            "host",
            ("id", "host", "labels", "uplink", "endpoints", "states", "added_at"),
            _hosts,
            figures_of_hosts,
        ),
        ListTable(
            "pairs",
            "pair",
            ("pair", "source", "sink", "environment", "labels", "source_state", "sink_state", "data_path", "added_at"),
            _pairs,
            figures_of_pairs,
        ),
        ListTable(
            "plans",
            "plan",
            ("id", "plan", "labels", "version", "kinds", "repetitions", "order", "added_at"),
            _plans,
            figures_of_plans,
        ),
    )
}
