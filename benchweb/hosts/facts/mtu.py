"""Where the two ends of a pair have different MTUs: it explains figures, and is easily overlooked among the facts."""

from typing import Any

from django.utils.translation import gettext as _

from benchweb.hosts.models import Endpoint, Pair


def mtu_words(pair: Pair, source: dict[str, Any], sink: dict[str, Any]) -> str:
    """Say that the interfaces of the test traffic have different MTUs; empty where they agree or it isn't known."""
    ours, theirs = _mtu(pair.source, source), _mtu(pair.sink, sink)
    if ours is None or theirs is None or ours == theirs:
        return ""
    return _("the MTU is %(source)s B at the source and %(sink)s B at the sink") % {"source": ours, "sink": theirs}


def _mtu(endpoint: Endpoint, document: dict[str, Any]) -> int | None:
    """Return the MTU of the interface that has the endpoint's address; of the only one where no address tells."""
    interfaces = document.get("interfaces") or []
    address = endpoint.data_address or endpoint.control_address.rpartition(":")[0].strip("[]")
    candidates = [interface for interface in interfaces if address in _addresses(interface)]
    candidates = candidates or [interface for interface in interfaces if interface.get("name") != "lo"]
    mtu = candidates[0].get("mtu") if len(candidates) == 1 else None
    return mtu if isinstance(mtu, int) else None


def _addresses(interface: dict[str, Any]) -> set[str]:
    return {str(address).partition("/")[0] for address in interface.get("addresses") or []}
