"""The speed of an endpoint's link, as its host's kernel tells it in the facts."""

from collections.abc import Mapping
from typing import Any


def reported_link_bps(document: Mapping[str, Any], address: str, device: str = "") -> float | None:
    """Return the speed in bit/s of the device, else of the address's interface; None where none is told."""
    interfaces = document.get("interfaces") or []
    its = [
        interface
        for interface in interfaces
        if (interface.get("name") == device if device else _holds(interface, address))
    ]
    return next((float(interface["speed_bps"]) for interface in its if interface.get("speed_bps")), None)


def _holds(interface: Mapping[str, Any], address: str) -> bool:
    # With the length of its prefix behind it, or without.
    return any(str(text).partition("/")[0] == address for text in interface.get("addresses") or [])
