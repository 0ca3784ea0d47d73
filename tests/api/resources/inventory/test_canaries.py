"""GET /hosts/ID/canaries."""

from datetime import timedelta

from django.utils import timezone

from benchweb.hosts.models import Host
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_endpoint
from tests.hosts.nights_alone import measured_alone


def test_what_a_host_measured_alone_comes_with_unit_and_n_and_is_bounded(api: ApiClient) -> None:
    endpoint, other = make_endpoint(), make_endpoint()
    measured_alone(endpoint, [100, 2, 1])
    measured_alone(other, [1])
    answer = api.get(f"/hosts/{endpoint.host_id}/canaries").json()
    assert (answer["host"], answer["has_canary"], len(answer["figures"])) == (endpoint.host_id, True, 6)
    first = answer["figures"][0]
    assert first.pop("at") < answer["figures"][-1]["at"]
    assert first == {
        "endpoint": endpoint.pk,
        "metric": "memory_copy_bytes_per_second",
        "unit": "B/s",
        "median": 2.02,
        "least": 1.9,
        "most": 4.0,
        "n": 9,
    }
    since = (timezone.now() - timedelta(days=399)).isoformat().replace("+00:00", "Z")
    assert len(api.get(f"/hosts/{endpoint.host_id}/canaries?from={since}").json()["figures"]) == 9


def test_more_than_400_days_are_refused(api: ApiClient, refused: Refused) -> None:
    endpoint = make_endpoint()
    refused(api.get(f"/hosts/{endpoint.host_id}/canaries?from=2020-01-01T00:00:00Z"), 422, "from")


def test_it_is_switched_off_by_rest(api: ApiClient) -> None:
    host = make_endpoint().host
    assert api.patch(f"/hosts/{host.pk}", {"has_canary": False}).json()["has_canary"] is False
    assert api.patch(f"/hosts/{host.pk}", {"description": "new"}).json()["has_canary"] is False
    assert not Host.objects.get(pk=host.pk).has_canary
