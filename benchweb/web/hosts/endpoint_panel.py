"""Show an endpoint's panel, which looks again by itself while something is awaited."""

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.catalog import catalog
from benchweb.hosts.enrolment.commands import InstallCommand
from benchweb.hosts.enrolment.rotation import PATIENCE as ROTATION_PATIENCE
from benchweb.hosts.facts.links import reported_link_bps
from benchweb.hosts.models import Endpoint, Facts
from benchweb.site.secrets import SecretUnreadable, decrypted
from benchweb.web.facts.page import FactsGroup, facts_groups, facts_summary
from benchweb.web.hosts.engine_command import EngineCommand, engine_command
from benchweb.web.shared.awaited_check import AwaitedCheck
from benchweb.web.shared.words import is_far_off

# A check that no worker has recorded by then is not coming: its wake-up was lost, or no worker runs.
CHECK_PATIENCE = timedelta(seconds=20)


@dataclass(frozen=True)
class EndpointPanel:
    """An endpoint with its latest check and facts; `awaited` is None when no check is awaited."""

    endpoint: Endpoint
    facts: Facts | None
    groups: list[FactsGroup]
    command: EngineCommand | None
    # The one line that does it all, for whoever entered the token.
    install: InstallCommand | None
    awaited: AwaitedCheck | None
    is_overdue: bool
    # The command has a placeholder where the token belongs: only whoever entered it sees it.
    is_token_hidden: bool

    @property
    def is_checking(self) -> bool:
        return self.awaited is not None and not self.is_overdue

    @property
    def is_polling(self) -> bool:
        """Poll while a check is under way, and while an engine hasn't answered yet."""
        silent = self.endpoint.status in (Endpoint.Status.UNKNOWN, Endpoint.Status.UNREACHABLE)
        return self.is_checking or self.is_rotating or (silent and not self.is_overdue)

    @property
    def is_rotating(self) -> bool:
        """Return whether a worker is replacing the engine's token or certificate."""
        begun = self.endpoint.rotation_requested_at
        is_open = begun is not None and self.endpoint.rotation_ended_at is None
        return is_open and begun is not None and timezone.now() - begun < ROTATION_PATIENCE

    @property
    def rotation_text(self) -> str:
        """Say what became of the latest replacement."""
        is_token = self.endpoint.rotation == Endpoint.Rotation.TOKEN
        if self.is_rotating:
            return _("Replacing the token…") if is_token else _("Replacing the certificate…")
        if self.endpoint.rotation_ended_at is None:
            return _("No worker has reported within a minute. Make sure that a worker is running, then try again.")
        if self.endpoint.rotation_reason:
            return _("Token not replaced") if is_token else _("Certificate not replaced")
        return _("Token replaced") if is_token else _("Certificate replaced")

    @property
    def may_rotate(self) -> bool:
        """Return whether there is a token and a certificate to replace, on a channel that is trusted."""
        return bool(self.endpoint.token_encrypted and self.endpoint.fingerprint) and not self.fingerprint_changed

    @property
    def facts_text(self) -> str:
        return facts_summary(self.facts.document) if self.facts else ""

    @property
    def catalog_note(self) -> str:
        """Say what it means when the engine was built with another catalog than this dashboard's."""
        engines, ours = self.endpoint.catalog_version, catalog().version
        if engines is None or engines == ours:
            return ""
        if engines < ours:
            return _("older than this dashboard's {ours}: some kinds and parameters may not be supported").format(
                ours=ours
            )
        return _("newer than this dashboard's {ours}: some kinds and parameters may not be supported").format(ours=ours)

    @property
    def reported_link_bps(self) -> float | None:
        """Return the speed that the kernel tells of the interface with the endpoint's address or device."""
        if self.facts is None:
            return None
        endpoint = self.endpoint
        address = endpoint.data_address or endpoint.control_address.rpartition(":")[0].strip("[]")
        return reported_link_bps(self.facts.document, address, endpoint.bind_device)

    @property
    def is_clock_far_off(self) -> bool:
        return is_far_off(self.endpoint.clock_offset_seconds)

    @property
    def fingerprint_changed(self) -> bool:
        pinned, seen = self.endpoint.fingerprint, self.endpoint.seen_fingerprint
        return bool(pinned and seen and pinned != seen)


def endpoint_panel(
    endpoint: Endpoint,
    facts: Facts | None,
    awaited: AwaitedCheck | None = None,
    *,
    shows_token: bool = False,
    install: InstallCommand | None = None,
) -> EndpointPanel:
    """Prepare an endpoint's panel; one that was never checked has its first check under way."""
    if awaited is None and endpoint.checked_at is None:
        awaited = AwaitedCheck.begun(None)
    if awaited is not None and awaited.is_recorded(endpoint.checked_at):
        awaited = None
    command = _command(endpoint, shows_token=shows_token)
    return EndpointPanel(
        endpoint=endpoint,
        facts=facts,
        groups=facts_groups(facts.document) if facts else [],
        command=command,
        install=install if command else None,
        awaited=awaited,
        is_overdue=awaited is not None and awaited.is_overdue(CHECK_PATIENCE),
        is_token_hidden=not shows_token,
    )


def _command(endpoint: Endpoint, *, shows_token: bool) -> EngineCommand | None:
    """Return the command to run on the host, only as long as no engine has ever answered."""
    if endpoint.fingerprint or endpoint.status in (Endpoint.Status.ANSWERED, Endpoint.Status.NEVER_CHECKED):
        return None
    try:
        token = decrypted(endpoint.token_encrypted) if shows_token else ""
    except SecretUnreadable:
        token = ""
    return engine_command(address=endpoint.control_address, token=token)
