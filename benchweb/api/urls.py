"""The API with all its resources."""

from benchweb.api.application import BenchwebAPI
from benchweb.api.authentication import BearerToken
from benchweb.api.parser import StrictParser
from benchweb.api.renderer import MicrosecondRenderer
from benchweb.api.resources import catalog, compare, runs, series, shares
from benchweb.api.resources.alerts import alerts, thresholds, verdicts
from benchweb.api.resources.inventory import availability, endpoints, environments, hosts, pairs
from benchweb.api.resources.notifications import channels, maintenance, rules
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

for resource in (hosts, availability, environments, endpoints, pairs, plans):
    api.add_router("", resource.router)
for resource in (channels, rules, maintenance):
    api.add_router("", resource.router)
for resource in (alerts, thresholds, verdicts):
    api.add_router("", resource.router)
for resource in (runs, compare, campaigns, schedules, series, shares, catalog):
    api.add_router("", resource.router)
