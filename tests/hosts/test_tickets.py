"""Tickets: genuine, short-lived, for one machine, of who may add hosts now; and a token that nobody else is told."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from benchweb.accounts.models import ApiToken, Grant, Role
from benchweb.accounts.services import TokenLimits, token_create, token_revoke
from benchweb.hosts import tickets
from benchweb.hosts.endpoints.services import endpoint_pin_first, endpoint_update
from benchweb.hosts.enrolment.claims import StartedEngine, host_enrol, token_claim
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Endpoint, Enrolment, Host
from benchweb.hosts.services import archive, host_create
from benchweb.hosts.tickets import (
    LIFE,
    ticket_found,
    ticket_issue,
    ticket_read,
    ticket_revoke,
    ticket_shown,
    ticket_text,
    ticket_token,
    tickets_open,
)
from benchweb.site.secrets import decrypted
from tests.factories import make_endpoint

pytestmark = pytest.mark.django_db
ADDRESS, FINGERPRINT = "192.0.2.1", "sha256:" + "a" * 64
OURS, THEIRS = "boot-1", "boot-2"
State = Enrolment.State


@pytest.fixture
def ada() -> User:
    user = User.objects.create_user("ada")
    Grant.objects.create(user=user, role=Role.EDITOR)
    return user


def listening(**fields: str) -> StartedEngine:
    values = {"machine": OURS, "host_name": "alder", "address": ADDRESS} | fields
    return StartedEngine(**values, port=7410)


def aged(ticket: Enrolment, age: timedelta) -> Enrolment:
    """Let a ticket have been issued, or used, so long ago."""
    Enrolment.objects.filter(pk=ticket.pk).update(expires_at=timezone.now() + LIFE - age)
    return Enrolment.objects.get(pk=ticket.pk)


def test_each_ticket_has_a_token_of_its_own_and_stores_neither(ada: User) -> None:
    issued = [ticket_issue(by=ada) for _ in range(3)]
    tokens = {ticket_token(ticket) for ticket in issued}
    texts = [ticket_text(ticket) for ticket in issued]
    assert len(tokens) == 3 and {len(token) for token in tokens} == {43}
    stored = " ".join(map(str, Enrolment.objects.values_list()))
    assert not any(secret in stored for secret in (*tokens, *texts))
    assert all(character.isalnum() or character in "-_:" for character in "".join(texts))


def test_a_ticket_that_was_changed_or_is_old_is_refused(ada: User) -> None:
    ticket = ticket_issue(by=ada)
    text = ticket_text(ticket)
    assert ticket_read(text, address=ADDRESS) == ticket
    for wrong in (text[:-1] + ("a" if text[-1] != "a" else "b"), "", "nonsense"):
        with pytest.raises(HostsError, match="not a ticket of this dashboard"):
            ticket_read(wrong, address=ADDRESS)
    aged(ticket, LIFE + timedelta(seconds=1))
    with pytest.raises(HostsError, match="expired"):
        ticket_read(text, address=ADDRESS)
    assert ticket_found(text).state == State.EXPIRED


def test_who_fetched_the_token_in_time_has_an_hour_from_then_and_no_more(ada: User) -> None:
    ticket = aged(ticket_issue(by=ada), LIFE - timedelta(seconds=1))
    token_claim(ticket_read(ticket_text(ticket), address=ADDRESS), machine=OURS, host_name="alder")
    left = Enrolment.objects.get().expires_at - timezone.now()
    assert LIFE - timedelta(seconds=10) < left <= LIFE
    # To fetch it again makes it no longer.
    aged(ticket, LIFE - timedelta(minutes=1))
    token_claim(ticket_read(ticket_text(ticket), address=ADDRESS), machine=OURS, host_name="alder")
    assert Enrolment.objects.get().expires_at - timezone.now() < timedelta(minutes=1)
    aged(ticket, LIFE)
    with pytest.raises(HostsError, match="expired"):
        ticket_read(ticket_text(ticket), address=ADDRESS)


def deactivated(ada: User, token: ApiToken) -> None:
    User.objects.filter(pk=ada.pk).update(is_active=False)


def without_role(ada: User, token: ApiToken) -> None:
    Grant.objects.filter(user=ada).update(role=Role.OPERATOR)


def without_token(ada: User, token: ApiToken) -> None:
    token_revoke(user=ada, token_id=token.pk)


def with_an_ended_token(ada: User, token: ApiToken) -> None:
    ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now())


def with_a_lesser_token(ada: User, token: ApiToken) -> None:
    ApiToken.objects.filter(pk=token.pk).update(scope="run")


def gone(ada: User, token: ApiToken) -> None:
    ada.delete()


@pytest.mark.parametrize(
    "lose", [deactivated, without_role, without_token, with_an_ended_token, with_a_lesser_token, gone]
)
@pytest.mark.parametrize("is_claimed", [False, True])
def test_a_ticket_is_good_only_while_its_issuer_may_add_hosts(
    ada: User, settings: Settings, lose: Callable[[User, ApiToken], None], is_claimed: bool
) -> None:
    settings.DEFAULT_ROLE = "viewer"
    token, _ = token_create(user=ada, name="ci", limits=TokenLimits(scope="write"))
    ticket = ticket_issue(by=ada, token=token)
    if is_claimed:
        token_claim(ticket, machine=OURS, host_name="alder")
    read = ticket_read(ticket_text(ticket), address=ADDRESS)
    lose(ada, token)
    with pytest.raises(HostsError, match="may add no hosts any more") as refused:
        ticket_read(ticket_text(ticket), address=ADDRESS)
    assert refused.value.field == "ticket"
    if lose in (deactivated, without_token, gone):
        assert (Enrolment.objects.get().state, tickets_open().exists()) == (State.REVOKED, False)
    if is_claimed:
        # Read before, and added after.
        with pytest.raises(HostsError, match="may add no hosts any more"):
            host_enrol(read, listening())
    assert not Host.objects.exists()


@pytest.mark.parametrize("is_claimed", [False, True])
def test_a_revoked_ticket_adds_nothing_and_a_used_one_is_not_revoked(ada: User, is_claimed: bool) -> None:
    ticket = ticket_issue(by=ada)
    if is_claimed:
        token_claim(ticket, machine=OURS, host_name="alder")
    assert ticket_revoke(ticket_id=ticket.pk) and not ticket_revoke(ticket_id=ticket.pk)
    with pytest.raises(HostsError, match="was revoked"):
        ticket_read(ticket_text(ticket), address=ADDRESS)
    if is_claimed:
        with pytest.raises(HostsError, match="was revoked"):
            host_enrol(ticket, listening())
    assert (Enrolment.objects.get().state, Host.objects.exists()) == (State.REVOKED, False)
    used = ticket_issue(by=ada)
    token_claim(used, machine=OURS, host_name="alder")
    host_enrol(used, listening())
    assert not ticket_revoke(ticket_id=used.pk)
    assert Enrolment.objects.get(pk=used.pk).state == State.USED


def test_a_page_shows_its_reader_one_ticket_until_it_is_used_or_half_over(ada: User) -> None:
    endpoint, other = make_endpoint(), User.objects.create_user("bob")
    first = ticket_shown(by=ada)
    assert ticket_shown(by=ada) == first
    assert first not in (ticket_shown(by=other), ticket_shown(by=ada, endpoint=endpoint))
    half = aged(first, timedelta(minutes=31))
    second = ticket_shown(by=ada)
    assert second != half
    token_claim(second, machine=OURS, host_name="alder")
    third = ticket_shown(by=ada)
    assert third != second
    ticket_revoke(ticket_id=third.pk)
    assert ticket_shown(by=ada) != third


def test_unused_tickets_go_a_week_after_their_end_and_used_ones_stay(ada: User) -> None:
    used, kept, old = (ticket_issue(by=ada) for _ in range(3))
    token_claim(used, machine=OURS, host_name="alder")
    aged(used, timedelta(days=9))
    aged(kept, timedelta(days=6))
    aged(old, timedelta(days=8))
    assert tickets.remove_old() == 1
    assert set(Enrolment.objects.all()) == {used, kept}


def test_the_token_goes_to_one_machine_until_its_host_is_added(ada: User) -> None:
    ticket = ticket_issue(by=ada)
    assert token_claim(ticket, machine=OURS, host_name="alder") == ticket_token(ticket)
    assert token_claim(ticket, machine=OURS, host_name="alder") == ticket_token(ticket)
    with pytest.raises(HostsError, match="used by alder already"):
        token_claim(ticket, machine=THEIRS, host_name="birch")
    with pytest.raises(HostsError, match="used by alder already"):
        host_enrol(ticket, listening(machine=THEIRS))
    host_enrol(ticket, listening())
    with pytest.raises(HostsError, match="added the host alder already"):
        token_claim(ticket, machine=OURS, host_name="alder")


def test_a_host_is_added_once_under_a_free_name_with_the_token_and_the_certificate(ada: User) -> None:
    host_create(name="alder")
    ticket, fingerprint = ticket_issue(by=ada), "sha256:" + "a" * 64
    with pytest.raises(HostsError, match="No token was fetched"):
        host_enrol(ticket, listening())
    token_claim(ticket, machine=OURS, host_name="alder")
    endpoint = host_enrol(ticket, listening(fingerprint=fingerprint, address="2001:db8::1"))
    assert host_enrol(ticket, listening()).pk == endpoint.pk
    assert (endpoint.host.name, endpoint.control_address) == ("alder (2)", "[2001:db8::1]:7410")
    assert (decrypted(endpoint.token_encrypted), endpoint.fingerprint) == (ticket_token(ticket), fingerprint)
    assert Host.objects.count() == 2


def test_why_a_host_is_not_added_is_kept_until_it_is(ada: User) -> None:
    taken = make_endpoint(host_name="birch", control_address="192.0.2.1:7410")
    ticket = ticket_issue(by=ada)
    token_claim(ticket, machine=OURS, host_name="alder")
    with pytest.raises(HostsError, match="has this address"):
        host_enrol(ticket, listening())
    assert f"birch ({taken.host_id})" in Enrolment.objects.get().fault
    assert not Host.objects.filter(name="alder").exists()
    host_enrol(ticket, listening(address="192.0.2.2"))
    assert Enrolment.objects.get().fault == ""


def test_a_ticket_for_an_endpoint_gives_its_stored_token_until_the_engine_answers(ada: User) -> None:
    endpoint = make_endpoint(token="stored")
    ticket = ticket_issue(by=ada, endpoint=endpoint)
    assert token_claim(ticket, machine=OURS, host_name="alder") == "stored"
    assert host_enrol(ticket, listening()) == endpoint
    Endpoint.objects.update(status=Endpoint.Status.ANSWERED)
    with pytest.raises(HostsError, match="answers already"):
        token_claim(ticket, machine=OURS, host_name="alder")
    archive(row=endpoint)
    with pytest.raises(HostsError, match="is archived"):
        token_claim(ticket, machine=OURS, host_name="alder")


def test_the_token_of_an_engine_that_answered_once_goes_to_nobody_after_an_edit(ada: User) -> None:
    endpoint = make_endpoint(token="stored")
    ticket = ticket_issue(by=ada, endpoint=endpoint)
    endpoint_pin_first(endpoint=endpoint, fingerprint=FINGERPRINT)
    Endpoint.objects.update(status=Endpoint.Status.ANSWERED)
    address = endpoint.control_address
    endpoint_update(endpoint=endpoint, control_address=address, fingerprint=FINGERPRINT, name="renamed")
    assert Endpoint.objects.get().status == Endpoint.Status.UNKNOWN
    with pytest.raises(HostsError, match="told to nobody"):
        token_claim(ticket_read(ticket_text(ticket), address=ADDRESS), machine=OURS, host_name="alder")


def test_a_ticket_made_for_one_token_gives_no_other_that_was_entered_since(ada: User) -> None:
    endpoint = make_endpoint(token="stored")
    ticket = ticket_issue(by=ada, endpoint=endpoint)
    endpoint_update(endpoint=endpoint, control_address=endpoint.control_address, name="renamed")
    assert token_claim(ticket_read(ticket_text(ticket), address=ADDRESS), machine=OURS, host_name="alder") == "stored"
    endpoint_update(endpoint=endpoint, control_address=endpoint.control_address, token="another")
    with pytest.raises(HostsError, match="was revoked"):
        ticket_read(ticket_text(ticket), address=ADDRESS)
    fresh = ticket_shown(by=ada, endpoint=endpoint)
    assert token_claim(fresh, machine=OURS, host_name="alder") == "another"
