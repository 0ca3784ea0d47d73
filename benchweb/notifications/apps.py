"""The app's start."""

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    """Channels, rules and deliveries."""

    name = "benchweb.notifications"

    def ready(self) -> None:
        """Listen to what becomes of alerts, and to slow changes."""
        from benchweb.notifications import alerts, slow_changes  # noqa: F401  (models are there only now)
