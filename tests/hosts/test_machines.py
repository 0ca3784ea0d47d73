"""Hosts that are one machine: a known certificate is refused unless insisted on, exclusive runs share a resource."""

import pytest

from benchweb.hosts.endpoints.records import CheckOutcome, endpoint_record_check
from benchweb.hosts.endpoints.services import endpoint_pin_first, endpoint_update
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Endpoint, Host
from benchweb.hosts.services import archive, host_create, restore
from benchweb.runs.models import Reservation
from benchweb.runs.queueing.claims import claim
from benchweb.runs.queueing.occupancy import resources_of
from tests.factories import make_endpoint, make_pair, make_run

pytestmark = pytest.mark.django_db

PIN = "sha256:" + "a" * 64


def told(endpoint: Endpoint, boot_id: str) -> Host:
    facts = {"boot_id": boot_id, "hostname": endpoint.host.name}
    endpoint_record_check(endpoint_id=endpoint.pk, outcome=CheckOutcome("answered", facts=facts))
    return Host.objects.get(pk=endpoint.host_id)


def test_a_certificate_of_another_host_is_refused_at_every_entry() -> None:
    first = make_endpoint(host_name="db1", fingerprint=PIN)
    with pytest.raises(HostsError, match=rf"host db1 \({first.host_id}\) has this certificate") as caught:
        make_endpoint(fingerprint=PIN, same_machine=False)
    assert (caught.value.field, caught.value.other, caught.value.insist) == ("fingerprint", first.host, "same_machine")
    second = make_endpoint(same_machine=False, control_address="127.0.0.1:2")
    with pytest.raises(HostsError, match="has this certificate"):
        endpoint_update(endpoint=second, control_address="127.0.0.1:2", fingerprint=PIN, token="t")
    with pytest.raises(HostsError, match="has this certificate"):
        endpoint_pin_first(endpoint=second, fingerprint=PIN)
    assert list(Endpoint.objects.values_list("fingerprint", flat=True)) == [PIN, ""]


def test_an_endpoint_is_not_restored_beside_another_host_of_its_certificate() -> None:
    old = make_endpoint(fingerprint=PIN, same_machine=False)
    archive(row=old)
    make_endpoint(fingerprint=PIN, same_machine=False)
    with pytest.raises(HostsError, match="has this certificate"):
        restore(row=old)


def test_insisted_on_both_are_one_machine_and_share_a_resource() -> None:
    first, second, third = make_endpoint(fingerprint=PIN), make_endpoint(fingerprint=PIN), make_endpoint()
    assert Host.objects.get(pk=second.host_id).machine == first.host
    pairs = [
        make_pair(source=Endpoint.objects.select_related("host").get(pk=each.pk), sink=third)
        for each in (first, second)
    ]
    held = resources_of(pairs)
    assert held[pairs[0].pk] == held[pairs[1].pk]


def test_a_boot_id_joins_hosts_a_reboot_keeps_them_and_another_machine_parts_them() -> None:
    first, second = make_endpoint(), make_endpoint()
    assert told(first, "boot-1").machine is None
    assert told(second, "boot-1").machine == first.host
    # Rebooted: the first to be checked tells another boot id than what is known of the other.
    assert told(second, "boot-2").machine == first.host
    assert told(first, "boot-2").machine is None
    assert told(second, "boot-2").machine == first.host
    # Moved: the other is seen on the old machine after it.
    told(second, "boot-3")
    first.facts.update(last_seen_at=second.facts.get(document__boot_id="boot-3").first_seen_at.replace(year=2999))
    assert told(second, "boot-3").machine is None


def test_an_empty_boot_id_says_nothing() -> None:
    first, second = make_endpoint(), make_endpoint()
    assert (told(first, "").machine, told(second, "").machine) == (None, None)


def test_runs_launched_before_the_hosts_were_known_to_be_one_machine_never_run_at_once() -> None:
    first, second = make_endpoint(), make_endpoint()
    one, other = (make_run(pair=make_pair(source=each)) for each in (first, second))
    told(first, "boot-1")
    told(second, "boot-1")
    assert claim(run_id=one.pk, owner="w1") is not None
    assert claim(run_id=other.pk, owner="w2") is None
    waiting = Reservation.objects.filter(run=other, resource__host__isnull=False)
    assert set(waiting.values_list("resource__host", "during")) == {
        (first.host_id, None),
        (other.pair.sink.host_id, None),
    }
    assert claim(run_id=other.pk, owner="w2") is None


def test_a_host_by_itself_is_its_own_machine() -> None:
    host = host_create(name="db1")
    assert (host.machine, host.machine_key) == (None, host.pk)
