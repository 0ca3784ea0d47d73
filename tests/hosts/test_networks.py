"""BENCHWEB_ENGINE_NETWORKS: which addresses engines may have, in every form that an address can be written."""

import pytest
from pytest_django import Settings

from benchweb.hosts.addresses import NetworksError, network_policy, parsed_networks
from benchweb.ops.settings_checks import settings_are_usable

DEFAULT = parsed_networks("")


@pytest.mark.parametrize(
    "address", ["192.0.2.1", "10.0.0.5", "172.16.0.1", "2001:db8::1", "fd00::1", "::ffff:10.0.0.5"]
)
def test_by_default_an_engine_may_be_on_any_other_machine(address: str) -> None:
    assert DEFAULT.admits(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.255.255.254",
        "::1",
        "169.254.169.254",
        "169.254.1.1",
        "fe80::1",
        "fe80::1%eth0",
        "0.0.0.0",
        "0.1.2.3",
        "::",
        "224.0.0.1",
        "255.255.255.255",
        "240.0.0.1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::ffff:0.0.0.0",
        "::ffff:224.0.0.1",
        "::127.0.0.1",
        "::ffff:0:127.0.0.1",
        "64:ff9b::127.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::7f00:1",
        "2002:7f00:1::1",
        "100.100.100.200",
        "fd00:ec2::254",
        "localhost",
        "",
    ],
)
def test_by_default_this_machine_and_what_is_no_single_host_are_refused(address: str) -> None:
    assert not DEFAULT.admits(address)


def test_named_networks_are_the_only_ones_allowed() -> None:
    policy = parsed_networks("10.0.0.0/8, 2001:db8::/32")
    assert [policy.admits(address) for address in ("10.1.2.3", "::ffff:10.1.2.3", "2001:db8::7")] == [True] * 3
    assert [policy.admits(address) for address in ("192.0.2.1", "fd00::1", "127.0.0.1")] == [False] * 3


def test_a_denied_network_is_refused_within_an_allowed_one_and_inside_what_carries_it() -> None:
    policy = parsed_networks("10.0.0.0/8 ::/0 !10.0.5.0/24")
    assert policy.admits("10.0.6.1")
    assert [policy.admits(address) for address in ("10.0.5.1", "::ffff:10.0.5.1", "64:ff9b::10.0.5.1")] == [False] * 3


def test_denying_alone_leaves_the_rest_as_it_is_by_default() -> None:
    policy = parsed_networks("!172.28.0.0/16")
    assert (policy.admits("192.0.2.1"), policy.admits("172.28.0.3"), policy.admits("127.0.0.1")) == (True, False, False)


def test_loopback_and_link_local_are_allowed_only_by_their_own_names() -> None:
    assert not parsed_networks("0.0.0.0/0 ::/0").admits("127.0.0.1")
    assert not parsed_networks("0.0.0.0/0 ::/0").admits("169.254.169.254")
    assert parsed_networks("127.0.0.0/8").admits("127.0.0.2")
    assert not parsed_networks("127.0.0.1").admits("127.0.0.2")
    assert parsed_networks("169.254.7.0/24").admits("169.254.7.1")
    assert not parsed_networks("0.0.0.0/8 224.0.0.0/4").admits("224.0.0.1")


def test_the_demo_adds_its_own_loopback_and_nothing_else(settings: Settings) -> None:
    settings.ENGINE_NETWORKS, settings.DEMO = "", True
    assert [network_policy().admits(each) for each in ("127.0.0.1", "::1", "192.0.2.1")] == [True] * 3
    assert not network_policy().admits("169.254.169.254")
    settings.DEMO = False
    assert not network_policy().admits("127.0.0.1")


def test_a_denial_by_name_holds_in_the_demo_too(settings: Settings) -> None:
    settings.ENGINE_NETWORKS, settings.DEMO = "!127.0.0.0/8", True
    assert not network_policy().admits("127.0.0.1")


@pytest.mark.parametrize("text", ["10.0.0.0/33", "10.0.0.5/8", "example.org", "!", "10.0.0.0/8;"])
def test_what_is_no_network_is_told_at_the_start(text: str, settings: Settings) -> None:
    with pytest.raises(NetworksError, match="is not a network"):
        parsed_networks(text)
    settings.ENGINE_NETWORKS = text
    (message,) = settings_are_usable()
    assert message.msg.startswith(f"BENCHWEB_ENGINE_NETWORKS: {text!r} is not a network")
