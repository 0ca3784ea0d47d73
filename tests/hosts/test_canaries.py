"""Whose turn it is to be measured alone: once a night, by one worker, where the host wants it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from benchweb.hosts.canaries import (
    CanaryPasses,
    canaries_due,
    canary_claim,
    canary_figures,
    canary_put_off,
    canary_record,
)
from benchweb.hosts.models import CanaryMetric, CanaryTurn, Endpoint, Host
from benchweb.hosts.services import host_update
from tests.factories import make_endpoint

pytestmark = pytest.mark.django_db


def due_in(hours: float) -> Endpoint:
    """Return an endpoint whose turn is so many hours from now."""
    endpoint = make_endpoint()
    CanaryTurn.objects.create(endpoint=endpoint, due_at=timezone.now() + timedelta(hours=hours))
    return endpoint


def next_in(endpoint: Endpoint) -> float:
    """Return in how many hours the endpoint's turn comes again."""
    due_at = CanaryTurn.objects.get(endpoint=endpoint).due_at
    return (due_at - timezone.now()).total_seconds() / 3600


def test_a_turn_is_taken_once_a_night() -> None:
    endpoint = make_endpoint()
    assert canaries_due([endpoint]) == [endpoint]
    assert [canary_claim(endpoint_id=endpoint.pk) for _ in range(2)] == [True, False]
    assert canaries_due([endpoint]) == []
    assert next_in(endpoint) == pytest.approx(20, abs=0.1)


@pytest.mark.parametrize(("late", "expected"), [(4.0, 20.0), (0.5, 23.5)])
def test_the_next_one_keeps_its_time_of_day_where_runs_follow_each_other(late: float, expected: float) -> None:
    endpoint = due_in(-late)
    assert canary_claim(endpoint_id=endpoint.pk)
    assert next_in(endpoint) == pytest.approx(expected, abs=0.1)


def test_a_host_that_wants_none_or_is_made_up_has_no_turn() -> None:
    endpoint, synthetic = make_endpoint(), make_endpoint()
    host = endpoint.host
    host_update(host=host, name=host.name, description="", labels=[], uplink="", has_canary=False)
    Host.objects.filter(pk=synthetic.host_id).update(is_synthetic=True)
    ends = list(Endpoint.objects.filter(pk__in=[endpoint.pk, synthetic.pk]).select_related("host"))
    assert canaries_due(ends) == []
    # Whatever was read before: the host's word is asked again by the statement that takes the turn.
    assert not any(canary_claim(endpoint_id=end.pk) for end in ends)
    host_update(host=host, name=host.name, description="again", labels=[], uplink="")
    assert not Host.objects.get(pk=host.pk).has_canary


def test_a_turn_that_came_to_nothing_is_for_a_later_run() -> None:
    endpoint = due_in(-1)
    assert canary_claim(endpoint_id=endpoint.pk)
    canary_put_off(endpoint_id=endpoint.pk)
    assert next_in(endpoint) == pytest.approx(1, abs=0.1)


def test_what_is_unknown_here_is_left_out() -> None:
    endpoint, now = make_endpoint(), timezone.now()
    told = [CanaryPasses(metric, 2.0, 1.0, 3.0, 9) for metric in (CanaryMetric.SPIN, "telepathy")]
    assert canary_record(endpoint_id=endpoint.pk, at=now, figures=told) == 1
    span = {"from_time": now - timedelta(hours=1), "to_time": now + timedelta(hours=1)}
    [kept] = canary_figures(endpoint_ids=[endpoint.pk], **span)
    assert (kept.metric, kept.median, kept.least, kept.most, kept.n) == ("spin_seconds", 2.0, 1.0, 3.0, 9)
