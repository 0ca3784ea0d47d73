"""Probes: each endpoint once a minute, spread over it; spans, hours and the endpoint's state from what they found."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.db.models import Max
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from benchweb.common import celery_client
from benchweb.hosts import services
from benchweb.hosts.models import AvailabilitySpan, Endpoint, ProbeHour
from benchweb.hosts.probing import probes
from benchweb.hosts.probing.probes import Probe, ProbedLoad, probes_claim, probes_record
from tests.factories import make_endpoint

pytestmark = pytest.mark.django_db

AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
BUSY = ProbedLoad(cpu_ratio=0.25, received_bps=3e9, sent_bps=1e9, link_bps=10e9)


def answered(endpoint: Endpoint, seconds: float = 0.002, load: ProbedLoad = BUSY) -> Probe:
    return Probe(endpoint.pk, endpoint.control_address, "answered", "answered", "", seconds, load)


def silent(endpoint: Endpoint, state: str = "unreachable", reason: str = "no route") -> Probe:
    return Probe(endpoint.pk, endpoint.control_address, state, "unreachable", reason)


def record(*found: Probe, after: timedelta = timedelta(0)) -> int:
    return probes_record(probes=found, at=AT + after)


def spans(endpoint: Endpoint) -> list[tuple[str, timedelta, timedelta]]:
    rows = AvailabilitySpan.objects.filter(endpoint=endpoint)
    return [(row.state, row.since - AT, row.until - AT) for row in rows]


def make_due(*endpoints: Endpoint) -> None:
    keys = [endpoint.pk for endpoint in endpoints]
    Endpoint.objects.filter(pk__in=keys).update(probe_due_at=timezone.now() - timedelta(seconds=1))


def test_a_new_endpoint_gets_its_turn_within_ninety_seconds_and_is_not_probed_before() -> None:
    endpoint = make_endpoint()
    assert probes_claim() == []
    endpoint.refresh_from_db()
    assert endpoint.probe_due_at is not None
    assert timedelta(seconds=29) < endpoint.probe_due_at - timezone.now() < timedelta(seconds=90)
    assert endpoint.probe_due_at.second == endpoint.pk % 60


def test_what_is_due_is_claimed_once_and_again_a_minute_later() -> None:
    endpoint, archived = make_endpoint(), make_endpoint()
    make_due(endpoint, archived)
    services.archive(row=archived.host)
    assert probes_claim() == [endpoint.pk]
    assert probes_claim() == []
    endpoint.refresh_from_db()
    assert endpoint.probe_due_at is not None
    assert timedelta(seconds=29) < endpoint.probe_due_at - timezone.now() < timedelta(seconds=90)


def test_sixty_endpoints_have_sixty_seconds_of_the_minute() -> None:
    endpoints = [make_endpoint() for _ in range(60)]
    probes_claim()
    due_at = [each.probe_due_at for each in Endpoint.objects.filter(pk__in=[e.pk for e in endpoints])]
    assert {at and at.second for at in due_at} == set(range(60))


def test_a_turn_far_ahead_is_that_of_a_clock_that_was_set_and_counts_as_due() -> None:
    endpoint = make_endpoint()
    Endpoint.objects.filter(pk=endpoint.pk).update(probe_due_at=timezone.now() + timedelta(hours=1))
    assert probes_claim() == [endpoint.pk]


@pytest.mark.django_db(transaction=True)
def test_two_ticks_at_once_share_what_is_due() -> None:
    endpoints = [make_endpoint() for _ in range(30)]
    make_due(*endpoints)

    def claim() -> list[int]:
        try:
            return probes_claim()
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        claimed = [key for part in pool.map(lambda _: claim(), range(4)) for key in part]
    assert sorted(claimed) == sorted(endpoint.pk for endpoint in endpoints)


def test_the_tick_sends_what_is_due_as_one_task(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []
    monkeypatch.setattr(celery_client, "send", lambda *arguments: sent.append(arguments))
    assert probes.probes_send() == 0
    endpoint = make_endpoint()
    make_due(endpoint)
    assert probes.probes_send() == 1
    assert sent == [("workers.tasks.probe_endpoints", [endpoint.pk])]


def test_equal_findings_are_one_span_that_each_probe_extends() -> None:
    endpoint = make_endpoint()
    for minute in range(5):
        assert record(answered(endpoint), after=minute * MINUTE) == 1
    assert spans(endpoint) == [("answered", 0 * MINUTE, 4 * MINUTE)]


def test_a_change_begins_a_span_with_its_reason() -> None:
    endpoint = make_endpoint()
    record(answered(endpoint))
    record(silent(endpoint, "engine_down", "refused"), after=MINUTE)
    record(silent(endpoint, "unreachable", "no route"), after=2 * MINUTE)
    record(silent(endpoint, "unreachable", "timed out"), after=3 * MINUTE)
    assert spans(endpoint) == [
        ("answered", 0 * MINUTE, 0 * MINUTE),
        ("engine_down", MINUTE, MINUTE),
        ("unreachable", 2 * MINUTE, 3 * MINUTE),
    ]
    assert list(AvailabilitySpan.objects.values_list("reason", flat=True)) == ["", "refused", "timed out"]


def test_a_gap_of_over_three_minutes_is_not_bridged() -> None:
    endpoint = make_endpoint()
    record(answered(endpoint))
    record(answered(endpoint), after=3 * MINUTE)
    record(answered(endpoint), after=6 * MINUTE + timedelta(seconds=1))
    assert spans(endpoint) == [
        ("answered", 0 * MINUTE, 3 * MINUTE),
        ("answered", 6 * MINUTE + timedelta(seconds=1), 6 * MINUTE + timedelta(seconds=1)),
    ]


def test_the_same_probe_twice_and_one_that_comes_late_change_nothing() -> None:
    endpoint = make_endpoint()
    record(answered(endpoint))
    assert record(answered(endpoint)) == 0
    assert record(silent(endpoint), after=-MINUTE) == 0
    assert spans(endpoint) == [("answered", 0 * MINUTE, 0 * MINUTE)]
    assert ProbeHour.objects.get().probes == 1


def test_a_probe_of_an_endpoint_that_was_archived_or_moved_meanwhile_is_dropped() -> None:
    gone, moved = make_endpoint(), make_endpoint()
    found = [silent(gone), silent(moved)]
    services.archive(row=gone)
    Endpoint.objects.filter(pk=moved.pk).update(control_address="192.0.2.9:7410")
    assert record(*found) == 0
    assert (AvailabilitySpan.objects.count(), ProbeHour.objects.count()) == (0, 0)
    moved.refresh_from_db()
    assert (moved.status, moved.unreachable_since) == ("unknown", None)


def test_an_hour_adds_up_what_its_probes_told() -> None:
    endpoint = make_endpoint()
    record(answered(endpoint, 0.002, BUSY))
    record(answered(endpoint, 0.006, ProbedLoad(0.75, 5e9, 2e9, None)), after=MINUTE)
    record(silent(endpoint), after=2 * MINUTE)
    hour = ProbeHour.objects.get()
    assert hour.hour == AT.replace(minute=0)
    assert (hour.probes, hour.answered, hour.utilised, hour.metered) == (3, 2, 2, 2)
    assert hour.round_trip_sum_seconds == pytest.approx(0.008)
    assert (hour.round_trip_least_seconds, hour.round_trip_most_seconds) == (0.002, 0.006)
    assert (hour.cpu_ratio_sum, hour.cpu_ratio_most) == (1.0, 0.75)
    assert (hour.received_bps_sum, hour.received_bps_most) == (8e9, 5e9)
    assert (hour.sent_bps_sum, hour.sent_bps_most, hour.link_bps) == (3e9, 2e9, 10e9)


def test_what_no_probe_told_is_missing_and_not_zero() -> None:
    endpoint = make_endpoint()
    record(answered(endpoint, load=ProbedLoad(cpu_ratio=0.5)))
    record(silent(endpoint), after=MINUTE)
    hour = ProbeHour.objects.get()
    assert (hour.utilised, hour.metered) == (1, 0)
    assert (hour.received_bps_most, hour.sent_bps_most, hour.link_bps) == (None, None, None)


def test_the_next_hour_is_a_row_of_its_own() -> None:
    endpoint = make_endpoint()
    record(answered(endpoint))
    record(answered(endpoint), after=31 * MINUTE)
    assert list(ProbeHour.objects.values_list("hour__hour", "probes")) == [(12, 1), (13, 1)]


def test_the_endpoints_state_keeps_step_and_the_first_silence_is_remembered() -> None:
    endpoint = make_endpoint()
    record(silent(endpoint, reason="no route"))
    record(silent(endpoint, "engine_down", "refused"), after=MINUTE)
    endpoint.refresh_from_db()
    assert (endpoint.status, endpoint.status_reason, endpoint.unreachable_since) == ("unreachable", "refused", AT)
    record(answered(endpoint), after=2 * MINUTE)
    endpoint.refresh_from_db()
    assert (endpoint.status, endpoint.status_reason, endpoint.unreachable_since) == ("answered", "", None)


def test_an_endpoint_that_is_back_is_checked_once(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    endpoint = make_endpoint()
    sent = []
    monkeypatch.setattr(celery_client, "send", lambda *arguments, **_: sent.append(arguments))
    with django_capture_on_commit_callbacks(execute=True):
        record(silent(endpoint))
        record(answered(endpoint), after=MINUTE)
        record(answered(endpoint), after=2 * MINUTE)
    assert sent == [("workers.tasks.check_endpoint", endpoint.pk)]


def test_forty_probes_cost_as_many_queries_as_four(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    endpoints = [make_endpoint() for _ in range(40)]
    record(*map(answered, endpoints))
    Endpoint.objects.update(status="answered", status_reason="", unreachable_since=None)
    # A savepoint and its release, the rows, the latest spans, the spans' end, and the hours as one batch.
    with django_assert_num_queries(6):
        assert record(*map(answered, endpoints), after=MINUTE) == 40
    assert AvailabilitySpan.objects.aggregate(last=Max("until"))["last"] == AT + MINUTE
    assert ProbeHour.objects.filter(probes=2).count() == 40
