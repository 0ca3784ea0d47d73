"""The app's start."""

from django.apps import AppConfig


class OpsConfig(AppConfig):
    """Register the checks of the settings; set up how times and documents are read."""

    name = "benchweb.ops"

    def ready(self) -> None:
        """Load the checks; before the first connection, set up how times and documents are read."""
        from benchweb import checks, rows, times  # noqa: F401

        times.read_times_fast()
        rows.adapt_fast()
