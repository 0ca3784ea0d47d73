"""All kinds of channels, in the order in which the page offers them."""

from benchweb.notifications.kinds.apprise.kind import APPRISE
from benchweb.notifications.kinds.email.kind import EMAIL
from benchweb.notifications.kinds.kind import ChannelKind
from benchweb.notifications.kinds.webhook.kind import WEBHOOK

CHANNEL_KINDS: dict[str, ChannelKind] = {kind.key: kind for kind in (EMAIL, WEBHOOK, APPRISE)}
