"""Tickets: genuine, short-lived, for one machine, and a token that nobody else is told."""

from datetime import timedelta

import pytest
from django.utils import timezone

from benchweb.hosts.enrolment.claims import Listening, host_enrol, token_claim
from benchweb.hosts.enrolment.tickets import LIFE, ticket_issue, ticket_read
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Endpoint, Enrolment, Host
from benchweb.hosts.services import archive, host_create
from benchweb.site.secrets import decrypted
from tests.factories import make_endpoint

pytestmark = pytest.mark.django_db
OURS, THEIRS = "boot-1", "boot-2"


def listening(**fields: str) -> Listening:
    values = {"machine": OURS, "host_name": "alder", "address": "192.0.2.1"} | fields
    return Listening(**values, port=7410)


def test_each_ticket_has_a_token_of_its_own_and_stores_nothing() -> None:
    texts = [ticket_issue(user_id=1) for _ in range(3)]
    tokens = {ticket_read(text).token for text in texts}
    assert len(tokens) == 3 and {len(token) for token in tokens} == {43}
    assert not Enrolment.objects.exists()
    assert all(character.isalnum() or character in "-_:" for character in "".join(texts))


def test_a_ticket_that_was_changed_or_is_old_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = ticket_issue(user_id=1)
    with pytest.raises(HostsError, match="not a ticket of this dashboard"):
        ticket_read(text[:-1] + ("a" if text[-1] != "a" else "b"))
    later = (timezone.now() + LIFE + timedelta(seconds=1)).timestamp()
    monkeypatch.setattr("django.core.signing.time.time", lambda: later)
    with pytest.raises(HostsError, match="expired"):
        ticket_read(text)
    assert ticket_read(text, is_expired_too=True).user_id == 1


def test_the_token_goes_to_one_machine_until_its_host_is_added() -> None:
    ticket = ticket_read(ticket_issue(user_id=1))
    assert token_claim(ticket, machine=OURS, host_name="alder") == ticket.token
    assert token_claim(ticket, machine=OURS, host_name="alder") == ticket.token
    with pytest.raises(HostsError, match="used by alder already"):
        token_claim(ticket, machine=THEIRS, host_name="birch")
    with pytest.raises(HostsError, match="used by alder already"):
        host_enrol(ticket, listening(machine=THEIRS))
    host_enrol(ticket, listening())
    with pytest.raises(HostsError, match="added the host alder already"):
        token_claim(ticket, machine=OURS, host_name="alder")


def test_a_host_is_added_once_under_a_free_name_with_the_token_and_the_certificate() -> None:
    host_create(name="alder")
    ticket, fingerprint = ticket_read(ticket_issue(user_id=1)), "sha256:" + "a" * 64
    with pytest.raises(HostsError, match="No token was fetched"):
        host_enrol(ticket, listening())
    token_claim(ticket, machine=OURS, host_name="alder")
    endpoint = host_enrol(ticket, listening(fingerprint=fingerprint, address="2001:db8::1"))
    assert host_enrol(ticket, listening()).pk == endpoint.pk
    assert (endpoint.host.name, endpoint.control_address) == ("alder (2)", "[2001:db8::1]:7410")
    assert (decrypted(endpoint.token_encrypted), endpoint.fingerprint) == (ticket.token, fingerprint)
    assert Host.objects.count() == 2


def test_why_a_host_is_not_added_is_kept_until_it_is() -> None:
    taken = make_endpoint(host_name="birch", control_address="192.0.2.1:7410")
    ticket = ticket_read(ticket_issue(user_id=1))
    token_claim(ticket, machine=OURS, host_name="alder")
    with pytest.raises(HostsError, match="has this address"):
        host_enrol(ticket, listening())
    assert f"birch ({taken.host_id})" in Enrolment.objects.get().fault
    assert not Host.objects.filter(name="alder").exists()
    host_enrol(ticket, listening(address="192.0.2.2"))
    assert Enrolment.objects.get().fault == ""


def test_a_ticket_for_an_endpoint_gives_its_stored_token_until_the_engine_answers() -> None:
    endpoint = make_endpoint(token="stored")
    ticket = ticket_read(ticket_issue(user_id=1, endpoint_id=endpoint.pk))
    assert token_claim(ticket, machine=OURS, host_name="alder") == "stored"
    assert host_enrol(ticket, listening()) == endpoint
    Endpoint.objects.update(status=Endpoint.Status.ANSWERED)
    with pytest.raises(HostsError, match="answers already"):
        token_claim(ticket, machine=OURS, host_name="alder")
    archive(row=endpoint)
    with pytest.raises(HostsError, match="is archived"):
        token_claim(ticket, machine=OURS, host_name="alder")
