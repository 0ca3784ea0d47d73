"""The app's start."""

from django.apps import AppConfig


class OpsConfig(AppConfig):
    """Register the checks of the settings."""

    name = "benchweb.ops"

    def ready(self) -> None:
        """Load the checks."""
        from benchweb.ops import settings_checks  # noqa: F401
