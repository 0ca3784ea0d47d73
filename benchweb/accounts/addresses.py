"""The address that a request comes from: the peer's, or what a trusted proxy says of its own peer."""

import logging
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_network

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port
from django.utils.translation import gettext

from benchweb.common.loopback import Address, is_loopback_name, parsed_address

Network = IPv4Network | IPv6Network
# One customer of a network provider has at least a whole /64: they would have a new address for every attempt.
_IPV6_PREFIX = 64
# That one token may be bound to.
MOST_NETWORKS = 50
_log = logging.getLogger(__name__)
_FORWARDING_HEADERS = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")


def client_address(request: HttpRequest) -> str:
    """Return the client's address; 'unknown' for a peer without one (a Unix socket).

    X-Forwarded-For is believed only from a trusted proxy, and read from its end: what stands before the address that
    the last trusted proxy added is the client's own text.
    """
    peer = parsed_address(request.META.get("REMOTE_ADDR", ""))
    if peer is None:
        return "unknown"
    hops = request.headers.get("X-Forwarded-For", "").split(",")
    if settings.BEHIND_TLS and hops[0] and peer.is_private and not _is_trusted(peer):
        _tell_of(str(peer))
    while hops and _is_trusted(peer):
        before = parsed_address(hops.pop())
        if before is None:
            break
        peer = before
    return str(peer)


def address_group(address: str) -> str:
    """Return what is counted as one address: an IPv4 address, or an IPv6 network of 64 bits."""
    parsed = parsed_address(address)
    if isinstance(parsed, IPv6Address):
        return str(ip_network((int(parsed), _IPV6_PREFIX), strict=False))
    return address


def is_from_this_machine(request: HttpRequest) -> bool:
    """Tell whether somebody on this machine asks it by a loopback name, and not through a proxy."""
    if any(name in request.headers for name in _FORWARDING_HEADERS):
        return False
    peer = parsed_address(request.META.get("REMOTE_ADDR", ""))
    host, _ = split_domain_port(request.META.get("HTTP_HOST", ""))
    return peer is not None and peer.is_loopback and is_loopback_name(host)


def is_within(address: Address | None, networks: Sequence[str]) -> bool:
    """Tell whether an address is one of these, or in one of these networks, as "192.0.2.0/24"; None never is."""
    return address is not None and any(address in network for network in _networks(tuple(networks)))


def networks_of(words: Sequence[str]) -> list[str]:
    """Return networks as PostgreSQL and Python write them; raise ValueError that says which word is none."""
    return [_network_of(word) for word in words]


def _network_of(word: str) -> str:
    try:
        return str(ip_network(word, strict=False))
    except ValueError:
        text = gettext("{word} is neither an address nor a network, such as 192.0.2.0/24.")
        raise ValueError(text.format(word=word)) from None


@lru_cache(maxsize=256)
def _tell_of(peer: str) -> None:
    """Log, once a process, what looks like a proxy that nobody named."""
    text = "X-Forwarded-For from %s is not believed: if that is your proxy, add it to BENCHWEB_TRUSTED_PROXIES"
    _log.warning(text, peer)


def _is_trusted(address: Address) -> bool:
    return is_within(address, settings.TRUSTED_PROXIES)


@lru_cache(maxsize=64)
def _networks(texts: Sequence[str]) -> tuple[Network, ...]:
    return tuple(ip_network(text, strict=False) for text in texts)
