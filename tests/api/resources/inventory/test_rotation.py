"""Ask for an engine's new token or certificate over REST."""

import pytest

from benchweb.accounts.audit.models import AuditEntry
from benchweb.hosts.enrolment.rotation import rotation_end
from tests.api.conftest import ApiClient
from tests.factories import make_endpoint

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("what", ["token", "certificate"])
def test_a_replacement_is_asked_for_once_and_shown_until_it_is_over(api: ApiClient, what: str) -> None:
    endpoint = make_endpoint(token="t" * 32, fingerprint=f"sha256:{'0' * 64}")
    path = f"/endpoints/{endpoint.pk}"
    assert api.post(f"{path}/rotate-{what}").status_code == 202
    refused = api.post(f"{path}/rotate-token")
    assert refused.status_code == 409 and "is being replaced already" in refused.json()["detail"]
    shown = api.get(path).json()
    assert (shown["rotation"], shown["rotation_ended_at"]) == (what, None)
    entry = AuditEntry.objects.filter(table="hosts_endpoint", action="changed").latest("pk")
    assert (entry.via, entry.changes["rotation"]) == ("token", ["", what])
    rotation_end(endpoint_id=endpoint.pk)
    shown = api.get(path).json()
    assert shown["rotation_ended_at"] is not None and shown["rotation_reason"] == ""


def test_an_engine_that_never_answered_is_not_asked(api: ApiClient) -> None:
    endpoint = make_endpoint()
    refused = api.post(f"/endpoints/{endpoint.pk}/rotate-certificate")
    assert refused.status_code == 409 and "has never answered" in refused.json()["detail"]
    assert api.get(f"/endpoints/{endpoint.pk}").json()["rotation"] == ""
