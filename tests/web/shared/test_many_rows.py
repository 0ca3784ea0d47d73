"""Pages of a large fleet: what is cut off says so, what happened comes first."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from benchweb.hosts.selectors import pairs_matching
from benchweb.hosts.services import pair_create
from benchweb.runs.lists import listed_runs
from benchweb.runs.models import Run, State
from benchweb.web.search.views import MOST_OF_A_TYPE
from benchweb.web.shared.lists import PAIRS_DISPLAYED
from benchweb.web.timeline.page import Coming, host_lanes
from tests.charts.history_rows import NIGHT, past_run
from tests.factories import make_endpoint, make_pair, make_plan, make_run, make_schedule

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 23, 8, tzinfo=UTC)


def test_a_search_that_finds_more_than_it_shows_says_so(signed_in: Client) -> None:
    for number in range(MOST_OF_A_TYPE):
        make_endpoint(host_name=f"node-{number}")
    few = signed_in.get("/search?q=node").content.decode()
    make_endpoint(host_name="node-last")
    many = signed_in.get("/search?q=node").content.decode()
    told = f"first {MOST_OF_A_TYPE}; add a word to narrow the results"
    assert (told in few, told in many) == (False, True)


def test_the_first_pairs_of_an_environment_have_their_total(signed_in: Client) -> None:
    first = make_pair(environment="large")
    source, environment = first.source, first.environment
    for _number in range(PAIRS_DISPLAYED - 1):
        pair_create(source=source, sink=make_endpoint(), environment=environment)
    urls = [f"/environments/{environment.pk}", f"/hosts/{source.host_id}"]
    assert not any(f"first {PAIRS_DISPLAYED}" in signed_in.get(url).content.decode() for url in urls)
    pair_create(source=source, sink=make_endpoint(), environment=environment)
    told = f"first {PAIRS_DISPLAYED} of {PAIRS_DISPLAYED + 1}"
    assert all(told in signed_in.get(url).content.decode() for url in urls)


def test_pairs_are_found_by_their_environment_too() -> None:
    pair, _other = make_pair(environment="zone a"), make_pair(environment="zone b")
    assert list(pairs_matching(text="ZONE A")) == [pair]


def test_hosts_where_something_ran_come_before_those_where_it_is_only_planned() -> None:
    idle = make_pair(source=make_endpoint(host_name="a-idle"), sink=make_endpoint(host_name="b-idle"))
    busy = make_pair(source=make_endpoint(host_name="y-busy"), sink=make_endpoint(host_name="z-busy"))
    run = make_run(pair=busy)
    Run.objects.update(state=State.FINISHED, started_at=NOW, finished_at=NOW + timedelta(minutes=1))
    schedule = make_schedule(target={"pairs": [idle.pk, busy.pk]})
    planned = [Coming(schedule, NOW + timedelta(hours=1), 60)]
    lanes = host_lanes(listed_runs([run.pk]), planned, NOW + timedelta(minutes=2))
    assert [lane.label for lane in lanes] == ["y-busy", "z-busy", "a-idle", "b-idle"]
    assert [bar.state for bar in lanes[0].bars] == ["finished", "planned"]


def test_a_look_at_some_runs_says_so_and_leads_back_to_all(signed_in: Client) -> None:
    steps = [{"kind": "tcp_stream", "params": {"message_size_bytes": 64}}]
    run = past_run(make_plan(steps=steps), make_pair(), NIGHT, {"throughput_bps": 1e9})
    page = signed_in.get(f"/history?view=sizes&kind=tcp_stream&overlay=run&runs={run.pk}").content.decode()
    assert f"run {run.pk} only" in page
    assert 'href="?view=sizes&amp;kind=tcp_stream&amp;overlay=run"' in page


def test_a_page_behind_the_last_run_does_not_say_that_there_is_none(signed_in: Client) -> None:
    make_run()
    assert "No runs yet." not in signed_in.get("/runs?after=1").content.decode()
    Run.objects.all().delete()
    assert "No runs yet." in signed_in.get("/runs").content.decode()
