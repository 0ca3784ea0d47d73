"""GET /hosts/ID/availability."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from benchweb.hosts.models import AvailabilitySpan, Endpoint
from benchweb.hosts.probing.probes import Probe, ProbedLoad, probes_record
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_endpoint

DAY = datetime(2026, 3, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def endpoint(db: None) -> Endpoint:
    """An hour of probes: 40 answered, 20 in vain."""
    made = make_endpoint()
    told: tuple[Any, ...]
    for minute in range(60):
        if minute < 40:
            told = ("answered", "answered", "", 0.001, ProbedLoad(0.5, 4e9, 1e9, 10e9))
        else:
            told = ("unreachable", "unreachable", "no route")
        found = Probe(made.pk, made.control_address, *told)
        probes_record(probes=[found], at=DAY + minute * MINUTE)
    return made


def test_an_hour_is_told_with_states_stretches_and_load(api: ApiClient, endpoint: Endpoint) -> None:
    answer = api.get(f"/hosts/{endpoint.host_id}/availability?from=2026-03-01T00:00:00Z&to=2026-03-01T02:00:00Z").json()
    figures = {
        "ratio": pytest.approx(40 / 59),
        "known_ratio": pytest.approx(59 / 120),
        "answered_seconds": 2400,
        "engine_down_seconds": 0,
        "unreachable_seconds": 1140,
        "unknown_seconds": 3660,
    }
    (told,) = answer.pop("endpoints")
    assert answer == figures | {
        "host": endpoint.host_id,
        "from": "2026-03-01T00:00:00.000000Z",
        "to": "2026-03-01T02:00:00.000000Z",
    }
    assert {key: told[key] for key in figures} == figures
    assert [(part["state"], part["reason"]) for part in told["stretches"]] == [
        ("answered", ""),
        ("unreachable", "no route"),
        ("unknown", ""),
    ]
    assert told["stretches"][1]["since"] == "2026-03-01T00:40:00.000000Z"
    assert (told["endpoint"], told["probes"], told["link_bps"]) == (endpoint.pk, 60, 10e9)
    assert told["response_seconds"] == {"mean": pytest.approx(0.001), "least": 0.001, "most": 0.001, "n": 40}
    assert told["cpu_ratio"] == {"mean": 0.5, "least": None, "most": 0.5, "n": 40}
    assert told["received_bps"] == {"mean": 4e9, "least": None, "most": 4e9, "n": 40}
    assert told["left_to_receive_bps"] == {"mean": 6e9, "least": 6e9, "most": None, "n": 40}
    assert told["left_to_send_bps"]["mean"] == 9e9


def test_without_bounds_it_is_the_last_day_and_what_was_not_told_is_null(api: ApiClient, db: None) -> None:
    endpoint = make_endpoint()
    now = timezone.now()
    AvailabilitySpan.objects.create(endpoint=endpoint, state="answered", since=now - 2 * timedelta(days=1), until=now)
    answer = api.get(f"/hosts/{endpoint.host_id}/availability").json()
    assert (answer["ratio"], answer["known_ratio"]) == (1, 1)
    assert answer["answered_seconds"] == pytest.approx(86_400)
    (told,) = answer["endpoints"]
    assert (told["probes"], told["response_seconds"], told["left_to_send_bps"]) == (0, None, None)


def test_a_host_without_endpoints_has_no_ratio(api: ApiClient, endpoint: Endpoint) -> None:
    api.delete(f"/endpoints/{endpoint.pk}")
    answer = api.get(f"/hosts/{endpoint.host_id}/availability").json()
    assert (answer["ratio"], answer["known_ratio"], answer["endpoints"]) == (None, None, [])


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("from=2026-03-02&to=2026-03-01", "from"),
        ("from=2024-01-01&to=2026-03-01", "from"),
        ("from=0001-01-01&to=0001-01-02", "from"),
        ("from=9999-01-01", "from"),
        ("from=yesterday", "from"),
        ("since=2026-03-01", "since"),
    ],
)
def test_a_time_that_is_none_is_refused(
    api: ApiClient, endpoint: Endpoint, refused: Refused, query: str, field: str
) -> None:
    refused(api.get(f"/hosts/{endpoint.host_id}/availability?{query}"), 422, field)


def test_the_end_of_the_calendar_is_now(api: ApiClient, endpoint: Endpoint) -> None:
    assert api.get(f"/hosts/{endpoint.host_id}/availability?to=9999-12-31T23:59:59Z").status_code == 200
    assert api.get("/hosts/999999/availability").status_code == 404
