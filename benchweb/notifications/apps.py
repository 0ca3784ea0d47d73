"""The app's start."""

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    """Channels, rules and deliveries."""

    name = "benchweb.notifications"
