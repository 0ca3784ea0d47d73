"""Tell rooms above of transitions; an exception of a receiver undoes the transition."""

from django.dispatch import Signal

# Sent by Alert with `alert` and `transition` (AlertTransition), inside the transaction, after each transition that
# people may be told of: not of suspects, and not of an alert that was never open.
alert_changed = Signal()
