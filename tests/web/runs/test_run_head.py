"""The head of a run's page: where it belongs, its figures beside what is usual, its neighbours, its turn."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from benchweb.hosts.models import Endpoint, Pair
from benchweb.plans.models import Plan
from benchweb.results.run_summaries import rebuild
from benchweb.runs.models import Run, State
from benchweb.schedules.models import Slot
from tests.charts.history_rows import DAY, NIGHT, past_run
from tests.factories import make_endpoint, make_pair, make_plan, make_run, make_schedule

pytestmark = pytest.mark.django_db
STREAM = [{"kind": "tcp_stream", "params": {"message_size_bytes": 4096, "duration_seconds": 1}}]


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).replace("\xa0", " ")


def nights(pair: Pair, plan: Plan, *rates: float) -> list[Run]:
    runs = [
        past_run(plan, pair, NIGHT + number * DAY, *({"throughput_bps": rate * n} for n in (0.99, 1, 1.01)))
        for number, rate in enumerate(rates)
    ]
    rebuild()
    return runs


def test_the_breadcrumb_leads_to_everything_that_a_run_belongs_to(signed_in: Client) -> None:
    schedule = make_schedule(name="nightly rack 7")
    run = make_run()
    Slot.objects.create(schedule=schedule, at=timezone.now(), claimed_at=timezone.now(), campaign=run.campaign)
    page = signed_in.get(f"/runs/{run.pk}").content.decode()
    for path in (
        f"/environments/{run.pair.environment_id}",
        f"/pairs/{run.pair_id}",
        f"/plans/{run.plan_version.plan_id}?version=1",
        f"/schedules/{schedule.pk}",
        f"/campaigns/{run.campaign_id}",
    ):
        assert f'href="{path}"' in page, path
    assert signed_in.get(f"/plans/{run.plan_version.plan_id}?version=1").status_code == 200


def test_a_figure_stands_beside_what_is_usual_with_its_interval_and_the_runs_around(signed_in: Client) -> None:
    pair, plan = make_pair(), make_plan(steps=STREAM)
    runs = nights(pair, plan, 1e10, 1.01e10, 0.99e10, 1e10, 1.005e10, 0.995e10, 8e9, 1e10)
    worse = runs[6]
    answer = signed_in.get(f"/runs/{worse.pk}")
    (row,) = answer.context["view"].figures
    figure = row.figure
    assert (figure.values, figure.mark) == ([1e10, 1.01e10, 0.99e10, 1e10, 1.005e10, 0.995e10, 8e9, 1e10], 6)
    low, high = figure.band
    # Three per cent are never worth a look, and the noise is less.
    assert (low, high) == pytest.approx((1e10 - 0.03e10, 1e10 + 0.03e10), rel=1e-3)
    text = words(answer.content.decode())
    assert "TCP stream at 4 KiB 8.00 Gbit/s" in text
    assert "▼ −20.0 % usual 9.70 Gbit/s to 10.3 Gbit/s , 6 runs" in text
    assert "sparkline-mark" in answer.content.decode()


def test_a_run_within_its_usual_range_is_no_change_and_the_first_one_says_so(signed_in: Client) -> None:
    pair, plan = make_pair(), make_plan(steps=STREAM)
    runs = nights(pair, plan, 1e10, 1.01e10, 0.99e10, 1e10, 1.005e10, 0.995e10)
    assert "no significant change" in words(signed_in.get(f"/runs/{runs[5].pk}").content.decode())
    assert "first result" in words(signed_in.get(f"/runs/{runs[0].pk}").content.decode())
    assert "baseline: 2 of 5 runs" in words(signed_in.get(f"/runs/{runs[2].pk}").content.decode())


def test_previous_and_next_are_of_the_same_pair_and_plan(signed_in: Client) -> None:
    pair, plan = make_pair(), make_plan(steps=STREAM)
    first = nights(pair, plan, 1e10)[0]
    nights(pair, make_plan(name="other", steps=STREAM), 1e10)
    nights(make_pair(), plan, 1e10)
    second, third = nights(pair, plan, 1e10, 1e10)
    view = signed_in.get(f"/runs/{second.pk}").context["view"]
    assert (view.previous, view.next) == (first.pk, third.pk)
    page = signed_in.get(f"/runs/{first.pk}").content.decode()
    assert 'rel="prev"' not in page
    assert f'<a href="/runs/{second.pk}" rel="next"' in page


def test_the_history_of_a_figure_is_of_its_pair_kind_and_size(signed_in: Client) -> None:
    (run,) = nights(make_pair(), make_plan(steps=STREAM), 1e10)
    (row,) = signed_in.get(f"/runs/{run.pk}").context["view"].figures
    assert row.history_url.startswith(f"/history?pair={run.pair_id}&kind=tcp_stream&metric=throughput_bps")
    assert "p.message_size_bytes=4096" in row.history_url
    assert signed_in.get(row.history_url).status_code == 200


def test_a_pending_run_says_its_place_and_when_it_is_expected_to_start(signed_in: Client) -> None:
    shared = make_endpoint()
    first, second = (make_run(pair=make_pair(sink=shared)) for _ in range(2))
    assert f'hx-get="/runs/{second.pk}/queue"' in signed_in.get(f"/runs/{second.pk}").content.decode()
    text = words(signed_in.get(f"/runs/{second.pk}/queue").content.decode())
    assert "Expected start:" in text
    assert "Position 2 in the queue of its hosts: 1 run is ahead." in text
    assert "Next in the queue of its hosts." in words(signed_in.get(f"/runs/{first.pk}/queue").content.decode())


def test_a_run_that_waits_no_more_has_an_empty_place_that_asks_no_further(signed_in: Client) -> None:
    run = make_run()
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED)
    page = signed_in.get(f"/runs/{run.pk}/queue").content.decode()
    assert "hx-get" not in page
    assert words(page).strip() == ""


def test_a_run_that_waits_for_a_silent_end_names_it(signed_in: Client) -> None:
    run = make_run()
    later = timezone.now() + timedelta(hours=1)
    Run.objects.filter(pk=run.pk).update(planned_at=later)
    run.reservations.update(planned_at=later)
    Endpoint.objects.filter(pk=run.pair.sink_id).update(unreachable_since=timezone.now(), status="unreachable")
    text = words(signed_in.get(f"/runs/{run.pk}/queue").content.decode())
    assert "unknown. Its turn passes to other runs until this end answers:" in text
    assert str(run.pair.sink) in text
