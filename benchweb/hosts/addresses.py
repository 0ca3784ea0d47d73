"""Parse addresses of engines: HOST:PORT with IPv6 in brackets, and bare addresses for test traffic."""

import ipaddress
import re
from typing import TypeAlias

import idna

DEFAULT_CONTROL_PORT = 7410
_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
_BROADCAST = ipaddress.IPv4Address("255.255.255.255")
_ZONELESS = "give an address that all machines reach"
_NAME = re.compile(r"(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]{0,62})(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,62}))*\.?$")
# No name ends in a number: systems read 0x7f.1 and 127.1 as IPv4 addresses, of loopback in this case.
_NUMBER_AT_END = re.compile(r"(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$", re.IGNORECASE)


class AddressError(ValueError):
    """An address that can't be parsed; the message names the form it should have."""


def control_address(text: str) -> tuple[str, int]:
    """Split HOST, HOST:PORT or [IPv6]:PORT into host and port; the port defaults to 7410."""
    text = text.strip()
    if "://" in text:
        raise AddressError(f"{text!r} is a URL: write HOST:PORT alone, such as 192.0.2.10:7410.")
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise AddressError(f"{text!r} is no address: write [IPv6]:PORT, such as [2001:db8::1]:7410.")
        port_text = rest.removeprefix(":") if rest else str(DEFAULT_CONTROL_PORT)
    elif text.count(":") > 1:
        host, port_text = text, str(DEFAULT_CONTROL_PORT)
    else:
        host, _, port_text = text.partition(":")
        port_text = port_text or str(DEFAULT_CONTROL_PORT)
    if not port_text.isascii() or not port_text.isdecimal() or not 1 <= int(port_text) <= 65535:
        raise AddressError(f"{text!r} has no valid port: write HOST:PORT with a port from 1 to 65535.")
    return data_address(host), int(port_text)


def data_address(text: str) -> str:
    """Check a host name, an IPv4 or an IPv6 address that traffic may go to, and return its one form.

    A name in other letters than ASCII becomes its IDNA form, an IPv4-mapped address the IPv4 address.
    """
    text = text.strip()
    if "%" in text:
        raise AddressError(f"{text} names a zone, which is an interface of one machine: {_ZONELESS}, without a zone.")
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
        raise AddressError(f"{text!r} is not a valid host name: {error}.") from error
    if _ip_address(name) is None and (_NAME.fullmatch(name) is None or _NUMBER_AT_END.search(name)):
        raise AddressError(f"{text!r} is neither a host name nor an IP address.")
    return name


def _checked(address: _Address) -> _Address:
    if address.is_multicast or address.is_unspecified or address == _BROADCAST:
        raise AddressError(f"{address} is no single host's address: give the address of one interface.")
    if address.version == 6 and address.is_link_local:
        raise AddressError(f"{address} is a link-local address, which is another on each network: {_ZONELESS}.")
    return address
