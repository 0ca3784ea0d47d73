# ruff: noqa: S608  (names of tables and columns come from the models, the conditions from here)
"""Remove all synthetic rows, with whatever refers to them.

What counts as synthetic is what has a synthetic host at one end: nothing measured can have. A plan or an environment
that somebody has used for real hosts since stays, and is no longer called synthetic.
"""

from django.db import models, transaction

from benchweb.common.rows import fetch_column
from benchweb.hosts.models import Environment, Host, Pair
from benchweb.ops.removal.rows import rows_delete
from benchweb.plans.models import Plan
from benchweb.results import nightly_summaries as nights
from benchweb.results.models import Point, Series
from benchweb.runs.models import Campaign, Resource, Run
from benchweb.schedules.models import Schedule

_PAIR = """exists (
    select from hosts_endpoint e join hosts_host h on h.id = e.host_id
    where e.id in (source_id, sink_id) and h.is_synthetic
)"""
_OF_PAIR = f"pair_id in (select id from hosts_pair where {_PAIR})"
_OF_VERSION = """plan_version_id in (
    select v.id from plans_planversion v join plans_plan p on p.id = v.plan_id where p.is_synthetic
)"""
_UNUSED_CAMPAIGN = "not exists (select from runs_run r where r.campaign_id = runs_campaign.id)"
# One that somebody made with the same plan has other pairs.
_OF_SCHEDULE = f"""plan_id in (select id from plans_plan where is_synthetic) and target ? 'pairs' and not exists (
    select from hosts_pair where (target -> 'pairs') @> to_jsonb(hosts_pair.id) and not ({_PAIR})
)"""
_UNUSED_PLAN = """not exists (
    select from plans_planversion v join runs_campaign c on c.plan_version_id = v.id where v.plan_id = plans_plan.id
) and not exists (select from schedules_schedule s where s.plan_id = plans_plan.id)"""
# Each is referred to by nothing but what went before, or by rows that end with it. Points go first, by their series.
_STEPS: list[tuple[type[models.Model], str]] = [
    (Point, f"series_id in (select id from results_series where {_OF_PAIR})"),
    (Series, _OF_PAIR),
    (Run, _OF_PAIR),
    (Schedule, _OF_SCHEDULE),
    (Campaign, f"{_OF_VERSION} and {_UNUSED_CAMPAIGN}"),
    (Plan, f"is_synthetic and {_UNUSED_PLAN}"),
    (Pair, _PAIR),
    (
        Environment,
        "is_synthetic and not exists (select from hosts_pair p where p.environment_id = hosts_environment.id)",
    ),
    (Resource, "host_id in (select id from hosts_host where is_synthetic)"),
    (Host, "is_synthetic"),
]


@transaction.atomic
def remove() -> dict[str, int]:
    """Delete what generate_history made, and what was made for it since, such as notes; return rows by table."""
    removed: dict[str, int] = {}
    # Before the tables, as the tick has it.
    nights.take_lock(wait=True)
    mixed = fetch_column(f"select distinct environment_id from hosts_pair where {_PAIR}")
    for model, condition in _STEPS:
        rows_delete(model, condition, removed)
    # Those that stay are summed up without what went.
    nights.make_anew(mixed)
    for model in (Plan, Environment):
        model._default_manager.filter(is_synthetic=True).update(is_synthetic=False)
    return removed
