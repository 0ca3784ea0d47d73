"""Parse addresses of engines: HOST:PORT with IPv6 in brackets, and bare addresses for test traffic."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

import idna
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.site.values import site_setting

DEFAULT_CONTROL_PORT = 7410
_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
_BROADCAST = ipaddress.IPv4Address("255.255.255.255")
_ZONELESS = gettext_noop("give an address that all machines reach")
_NAME = re.compile(r"(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]{0,62})(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,62}))*\.?$")
# No name ends in a number: systems read 0x7f.1 and 127.1 as IPv4 addresses, of loopback in this case.
_NUMBER_AT_END = re.compile(r"(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$", re.IGNORECASE)


class AddressError(ValueError):
    """An address that can't be parsed; the message names the form it should have."""


def control_address(text: str) -> tuple[str, int]:
    """Split HOST, HOST:PORT or [IPv6]:PORT into host and port; the port defaults to 7410."""
    text = text.strip()
    if "://" in text:
        raise AddressError(
            _("{text} is a URL: write HOST:PORT alone, such as 192.0.2.10:7410.").format(text=f"{text!r}")
        )
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise AddressError(
                _("{text} is no address: write [IPv6]:PORT, such as [2001:db8::1]:7410.").format(text=f"{text!r}")
            )
        port_text = rest.removeprefix(":") if rest else str(DEFAULT_CONTROL_PORT)
    elif text.count(":") > 1:
        host, port_text = text, str(DEFAULT_CONTROL_PORT)
    else:
        host, _colon, port_text = text.partition(":")
        port_text = port_text or str(DEFAULT_CONTROL_PORT)
    if not port_text.isascii() or not port_text.isdecimal() or not 1 <= int(port_text) <= 65535:
        raise AddressError(
            _("{text} has no valid port: write HOST:PORT with a port from 1 to 65535.").format(text=f"{text!r}")
        )
    return data_address(host), int(port_text)


def control_text(text: str) -> str:
    """Return a control address in its one form, HOST:PORT with IPv6 in brackets."""
    host, port = control_address(text)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def data_address(text: str) -> str:
    """Check a host name, an IPv4 or an IPv6 address that traffic may go to, and return its one form.

    A name in other letters than ASCII becomes its IDNA form, an IPv4-mapped address the IPv4 address.
    """
    text = text.strip()
    if "%" in text:
        raise AddressError(
            _("{text} names a zone, which is an interface of one machine: {zoneless}, without a zone.").format(
                text=text, zoneless=_(_ZONELESS)
            )
        )
    address = _ip_address(text)
    if address is None:
        text = _ascii_name(text)
        # Other scripts have digits and dots of their own.
        address = _ip_address(text)
    return text if address is None else str(_checked(address))


def _ip_address(text: str) -> _Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return (address.version == 6 and address.ipv4_mapped) or address


def _ascii_name(text: str) -> str:
    name = text
    try:
        if not text.isascii():
            name = idna.encode(text, uts46=True).decode()
    except UnicodeError as error:
        raise AddressError(
            _("{text} is not a valid host name: {error}.").format(text=f"{text!r}", error=error)
        ) from error
    if _ip_address(name) is None and (_NAME.fullmatch(name) is None or _NUMBER_AT_END.search(name)):
        raise AddressError(_("{text} is neither a host name nor an IP address.").format(text=f"{text!r}"))
    return name


def _checked(address: _Address) -> _Address:
    if address.is_multicast or address.is_unspecified or address == _BROADCAST:
        raise AddressError(
            _("{address} is no single host's address: give the address of one interface.").format(address=address)
        )
    if address.version == 6 and address.is_link_local:
        raise AddressError(
            _("{address} is a link-local address, which is another on each network: {zoneless}.").format(
                address=address, zoneless=_(_ZONELESS)
            )
        )
    return address


Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

LOOPBACK: tuple[Network, ...] = (IPv4Network("127.0.0.0/8"), IPv6Network("::1"))
# No engine is there, whatever the setting says: unspecified, multicast, reserved and broadcast. IPv6 link-local
# addresses need a zone, which is another one on each machine.
_NEVER: tuple[Network, ...] = tuple(
    map(ip_network, ("0.0.0.0/8", "224.0.0.0/4", "240.0.0.0/4", "::/128", "ff00::/8", "fe80::/10"))
)
# Refused unless the setting names a network inside: the worker itself, and what clouds tell a machine of itself.
_SPECIAL: tuple[Network, ...] = (
    *LOOPBACK,
    *map(
        ip_network,
        ("169.254.0.0/16", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254"),
    ),
)
# The IPv6 prefixes that carry an IPv4 address, with how many bits follow it.
_CARRIERS = (
    (IPv6Network("::/96"), 0),
    (IPv6Network("::ffff:0:0:0/96"), 0),
    (IPv6Network("64:ff9b::/96"), 0),
    (IPv6Network("64:ff9b:1::/48"), 0),
    (IPv6Network("2002::/16"), 80),
)


class NetworksError(ValueError):
    """A setting that can't be read; the message names the part at fault."""


@dataclass(frozen=True)
class NetworkPolicy:
    """What is allowed and denied; with nothing allowed by name, all but the default's refusals is."""

    allowed: tuple[Network, ...] = ()
    denied: tuple[Network, ...] = ()
    # Allowed beside all others: the demo's own engines.
    added: tuple[Network, ...] = ()

    def admits(self, address: str) -> bool:
        """Tell whether an engine may be at this IP address."""
        parsed = _plain(address)
        if parsed is None or self._is_refused(parsed):
            return False
        if any(self._is_refused(inner) for inner in _carried(parsed)):
            return False
        return self._is_named(parsed) or not self.allowed

    def _is_refused(self, address: Address) -> bool:
        if _within(address, _NEVER) or _within(address, self.denied):
            return True
        special = [network for network in _SPECIAL if address in network]
        return bool(special) and not any(
            address in named and _is_part(named, special[0]) for named in (*self.allowed, *self.added)
        )

    def _is_named(self, address: Address) -> bool:
        return _within(address, (*self.allowed, *self.added))


def parsed_networks(text: str) -> NetworkPolicy:
    """Read networks with spaces or commas between them; one with ! before it is denied."""
    allowed: list[Network] = []
    denied: list[Network] = []
    for part in filter(None, re.split(r"[\s,]+", text)):
        try:
            network = ip_network(part.removeprefix("!"))
        except ValueError as error:
            raise NetworksError(_("{part} is not a network: {error}.").format(part=f"{part!r}", error=error)) from error
        (denied if part.startswith("!") else allowed).append(network)
    return NetworkPolicy(tuple(allowed), tuple(denied))


def network_policy() -> NetworkPolicy:
    """Return the policy of the settings; in the demo its engines on loopback are allowed too."""
    return _policy(site_setting("ENGINE_NETWORKS"), settings.DEMO)


@cache
def _policy(text: str, is_demo: bool) -> NetworkPolicy:
    read = parsed_networks(text)
    return NetworkPolicy(read.allowed, read.denied, LOOPBACK if is_demo else ())


def reached_addresses(address: str) -> list[Address]:
    """Return an IP address with the IPv4 addresses that traffic to it may end at; nothing for what is none."""
    parsed = _plain(address)
    return [] if parsed is None else [parsed, *_carried(parsed)]


def _plain(text: str) -> Address | None:
    """Parse an address, an IPv4-mapped one as the IPv4 address that it is; None for one with a zone."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address):
        return None if address.scope_id else address.ipv4_mapped or address
    return address


def _carried(address: Address) -> list[IPv4Address]:
    """Return the IPv4 addresses that a translator or tunnel would send an IPv6 address's traffic to."""
    if isinstance(address, IPv4Address) or address in IPv6Network("::/127"):
        return []
    carried = [IPv4Address((int(address) >> shift) & 0xFFFFFFFF) for network, shift in _CARRIERS if address in network]
    return [*carried, *(address.teredo or ())]


def _within(address: Address, networks: Sequence[Network]) -> bool:
    return any(address in network for network in networks)


def _is_part(network: Network, of: Network) -> bool:
    return network.version == of.version and network.subnet_of(of)  # type: ignore[arg-type]
