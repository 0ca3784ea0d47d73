"""`manage.py extract_translations`: bring benchweb/locale's files to the texts that the pages use now."""

from typing import Any

from django.core.management.base import BaseCommand

from benchweb.ops import po_files
from benchweb.ops.extraction import merged, texts
from benchweb.ops.translations import sources


class Command(BaseCommand):
    """Add new texts and drop gone ones; translations are kept."""

    help = "Bring the translations' files to the texts that the pages use now."

    def handle(self, *args: Any, **options: Any) -> None:
        """Merge into every language and say what is still to be translated."""
        used = texts()
        for path in sources():
            entries = merged(po_files.read(path), used)
            po_files.write(path, entries)
            missing = sum(not entry.is_translated for entry in entries)
            self.stdout.write(f"{path}: {len(entries) - 1} texts, {missing} without a translation")
