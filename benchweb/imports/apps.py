"""The app's start."""

from django.apps import AppConfig


class ImportsConfig(AppConfig):
    """Results that come from elsewhere."""

    name = "benchweb.imports"

    def ready(self) -> None:
        """Let the catalog know the kinds that other systems define."""
        from benchweb.catalog.document import own_kinds
        from benchweb.imports.own_kinds import definitions

        own_kinds.register(definitions.value)
