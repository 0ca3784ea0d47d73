"""Hosts, endpoints, environments and pairs: what is refused, archived, encrypted, pinned."""

import unicodedata

import pytest
from pytest_django import Settings

from benchweb.hosts.addresses import AddressError, control_address, data_address
from benchweb.hosts.endpoints.records import CheckOutcome, endpoint_record_check
from benchweb.hosts.endpoints.services import endpoint_pin_first, endpoint_update
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Endpoint, FormerName, Host, Pair
from benchweb.hosts.services import archive, environment_create, host_create, host_update, pair_create, restore
from benchweb.labels import labels_fault
from benchweb.plans.expansion import PlanError
from benchweb.site.secrets import SecretUnreadable, decrypted
from tests.factories import make_endpoint, make_pair, make_plan

PIN, OTHER = "sha256:" + "a" * 64, "sha256:" + "b" * 64


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("host-a", ("host-a", 7410)),
        ("192.0.2.1:9000", ("192.0.2.1", 9000)),
        ("[2001:db8::1]:9000", ("2001:db8::1", 9000)),
        ("2001:db8::1", ("2001:db8::1", 7410)),
        (" host.example. ", ("host.example.", 7410)),
        ("[::ffff:192.0.2.1]:9000", ("192.0.2.1", 9000)),
        ("bücher.example:9000", ("xn--bcher-kva.example", 9000)),
        ("Straße.example", ("xn--strae-oqa.example", 7410)),
        ("测试。例子", ("xn--0zwm56d.xn--fsqu00a", 7410)),
        ("１９２.０.２.１:9000", ("192.0.2.1", 9000)),
    ],
)
def test_control_addresses_are_read_with_and_without_a_port(text: str, expected: tuple[str, int]) -> None:
    assert control_address(text) == expected


@pytest.mark.parametrize("text", ["", ":1", "a:0", "a:65536", "a:b", "a b:1", "-a:1", "1.2.3:5", "http://a:1", "[::1"])
def test_bad_control_addresses_are_refused(text: str) -> None:
    with pytest.raises(AddressError):
        control_address(text)


@pytest.mark.parametrize(
    "text", ["0x7f000001", "0x7f.1", "127.0x1", "0xA9FEA9FE.", "rack.7", "rack.7.", "０x7f.1", "127.1"]
)
def test_a_number_in_another_form_is_no_host_name(text: str) -> None:
    with pytest.raises(AddressError, match="neither a host name nor an IP address"):
        data_address(text)


@pytest.mark.parametrize("text", ["rack-7", "7.rack", "0xrack", "a.0xcafes", "7up"])
def test_a_name_may_hold_numbers_that_are_no_address(text: str) -> None:
    assert data_address(text) == text


@pytest.mark.parametrize("text", ["ü ü.example", "\u200b.example", "a..ü.example", "ü" * 70, "xn--ü.example"])
def test_a_name_of_other_scripts_that_is_no_host_name_is_refused(text: str) -> None:
    with pytest.raises(AddressError, match=r"is (not a valid|neither a) host name"):
        data_address(text)


@pytest.mark.parametrize(
    "text", ["[fe80::1]:7410", "fe80::1", "[fe80::1%eth0]:7410", "[fe80::1%25eth0]:7410", "[::1%lo]"]
)
def test_link_local_addresses_and_zones_are_refused_in_words(text: str) -> None:
    with pytest.raises(AddressError, match=r"link-local address, which|names a zone, which") as caught:
        control_address(text)
    assert "give an address that all machines reach" in str(caught.value)


@pytest.mark.parametrize("text", ["224.0.0.1", "::ffff:224.0.0.1", "::ffff:0.0.0.0", "ff02::1", "0.0.0.0", "::"])
def test_traffic_never_goes_to_multicast_broadcast_or_nowhere(text: str) -> None:
    with pytest.raises(AddressError, match="no single host"):
        data_address(text)


@pytest.mark.django_db
def test_an_engines_token_is_encrypted_and_an_edit_without_one_keeps_it() -> None:
    endpoint = make_endpoint(token="secret-token")
    assert b"secret" not in bytes(endpoint.token_encrypted)
    endpoint_update(endpoint=endpoint, control_address="127.0.0.1:1", data_address="127.0.0.2", name="second")
    endpoint.refresh_from_db()
    assert (endpoint.name, decrypted(endpoint.token_encrypted)) == ("second", "secret-token")


@pytest.mark.django_db
def test_a_changed_secret_key_makes_tokens_unreadable_with_the_next_step(settings: Settings) -> None:
    endpoint = make_endpoint(token="secret-token")
    settings.SECRET_KEY = "another"
    with pytest.raises(SecretUnreadable, match="Enter the token again"):
        decrypted(endpoint.token_encrypted)


@pytest.mark.django_db
def test_the_first_fingerprint_is_pinned_and_a_later_one_never_replaces_it() -> None:
    endpoint = make_endpoint()
    for seen in (PIN, OTHER):
        assert endpoint_pin_first(endpoint=endpoint, fingerprint=seen).fingerprint == PIN
        endpoint_record_check(endpoint_id=endpoint.pk, outcome=CheckOutcome(status="answered", fingerprint=seen))
    endpoint.refresh_from_db()
    assert (endpoint.fingerprint, endpoint.seen_fingerprint) == (PIN, OTHER)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("control_address", {"control_address": "nowhere:99999"}),
        ("data_address", {"data_address": "224.0.0.1"}),
        ("fingerprint", {"fingerprint": "sha256:12"}),
        ("network_mode", {"network_mode": ""}),
    ],
)
def test_a_bad_endpoint_is_refused_naming_the_field_and_nothing_is_made(field: str, values: dict[str, str]) -> None:
    with pytest.raises(HostsError) as caught:
        make_endpoint(**values)
    assert caught.value.field == field
    assert Endpoint.objects.count() == 0


@pytest.mark.django_db
def test_a_pair_of_one_endpoint_or_an_equal_pair_is_refused() -> None:
    pair = make_pair()
    with pytest.raises(HostsError, match="The sink is the source"):
        pair_create(source=pair.source, sink=pair.source, environment=pair.environment)
    with pytest.raises(HostsError, match="exists"):
        pair_create(source=pair.source, sink=pair.sink, environment=pair.environment)
    assert pair_create(source=pair.sink, sink=pair.source, environment=pair.environment).pk
    assert pair_create(source=pair.source, sink=pair.sink, environment=environment_create(name="other")).pk


@pytest.mark.django_db
def test_archiving_a_host_archives_its_endpoints_and_pairs_and_keeps_every_row() -> None:
    pair = make_pair()
    assert archive(row=pair.source.host)
    assert not archive(row=pair.source.host)
    pair.refresh_from_db()
    assert pair.archived_at and Endpoint.objects.get(pk=pair.source_id).archived_at
    assert Endpoint.objects.get(pk=pair.sink_id).archived_at is None
    assert Pair.objects.count() == 1


@pytest.mark.django_db
def test_restoring_a_pair_that_was_made_again_is_refused() -> None:
    pair = make_pair()
    archive(row=pair)
    pair_create(source=pair.source, sink=pair.sink, environment=pair.environment)
    with pytest.raises(HostsError, match="archive that one first"):
        restore(row=pair)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["", "  ", "x" * 101])
def test_empty_and_endless_names_are_refused(name: str) -> None:
    with pytest.raises(HostsError, match="1 to 100"):
        host_create(name=name)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["a\nb", "a\x00b", "a\u2028b", "a\u202eb", "a\u2066b"])
def test_names_that_break_lines_or_turn_the_writing_are_refused_everywhere(name: str) -> None:
    with pytest.raises(HostsError, match="can't be in a name"):
        host_create(name=name)
    with pytest.raises(HostsError, match="can't be in a name"):
        make_endpoint(name=name)
    with pytest.raises(PlanError, match="can't be in a name"):
        make_plan(name=name)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["\u200b", "\ufeff \u200d", "\u0301", "\u3164"])
def test_names_of_which_nothing_is_seen_are_refused_everywhere(name: str) -> None:
    with pytest.raises(HostsError, match="must be visible"):
        host_create(name=name)
    with pytest.raises(PlanError, match="must be visible"):
        make_plan(name=name)
    assert labels_fault([name]) == "At least one character of a label must be visible."
    seen = name.replace("\u200b", "").replace("\ufeff", "").replace("\u200d", "")
    assert host_create(name=f"a{name}b").name == unicodedata.normalize("NFC", f"a{seen}b")


@pytest.mark.django_db
def test_unpinning_an_engine_demands_its_token_again_and_changes_nothing() -> None:
    endpoint = make_endpoint(token="secret-token", fingerprint=PIN)
    with pytest.raises(HostsError, match="to drop its fingerprint, enter the token again") as caught:
        endpoint_update(endpoint=endpoint, control_address="127.0.0.1:1")
    assert caught.value.field == "token"
    endpoint.refresh_from_db()
    assert (endpoint.control_address, endpoint.fingerprint) == ("127.0.0.1:1", PIN)
    endpoint_update(endpoint=endpoint, control_address="203.0.113.9:7410", token="new")
    endpoint.refresh_from_db()
    assert (endpoint.fingerprint, decrypted(endpoint.token_encrypted)) == ("", "new")


@pytest.mark.django_db
def test_a_check_marks_an_engine_that_is_away_and_unmarks_it() -> None:
    endpoint = make_endpoint()
    endpoint_record_check(endpoint_id=endpoint.pk, outcome=CheckOutcome(status="unreachable", reason="timed out"))
    endpoint.refresh_from_db()
    first = endpoint.unreachable_since
    endpoint_record_check(endpoint_id=endpoint.pk, outcome=CheckOutcome(status="refused", reason="wrong token"))
    endpoint.refresh_from_db()
    assert first is not None
    assert endpoint.unreachable_since == first
    endpoint_record_check(endpoint_id=endpoint.pk, outcome=CheckOutcome(status="answered"))
    endpoint.refresh_from_db()
    assert endpoint.unreachable_since is None


def test_former_names_are_kept_by_every_change_and_by_nothing_else(db: None) -> None:
    endpoint = make_endpoint(host_name="alder", control_address="alder.example:7410")
    host = endpoint.host
    host_update(host=host, name="birch", description="new", labels=[], uplink="rack-1")
    host_update(host=host, name="birch", description="newer", labels=[], uplink="rack-1")
    Host.objects.filter(pk=host.pk).update(name="cedar", uplink="")
    endpoint_update(endpoint=endpoint, control_address="cedar.example:7410", name="eno1")
    endpoint_record_check(endpoint_id=endpoint.pk, outcome=CheckOutcome(status="unreachable"))
    endpoint_update(endpoint=endpoint, control_address="cedar.example:7410")
    assert list(FormerName.objects.values_list("host", "what", "text")) == [
        (host.pk, "host", "alder"),
        (host.pk, "host", "birch"),
        (host.pk, "uplink", "rack-1"),
        (host.pk, "address", "alder.example:7410"),
        (host.pk, "endpoint", "eno1"),
    ]


@pytest.mark.parametrize("data", ["127.0.0.1", "127.8.0.1", "::1", "localhost", "::ffff:127.0.0.1"])
def test_a_data_address_that_is_every_machines_own_is_refused_for_an_engine_elsewhere(db: None, data: str) -> None:
    with pytest.raises(HostsError, match="is every machine's own address") as caught:
        make_endpoint(control_address="192.0.2.7:7410", data_address=data)
    assert caught.value.field == "data_address"
    assert not Endpoint.objects.filter(control_address="192.0.2.7:7410").exists()
    assert make_endpoint(control_address="127.0.0.1:7410", data_address=data).pk


@pytest.mark.parametrize(
    ("control", "data"), [("192.0.2.7:7410", "192.0.2.7"), ("[2001:db8::7]:7999", "2001:db8:0::7")]
)
def test_a_data_address_that_is_another_hosts_engine_is_refused(db: None, control: str, data: str) -> None:
    other = make_endpoint(control_address=control)
    mine = make_endpoint(control_address="192.0.2.8:7410", data_address="192.0.2.80")
    with pytest.raises(HostsError, match="is the address of another engine") as caught:
        endpoint_update(endpoint=mine, control_address="192.0.2.8:7410", data_address=data)
    assert (caught.value.field, str(other) in str(caught.value)) == ("data_address", True)
    mine.refresh_from_db()
    assert mine.data_address == "192.0.2.80"
    endpoint_update(endpoint=other, control_address=control, data_address=data)
