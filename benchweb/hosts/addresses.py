"""Parse addresses of engines: HOST:PORT with IPv6 in brackets, and bare addresses for test traffic."""

import ipaddress
import re

DEFAULT_CONTROL_PORT = 7410
_NAME = re.compile(r"(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]{0,62})(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,62}))*\.?$")


class AddressError(ValueError):
    """An address that can't be parsed; the message names the form it should have."""


def control_address(text: str) -> tuple[str, int]:
    """Split HOST, HOST:PORT or [IPv6]:PORT into host and port; the port defaults to 7410."""
    text = text.strip()
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
    """Check a host name, an IPv4 or an IPv6 address that traffic may go to: never multicast or unspecified."""
    text = text.strip()
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        if _NAME.fullmatch(text) is None or text.replace(".", "").isdecimal():
            raise AddressError(f"{text!r} is neither a host name nor an IP address.") from None
        return text
    if address.is_multicast or address.is_unspecified or text == "255.255.255.255":
        raise AddressError(f"{text} is no single host's address: give the address of one interface.")
    return str(address)
