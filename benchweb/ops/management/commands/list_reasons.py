"""`manage.py list_reasons`: print the codes of reasons as docs/api.md lists them."""

from typing import Any

from django.core.management.base import BaseCommand

from benchweb.catalog.messages import MESSAGES


def reasons_table() -> str:
    """Return the codes with their texts as a Markdown table."""
    rows = (f"| `{code}` | {text.replace('|', '&#124;')} |" for code, text in sorted(MESSAGES.items()))
    return "\n".join(["| code | text |", "|---|---|", *rows])


class Command(BaseCommand):
    """Print a table for docs/api.md."""

    help = "Print the codes of reasons with their texts, as docs/api.md lists them."

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the table."""
        self.stdout.write(reasons_table())
