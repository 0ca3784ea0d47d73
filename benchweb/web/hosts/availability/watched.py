"""An endpoint as its probes saw it, and why nothing is known of a time."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext_noop

from benchweb.hosts.models import Endpoint
from benchweb.hosts.probing.availability import Availability, Stretch
from benchweb.hosts.probing.probes import PROBE_GAP

UNKNOWN_REASON = gettext_noop("no probe was recorded: no worker or beat ran")
_SYNTHETIC_REASON = gettext_noop("no probe was recorded: a sample host is never probed")
_FIRST_PROBE = gettext_noop("not probed yet: the first probe comes within two minutes")
_BEFORE_FIRST = gettext_noop("before the first probe")


@dataclass(frozen=True)
class Watched:
    """An endpoint with what its probes said of all periods; before it was added there was nothing to say."""

    endpoint: Endpoint
    availability: Availability
    added_at: datetime
    now: datetime

    def since(self, begin: datetime) -> Availability:
        """Cut out the time from `begin` on in which it was there."""
        return self.availability.within(max(begin, self.added_at), self.now)

    @property
    def is_new(self) -> bool:
        """Tell whether it waits for its first probe."""
        return self.now - self.added_at < PROBE_GAP and self.availability.known_seconds == 0

    def unknown_reason(self, stretch: Stretch | None = None) -> str:
        """Say why nothing is known of a stretch, or of all the time till now."""
        if self.endpoint.host.is_synthetic:
            return _SYNTHETIC_REASON
        if stretch and stretch.until < self.now:
            is_first = stretch.since <= self.added_at and stretch.until - stretch.since < PROBE_GAP
            return _BEFORE_FIRST if is_first else UNKNOWN_REASON
        return _FIRST_PROBE if self.is_new else UNKNOWN_REASON
