"""The speed of a link that the kernel tells nothing of is entered, used, and told as entered."""

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from benchweb.hosts.models import Endpoint, Facts
from benchweb.hosts.probing.probes import ProbedLoad
from benchweb.web.hosts.forms import LinkSpeedField, link_speed_text
from tests.factories import make_endpoint
from tests.web.hosts.test_host_availability import BUSY, added_long_ago, probe_each_minute, told_of

VIRTUAL = ProbedLoad(cpu_ratio=0.25, received_bps=4e9, sent_bps=1e9)


@pytest.mark.parametrize(
    ("text", "bps"),
    [("10G", 10e9), ("2.5 Gbit/s", 2.5e9), ("100M", 100e6), ("1000000", 1e6), ("56 kbit/s", 56e3), ("", None)],
)
def test_a_speed_is_written_as_people_do(text: str, bps: float | None) -> None:
    assert LinkSpeedField(required=False).clean(text) == bps
    if bps is not None:
        assert LinkSpeedField().clean(link_speed_text(bps)) == bps


@pytest.mark.parametrize("text", ["fast", "10 GB", "-1G", "1e9", "10,5G", "G"])
def test_what_is_no_speed_is_refused_at_its_field(signed_in: Client, text: str) -> None:
    endpoint = make_endpoint()
    values = {"control_address": endpoint.control_address, "network_mode": "host", "link_bps": text}
    page = signed_in.post(f"/endpoints/{endpoint.pk}/edit", values)
    assert "Enter a speed such as 10G, 2.5 Gbit/s or 100M." in page.content.decode()
    assert Endpoint.objects.get().link_bps is None


def entered(client: Client, endpoint: Endpoint, text: str) -> None:
    values = {"control_address": endpoint.control_address, "network_mode": "host", "link_bps": text}
    assert client.post(f"/endpoints/{endpoint.pk}/edit", values | {"same_machine": "on"}).status_code == 302


def test_bandwidth_left_rests_on_it_where_the_kernel_tells_none(signed_in: Client) -> None:
    endpoint = added_long_ago()
    probe_each_minute(endpoint, minutes=30, load=VIRTUAL)
    assert "the kernel reports no link speed" in told_of(signed_in, endpoint)[0]
    entered(signed_in, endpoint, "10G")
    text, first = told_of(signed_in, endpoint)
    found = first["Bandwidth left to receive"]
    assert re.fullmatch(
        r"6\.00 Gbit/s mean · minimum 6\.00 Gbit/s · n=\d+ · by the link&#x27;s speed as entered", found
    )
    assert "link, as entered" in text


def test_the_kernels_own_speed_goes_before_it_and_the_page_says_so(signed_in: Client) -> None:
    endpoint = added_long_ago()
    probe_each_minute(endpoint, minutes=30, load=BUSY)
    entered(signed_in, endpoint, "10G")
    text, first = told_of(signed_in, endpoint)
    assert first["Bandwidth left to receive"].startswith("21.0 Gbit/s mean")
    assert "as entered" not in text
    page = f"/hosts/{endpoint.host_id}"
    assert "entered, not read from the kernel" in signed_in.get(page).content.decode()
    interface: dict[str, Any] = {"name": "eth0", "addresses": ["127.0.0.1"], "speed_bps": 25e9}
    now = timezone.now()
    Facts.objects.create(
        endpoint=endpoint, digest="a", document={"interfaces": [interface]}, first_seen_at=now, last_seen_at=now
    )
    said = re.sub(r"<[^>]+>", "", signed_in.get(page).content.decode())
    assert "10.0 Gbit/s entered; the kernel reports 25.0 Gbit/s, which is used" in said
