"""`manage.py extract_translations`: bring benchweb/locale's files to the texts that the pages use now."""

from typing import Any

from django.core.management.base import BaseCommand

from benchweb.ops.extraction import merge, texts
from benchweb.ops.translations import read, sources, write


class Command(BaseCommand):
    """Add new texts and drop gone ones; translations are kept."""

    help = "Bring the translations' files to the texts that the pages use now."

    def handle(self, *args: Any, **options: Any) -> None:
        """Merge into every language and say what is still to be translated."""
        used = texts()
        for path in sources():
            translations = read(path)
            merge(translations, used)
            write(path, translations)
            missing = len(translations.untranslated_entries())
            self.stdout.write(f"{path}: {len(translations)} texts, {missing} without a translation")
