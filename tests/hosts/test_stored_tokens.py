"""A stored token belongs to the address and the certificate that it was entered for, whoever changes what meanwhile."""

import pytest

from benchweb.hosts.endpoints.records import CheckOutcome, endpoint_record_check
from benchweb.hosts.endpoints.services import endpoint_pin, endpoint_pin_first, endpoint_update
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Endpoint
from benchweb.site.secrets import decrypted
from tests.factories import make_endpoint

PIN, OTHER = "sha256:" + "a" * 64, "sha256:" + "b" * 64
pytestmark = pytest.mark.django_db


def stored(endpoint: Endpoint) -> tuple[str, str, str]:
    row = Endpoint.objects.get(pk=endpoint.pk)
    return row.control_address, row.fingerprint, decrypted(row.token_encrypted)


def test_an_edit_made_from_what_was_read_before_takes_no_newer_token_with_it() -> None:
    read_before = make_endpoint(token="first", fingerprint=PIN)
    moved = {"control_address": "192.0.2.2:7410", "fingerprint": OTHER, "token": "second"}
    endpoint_update(endpoint=read_before, **moved)
    with pytest.raises(HostsError, match="enter the engine's token again"):
        endpoint_update(endpoint=read_before, control_address="127.0.0.1:1", fingerprint=PIN, name="renamed")
    assert stored(read_before) == ("192.0.2.2:7410", OTHER, "second")


def test_an_endpoint_without_a_token_may_move_freely() -> None:
    endpoint = make_endpoint(fingerprint=PIN)
    endpoint_update(endpoint=endpoint, control_address="192.0.2.2:7410", fingerprint=OTHER)
    assert stored(endpoint) == ("192.0.2.2:7410", OTHER, "")


def test_the_first_certificate_is_not_pinned_on_what_was_changed_meanwhile() -> None:
    for change in ({"control_address": "192.0.2.2:7410"}, {"control_address": "127.0.0.1:1"}):
        read_before = make_endpoint(token="first")
        endpoint_update(endpoint=read_before, token="second", **change)
        now = endpoint_pin_first(endpoint=read_before, fingerprint=OTHER)
        assert (now.fingerprint, decrypted(now.token_encrypted)) == ("", "second")
    read_before = make_endpoint(token="first")
    endpoint_update(endpoint=read_before, control_address="127.0.0.1:1", fingerprint=PIN, token="second")
    assert endpoint_pin_first(endpoint=read_before, fingerprint=OTHER).fingerprint == PIN


def test_a_check_of_the_former_address_records_nothing() -> None:
    endpoint = make_endpoint(token="first")
    endpoint_update(endpoint=endpoint, control_address="192.0.2.2:7410", token="second")
    outcome = CheckOutcome("answered", fingerprint=OTHER, facts={"kernel": "6"}, control_address="127.0.0.1:1")
    endpoint_record_check(endpoint_id=endpoint.pk, outcome=outcome)
    row = Endpoint.objects.get()
    assert (row.status, row.seen_fingerprint, row.checked_at, row.facts.count()) == ("unknown", "", None, 0)


def test_what_was_seen_at_the_former_address_can_not_be_pinned_at_the_new_one() -> None:
    endpoint = make_endpoint(token="first", fingerprint=PIN)
    endpoint_record_check(endpoint_id=endpoint.pk, outcome=CheckOutcome("refused", fingerprint=OTHER))
    endpoint_update(endpoint=endpoint, control_address="192.0.2.2:7410", fingerprint=PIN, token="second")
    with pytest.raises(HostsError, match="shows another fingerprint"):
        endpoint_pin(endpoint=endpoint, fingerprint=OTHER, token="third")
    assert stored(endpoint) == ("192.0.2.2:7410", PIN, "second")


@pytest.mark.parametrize("token", ["", "  "])
def test_a_changed_certificate_is_pinned_only_with_its_token(token: str) -> None:
    endpoint = make_endpoint(token="first", fingerprint=PIN)
    endpoint_record_check(endpoint_id=endpoint.pk, outcome=CheckOutcome("refused", fingerprint=OTHER))
    with pytest.raises(HostsError) as caught:
        endpoint_pin(endpoint=endpoint, fingerprint=OTHER, token=token)
    assert caught.value.field == "token"
    assert stored(endpoint) == ("127.0.0.1:1", PIN, "first")
    endpoint_pin(endpoint=endpoint, fingerprint=OTHER, token="second")
    assert stored(endpoint) == ("127.0.0.1:1", OTHER, "second")
