"""The app's start."""

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    """Channels, rules and deliveries."""

    name = "benchweb.notifications"

    def ready(self) -> None:
        """Listen to what becomes of alerts."""
        from benchweb.notifications import alerts  # noqa: F401  (models are there only now)
