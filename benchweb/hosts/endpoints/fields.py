"""What may be entered of an endpoint, as it is stored."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.common.names import stored_name, text_fault
from benchweb.hosts.addresses import AddressError, control_text, data_address
from benchweb.hosts.errors import HostsError
from benchweb.site.secrets import encrypted

# No link of today is outside: what is has lost a unit.
_SLOWEST_LINK_BPS, _FASTEST_LINK_BPS = 1e3, 1e14
_FINGERPRINT_HELP = gettext_noop("a fingerprint is sha256: and 64 hexadecimal digits, as the engine prints it.")


def endpoint_fields(
    *,
    control_address: str,
    name: str = "",
    data_address: str = "",
    network_mode: str = "host",
    bind_device: str = "",
    token: str = "",
    fingerprint: str = "",
    same_machine: bool = False,
    link_bps: float | None = None,
) -> dict[str, Any]:
    """Return an endpoint's columns from what was entered; raise HostsError for the first that can't be."""
    for field, text in (("name", name), ("network_mode", network_mode), ("bind_device", bind_device)):
        if fault := text_fault(text):
            raise HostsError(field, fault)
    if not 1 <= len(network_mode.strip()) <= 40:
        raise HostsError("network_mode", _("network_mode is a word such as host, terway or terway-eni."))
    if len(name) > 100 or len(bind_device) > 15:
        raise HostsError("name" if len(name) > 100 else "bind_device", _("Too long: 100 and 15 characters at most."))
    return {
        "name": stored_name(name),
        "control_address": _checked_control(control_address),
        "data_address": _checked_data(data_address),
        "network_mode": stored_name(network_mode),
        "bind_device": bind_device.strip(),
        "token_encrypted": encrypted_token(token),
        "fingerprint": checked_fingerprint(fingerprint),
        "same_machine": same_machine,
        "link_bps": _checked_link(link_bps),
    }


def encrypted_token(token: str) -> bytes:
    """Return a token as it is stored, empty for none."""
    return encrypted(token.strip()) if token.strip() else b""


def _checked_control(text: str) -> str:
    try:
        return control_text(text)
    except AddressError as error:
        raise HostsError("control_address", str(error)) from error


def _checked_data(text: str) -> str:
    if not text.strip():
        return ""
    try:
        return data_address(text)
    except AddressError as error:
        raise HostsError("data_address", str(error)) from error


def _checked_link(bps: float | None) -> float | None:
    if bps is not None and not _SLOWEST_LINK_BPS <= bps <= _FASTEST_LINK_BPS:
        raise HostsError("link_bps", _("A link's speed is from 1 kbit/s to 100 Tbit/s."))
    return bps


def checked_fingerprint(text: str) -> str:
    """Return a fingerprint in the one form that is stored, empty for none."""
    text = text.strip().lower().replace("sha256:", "")
    digits = text.replace(":", "")
    if digits and (len(digits) != 64 or set(digits) - set("0123456789abcdef")):
        raise HostsError(
            "fingerprint",
            _("{text} is not one: {fingerprint_help}").format(
                text=f"{text[:80]!r}", fingerprint_help=_(_FINGERPRINT_HELP)
            ),
        )
    return f"sha256:{digits}" if digits else ""
