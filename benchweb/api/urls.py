"""The API with all its resources."""

from benchweb.api.application import BenchwebAPI
from benchweb.api.authentication import BearerToken
from benchweb.api.parser import StrictParser
from benchweb.api.renderer import MicrosecondRenderer
from benchweb.api.resources import (
    availability,
    campaigns,
    catalog,
    compare,
    endpoints,
    environments,
    hosts,
    pairs,
    plans,
    runs,
    schedules,
    series,
    shares,
)

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
for resource in (runs, compare, campaigns, schedules, series, shares, catalog):
    api.add_router("", resource.router)
