"""`manage.py compile_translations`: make the pages' translations ready to load."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from benchweb.ops.translations import compile_translations


class Command(BaseCommand):
    """Compile benchweb/locale into the state folder; safe to repeat."""

    help = "Make the pages' translations ready to load."

    def handle(self, *args: Any, **options: Any) -> None:
        """Compile every language."""
        for path in compile_translations(settings.LOCALE_PATHS[0]):
            self.stdout.write(f"Wrote {path}")
