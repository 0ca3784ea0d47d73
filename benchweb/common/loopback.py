"""Tell which names and addresses mean this machine only; standard library only."""

from ipaddress import IPv4Address, IPv6Address, ip_address

Address = IPv4Address | IPv6Address


def is_loopback_name(host: str) -> bool:
    """Tell whether a host name or address, IPv6 with or without brackets, can only mean this machine."""
    address = parsed_address(host.removeprefix("[").removesuffix("]"))
    return host.lower() == "localhost" if address is None else address.is_loopback


def parsed_address(text: str) -> Address | None:
    """Read an address; IPv4 in IPv6's clothes is IPv4, a zone is left out, and anything else is None."""
    try:
        address = ip_address(text.strip().partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
