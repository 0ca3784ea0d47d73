"""No search reads a large table from end to end: what PostgreSQL reads of it for a few matches among thousands."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchweb.hosts.models import Facts
from benchweb.runs import selectors
from benchweb.runs.models import Campaign, Run
from benchweb.runs.selectors import RunFilters, runs_matching
from benchweb.web.search.page import facts_found, parsed
from tests.factories import make_endpoint, make_pair, make_run

MANY = 5_000
MANY_FACTS = 2_000
FEW = 3


@pytest.fixture(scope="module")
def many_runs(rows_of_a_module: None) -> list[Run]:
    """Make a few runs of a rare pair and plan between very many of a common one; return those few."""
    common = make_run(pair=make_pair(source=make_endpoint(host_name="oak")), name="nightly")
    rare = make_pair(source=make_endpoint(host_name="rowan"), environment="attic")
    made = [make_run(pair=rare, name="rarely") for _ in range(FEW)]
    campaigns = Campaign.objects.bulk_create(
        [Campaign(plan_version=common.plan_version) for _ in range(MANY)], batch_size=2_000
    )
    copies = (
        Run(campaign=campaign, plan_version=common.plan_version, pair=common.pair, state="finished")
        for campaign in campaigns
    )
    Run.objects.bulk_create(copies, batch_size=2_000)
    _analyze()
    return made


@pytest.mark.parametrize("text", ["rowan", "ROWAN rarely", "attic", "nobody", "oak nobody"])
@pytest.mark.django_db
def test_a_search_of_runs_reads_those_that_match(many_runs: list[Run], text: str) -> None:
    found = set(runs_matching(RunFilters(text=text))[:50])
    assert found == (set() if "nobody" in text else set(many_runs))
    assert _rows_read(lambda: list(runs_matching(RunFilters(text=text))[:50]), "runs_run") <= 10 * FEW


def test_a_word_in_the_names_of_very_many_pairs_is_searched_for_too(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selectors, "MOST_IDS", 4)
    source = make_endpoint(host_name="elm")
    pairs = [make_pair(source=source, environment=f"ward {number}") for number in range(5)]
    run = make_run(pair=pairs[-1])
    make_run()
    assert list(runs_matching(RunFilters(text="ward"))) == [run]


def test_a_search_of_facts_reads_those_that_match(db: None) -> None:
    endpoints = [make_endpoint(host_name=f"oak-{number}") for number in range(50)]
    # As large as what real engines tell, and as alike.
    sysctls = {f"net.core.limit_{number}": str(number * 4096) for number in range(60)}
    facts = [
        {"kernel": "6.99.7" if number < FEW else f"5.10.{number}", "sysctls": sysctls} for number in range(MANY_FACTS)
    ]
    now = timezone.now()
    seen = {"first_seen_at": now, "last_seen_at": now}
    Facts.objects.bulk_create(
        [
            Facts(endpoint=endpoints[number % 50], digest=str(number), document=document, **seen)
            for number, document in enumerate(facts)
        ],
        batch_size=500,
    )
    _analyze()
    for text in ("kernel:6.99.7", "6.99.7"):
        assert len(facts_found(parsed(text), 10)[0].hits) == FEW
        assert _rows_read(partial(facts_found, parsed(text), 10), "hosts_facts") <= MANY_FACTS / 10


def _analyze() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _rows_read(search: Callable[[], object], table: str) -> int:
    """Return how many of a table's rows the statements of a search visit, by EXPLAIN ANALYZE."""
    with CaptureQueriesContext(connection) as captured:
        search()
    plans = []
    with connection.cursor() as cursor:
        for query in captured.captured_queries:
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query['sql']}")
            plans.append(cursor.fetchone()[0])
    found = [json.loads(plan) if isinstance(plan, str) else plan for plan in plans]
    nodes = [node for plan in found for node in _nodes(plan[0]["Plan"])]
    return sum(_visited(node) for node in nodes if node.get("Relation Name") == table)


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _nodes(part)


def _visited(node: dict[str, Any]) -> int:
    removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return int((node["Actual Rows"] + removed) * node["Actual Loops"])
