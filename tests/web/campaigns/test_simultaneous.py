"""The page of a campaign whose sources tested one sink together."""

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from benchweb.runs.models import Campaign, Run, State
from tests.charts.simultaneous.scene import incast, measured
from tests.factories import make_endpoint, make_pair, make_plan

pytestmark = pytest.mark.django_db
RATES = [4e9, 2e9, 2e9]
# Session and user are two of them.
MOST_QUERIES = 12


def text_of(signed_in: Client, campaign: Campaign) -> str:
    return " ".join(signed_in.get(f"/campaigns/{campaign.pk}").content.decode().split())


# As the page's JSON has it, and as escaped text.
SHARES = ("Each source's share over time", "Each source\\u0027s share over time")


def test_it_is_launched_by_the_form_and_refused_where_the_sinks_differ(signed_in: Client) -> None:
    plan, sink = make_plan(), make_endpoint(host_name="sink")
    pairs = [make_pair(sink=sink).pk for _ in range(3)]
    chosen = {"action": "launch", "plan": plan.pk, "arrangement": "together"}
    answer = signed_in.post("/launch", chosen | {"pairs": pairs}, follow=True)
    assert Campaign.objects.get().arrangement == "together"
    assert "together: 3 sources to sink at once" in answer.content.decode()
    refused = signed_in.post("/launch", chosen | {"pairs": [pairs[0], make_pair().pk]}).content.decode()
    assert "Pairs that start together have one sink, and these have several." in refused
    assert Campaign.objects.count() == 1


def test_it_shows_one_result_with_its_parts(
    signed_in: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    campaign = incast(RATES)
    assert "Nothing yet: results come here" in text_of(signed_in, campaign)
    measured(campaign, RATES, late=0.01)
    with django_assert_max_num_queries(MOST_QUERIES):
        text = text_of(signed_in, campaign)
    assert "Total throughput" in text
    assert "Counted by eth0 of the sink" in text
    assert "1.0000" in text
    assert "0.889" in text
    assert "held" in text
    assert all(f"sink-source-{number}" in text for number in range(3))
    # The chart is drawn once nothing is fetched again every three seconds.
    assert not any(title in text for title in SHARES)
    Run.objects.update(state=State.FINISHED)
    assert any(title in text_of(signed_in, campaign) for title in SHARES)


def test_a_sum_that_the_sink_s_counters_do_not_bear_out_is_told(signed_in: Client) -> None:
    campaign = incast(RATES)
    measured(campaign, RATES, late=0.01, others=0.02 * sum(RATES))
    assert "The sum is more than 1 % from what the sink counted" in text_of(signed_in, campaign)


def test_a_source_that_died_is_named_and_no_total_is_told_without_it(signed_in: Client) -> None:
    campaign = incast(RATES)
    measured(campaign, [4e9, None, 2e9])
    text = text_of(signed_in, campaign)
    assert "Total throughput" not in text
    assert "Sum without the missing" in text
    assert "its engine is gone" in text


def test_runs_that_follow_each_other_have_no_such_section(signed_in: Client) -> None:
    answer = signed_in.post(
        "/launch", {"action": "launch", "plan": make_plan().pk, "pairs": [make_pair().pk, make_pair().pk]}, follow=True
    )
    assert "All sources together" not in answer.content.decode()
