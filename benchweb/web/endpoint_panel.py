"""What an endpoint's panel shows, and whether it should look again by itself."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.catalog import catalog
from benchweb.hosts.models import Endpoint, Facts
from benchweb.hosts.secrets import SecretUnreadable, decrypted
from benchweb.web.clock_words import is_far_off
from benchweb.web.engine_command import EngineCommand, engine_command
from benchweb.web.facts import FactsGroup, facts_glance, facts_groups

# A check that no worker has recorded by then is not coming: its wake-up was lost, or no worker runs.
CHECK_PATIENCE = timedelta(seconds=20)


@dataclass(frozen=True)
class AwaitedCheck:
    """A check that was asked for at `asked_at`, when the last recorded one was `since` (empty when there was none)."""

    asked_at: datetime
    since: str


@dataclass(frozen=True)
class EndpointPanel:
    """An endpoint with its latest check and facts; `awaited` is None when no check is awaited."""

    endpoint: Endpoint
    facts: Facts | None
    groups: list[FactsGroup]
    command: EngineCommand | None
    awaited: AwaitedCheck | None
    is_overdue: bool
    # The command has a placeholder where the token belongs: only whoever entered it sees it.
    is_token_hidden: bool

    @property
    def is_checking(self) -> bool:
        return self.awaited is not None and not self.is_overdue

    @property
    def looks_again(self) -> bool:
        """Poll while a check is under way, and while an engine hasn't answered yet."""
        silent = self.endpoint.status in (Endpoint.Status.UNKNOWN, Endpoint.Status.UNREACHABLE)
        return self.is_checking or (silent and not self.is_overdue)

    @property
    def asked_at_text(self) -> str:
        return repr(self.awaited.asked_at.timestamp()) if self.awaited else ""

    @property
    def since(self) -> str:
        return self.awaited.since if self.awaited else ""

    @property
    def glance(self) -> str:
        return facts_glance(self.facts.document) if self.facts else ""

    @property
    def catalog_note(self) -> str:
        """Say what it means when the engine was built with another catalog than this dashboard's."""
        engines, ours = self.endpoint.catalog_version, catalog().version
        if engines is None or engines == ours:
            return ""
        if engines < ours:
            return _("older than this dashboard's {ours}: it may not know every kind and parameter").format(ours=ours)
        return _("newer than this dashboard's {ours}: it may not know every kind and parameter").format(ours=ours)

    @property
    def told_link_bps(self) -> float | None:
        """Return the speed that the kernel tells of the interface with the endpoint's address or device."""
        return told_link_bps(self.facts.document, self.endpoint) if self.facts else None

    @property
    def is_clock_far_off(self) -> bool:
        return is_far_off(self.endpoint.clock_offset_seconds)

    @property
    def fingerprint_changed(self) -> bool:
        pinned, seen = self.endpoint.fingerprint, self.endpoint.seen_fingerprint
        return bool(pinned and seen and pinned != seen)


def awaited_check(endpoint: Endpoint) -> AwaitedCheck:
    """Await a check from now on."""
    return AwaitedCheck(asked_at=timezone.now(), since=checked_text(endpoint))


def endpoint_panel(
    endpoint: Endpoint, facts: Facts | None, awaited: AwaitedCheck | None = None, *, shows_token: bool = False
) -> EndpointPanel:
    """Prepare an endpoint's panel; one that was never checked has its first check under way."""
    if awaited is None and endpoint.checked_at is None:
        awaited = awaited_check(endpoint)
    # Compared with what was recorded before, not with a time: the worker's clock may differ from ours.
    if awaited is not None and awaited.since != checked_text(endpoint):
        awaited = None
    return EndpointPanel(
        endpoint=endpoint,
        facts=facts,
        groups=facts_groups(facts.document) if facts else [],
        command=_command(endpoint, shows_token=shows_token),
        awaited=awaited,
        is_overdue=awaited is not None and timezone.now() - awaited.asked_at > CHECK_PATIENCE,
        is_token_hidden=not shows_token,
    )


def told_link_bps(document: dict[str, Any], endpoint: Endpoint) -> float | None:
    """Return the speed of the endpoint's interface as facts tell it; None where they tell none."""
    address = endpoint.data_address or endpoint.control_address.rpartition(":")[0].strip("[]")
    for each in document.get("interfaces") or []:
        is_its = each.get("name") == endpoint.bind_device if endpoint.bind_device else address in _addresses(each)
        if is_its and each.get("speed_bps"):
            return float(each["speed_bps"])
    return None


def _addresses(interface: dict[str, Any]) -> set[str]:
    return {str(each).partition("/")[0] for each in interface.get("addresses") or []}


def checked_text(endpoint: Endpoint) -> str:
    """Return the time of the last recorded check as text that a form can carry."""
    return endpoint.checked_at.isoformat() if endpoint.checked_at else ""


def _command(endpoint: Endpoint, *, shows_token: bool) -> EngineCommand | None:
    """Return the command to run on the host, only as long as no engine has ever answered."""
    if endpoint.fingerprint or endpoint.status in (Endpoint.Status.ANSWERED, Endpoint.Status.NEVER_ASKED):
        return None
    try:
        token = decrypted(endpoint.token_encrypted) if shows_token else ""
    except SecretUnreadable:
        token = ""
    return engine_command(address=endpoint.control_address, token=token)
