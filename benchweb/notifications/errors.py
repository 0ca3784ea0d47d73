"""The refusals of channels, rules and maintenance windows."""

from benchweb.common.refusals import RefusedWrite


class NotificationError(RefusedWrite):
    """A refused write: `field` names the field at fault, as the API spells it, or is empty."""
