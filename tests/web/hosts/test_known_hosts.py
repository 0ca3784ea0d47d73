"""What another host has is told while it is typed, and refused when it is saved."""

from django.test import Client

from benchweb.hosts.models import Endpoint, Host
from tests.factories import make_endpoint

FINGERPRINT = "sha256:" + "c" * 64
NEW = {"name": "cedar", "control_address": "192.0.2.9:7410", "network_mode": "host", "token": "t"}


def known(client: Client, query: str = "", **values: str) -> str:
    return client.post(f"/hosts/known{query}", values).content.decode().strip()


def test_a_name_an_address_and_a_certificate_of_another_host_are_told(signed_in: Client) -> None:
    endpoint = make_endpoint(
        host_name="alder", control_address="192.0.2.1:7410", fingerprint=FINGERPRINT, data_address="10.0.0.1"
    )
    link = f'<a href="/hosts/{endpoint.host_id}">Show it</a>'
    for values, words in (
        ({"name": " ALDER "}, f"Host alder ({endpoint.host_id}) has this name."),
        ({"control_address": "192.0.2.1"}, f"The engine of host alder ({endpoint.host_id}) has this address"),
        ({"fingerprint": FINGERPRINT.upper()}, f"The engine of host alder ({endpoint.host_id}) has this certificate"),
        ({"data_address": "10.0.0.1"}, f"Host alder ({endpoint.host_id}) has this address for its test traffic."),
    ):
        text = known(signed_in, **values)
        assert words in text and link in text, values
    assert known(signed_in, name="birch", control_address="192.0.2.1:7420", fingerprint="sha256:1") == ""
    assert known(signed_in, control_address="192.0.2.", data_address="10.0") == ""
    # Its own, and what is insisted on, is no news.
    assert known(signed_in, f"?host={endpoint.host_id}", name="alder", control_address="192.0.2.1") == ""
    assert known(signed_in, control_address="192.0.2.1", same_machine="on") == ""


def test_an_address_of_another_host_is_refused_until_it_is_insisted_on(signed_in: Client) -> None:
    other = make_endpoint(host_name="alder", control_address="192.0.2.9:7410")
    text = signed_in.post("/hosts/new", NEW).content.decode()
    assert f"The engine of host alder ({other.host_id}) has this address" in text
    assert f'<a href="/hosts/{other.host_id}">Show it</a>' in text
    assert "Both hosts are one machine" in text
    assert Host.objects.count() == 1
    signed_in.post("/hosts/new", NEW | {"same_machine": "on"})
    assert Endpoint.objects.filter(control_address="192.0.2.9:7410").count() == 2


def test_an_edit_is_refused_only_where_it_takes_another_address(signed_in: Client) -> None:
    make_endpoint(control_address="192.0.2.1:7410")
    # Both were there before this rule.
    twin = make_endpoint(control_address="192.0.2.1:7410", token="t")
    Endpoint.objects.update(same_machine=False)
    values = {"control_address": "192.0.2.1:7410", "network_mode": "terway", "token": ""}
    assert signed_in.post(f"/endpoints/{twin.pk}/edit", values).status_code == 302
    other = make_endpoint(control_address="192.0.2.5:7410", token="t", same_machine=False)
    text = signed_in.post(f"/endpoints/{other.pk}/edit", values | {"token": "t"}).content.decode()
    assert "has this address" in text
    other.refresh_from_db()
    assert other.control_address == "192.0.2.5:7410"
