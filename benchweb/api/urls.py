"""The API with all its resources."""

from benchweb.api.application import BenchwebAPI, MicrosecondRenderer
from benchweb.api.authentication import BearerToken
from benchweb.api.idempotency import once_per_key
from benchweb.api.parser import StrictParser
from benchweb.api.resources import (
    audit,
    catalog,
    compare,
    imports,
    reports,
    results,
    run_files,
    run_labels,
    runs,
    series,
    shares,
)
from benchweb.api.resources.alerts import alerts, baselines, sensitivities, thresholds, verdicts
from benchweb.api.resources.inventory import (
    adding,
    availability,
    canaries,
    endpoints,
    enrolment_codes,
    environments,
    fact_changes,
    hosts,
    pairs,
)
from benchweb.api.resources.notifications import channels, maintenance, rules
from benchweb.api.resources.people import environment_roles, invitations, service_accounts, teams, users
from benchweb.api.resources.planning import campaigns, plans, schedules

api = BenchwebAPI(
    title="benchweb",
    version="1",
    description="Define hosts, pairs and plans, launch runs, and read what the engines measured.",
    urls_namespace="api",
    auth=BearerToken(),
    parser=StrictParser(),
    renderer=MicrosecondRenderer(),
)

api.add_decorator(once_per_key)

# Before hosts, whose rows have an id where these have a word.
for resource in (
    adding,
    enrolment_codes,
    hosts,
    availability,
    canaries,
    fact_changes,
    environments,
    endpoints,
    pairs,
    plans,
):
    api.add_router("", resource.router)
for resource in (channels, rules, maintenance):
    api.add_router("", resource.router)
for resource in (alerts, baselines, thresholds, sensitivities, verdicts):
    api.add_router("", resource.router)
for resource in (runs, run_labels, run_files, imports, results, reports, compare):
    api.add_router("", resource.router)
for resource in (users, teams, invitations, service_accounts, environment_roles):
    api.add_router("", resource.router)
for resource in (campaigns, schedules, series, shares, audit, catalog):
    api.add_router("", resource.router)
