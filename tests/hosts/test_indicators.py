"""What hours of probes add up to is the same, whether PostgreSQL or Python adds them up."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from benchweb.hosts.models import ProbeHour
from benchweb.hosts.probing.indicators import Hour, indicators, probe_hours, probe_loads
from tests.factories import make_endpoint

pytestmark = pytest.mark.django_db
BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
HOURS = [BEGIN + timedelta(hours=number) for number in range(50)]


def figures(hours: list[Hour]) -> list[Any]:
    """Return all figures of the hours' indicators, None where there are none."""
    found = indicators(hours)
    parts = (found.response_seconds, found.cpu_ratio, found.received_bps, found.sent_bps, found.left_to_send_bps)
    return [found.probes, found.link_bps, *(value for part in parts for value in (part or [None]))]


def test_sums_of_the_database_are_those_of_the_hours() -> None:
    full, silent = make_endpoint(), make_endpoint()
    for number, hour in enumerate(HOURS):
        load = {"utilised": 50, "cpu_ratio_sum": 20 + number / 7, "cpu_ratio_most": number / 50}
        link = {
            "metered": 40,
            "received_bps_sum": 4e9 / (number + 1),
            "sent_bps_sum": 1e9 * number,
            "sent_bps_most": 7e7,
        }
        seconds = {"round_trip_sum_seconds": 0.1 * number, "round_trip_least_seconds": 0.001 * number}
        speed: dict[str, float | None] = {"link_bps": 1e9 if number < 20 else 1e10 if number < 45 else None}
        told = {**load, **link, **seconds, **speed} if number % 3 else {}
        ProbeHour.objects.create(endpoint=full, hour=hour, probes=60, answered=59 if told else 0, **told)
        ProbeHour.objects.create(endpoint=silent, hour=hour, probes=60)
    ids, begins = [full.pk, silent.pk], [BEGIN, BEGIN + timedelta(hours=26), BEGIN + timedelta(days=3)]
    loads = probe_loads(endpoint_ids=ids, hours_from=begins[1], sums_from=begins)
    hours = probe_hours(endpoint_ids=ids, from_time=BEGIN)
    for pk in ids:
        assert loads[pk].hours == [hour for hour in hours[pk] if hour.hour >= begins[1]]
        for begin in begins[:2]:
            later = [hour for hour in hours[pk] if hour.hour >= begin]
            assert figures([loads[pk].sums[begin]]) == pytest.approx(figures(later))
        assert begins[2] not in loads[pk].sums
    assert figures(hours[silent.pk]) == [3000, *[None] * 6]
