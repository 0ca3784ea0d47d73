"""`manage.py audit_log`: the audit log as JSON lines, for a log collector."""

import json
import time
from argparse import ArgumentParser
from itertools import chain
from typing import Any

from django.core.management.base import BaseCommand
from django.forms.models import model_to_dict

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.audit.selectors import audit_parts
from benchweb.documents.moments import rfc3339

_POLL_SECONDS = 1.0
# A transaction that began earlier may end later: its entries have lower ids than others that are seen already.
_SETTLE_ENTRIES = 1_000


class Command(BaseCommand):
    """Print entries, the oldest first, one JSON document a line."""

    help = "Print the audit log as JSON lines, the oldest entry first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--after", type=int, default=0, metavar="ID", help="entries after this one only")
        parser.add_argument("--follow", action="store_true", help="go on with new entries as they come")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print what there is, and with --follow what comes."""
        printed: set[int] = set()
        after = options["after"]
        while True:
            for entry in chain.from_iterable(audit_parts(AuditEntry.objects.all(), after=after)):
                if entry.pk not in printed:
                    self.stdout.write(_line(entry))
                    printed.add(entry.pk)
            if not options["follow"]:
                return
            self.stdout.flush()
            latest = sorted(printed)[-_SETTLE_ENTRIES:]
            if len(latest) == _SETTLE_ENTRIES:
                printed, after = set(latest), latest[0] - 1
            time.sleep(_POLL_SECONDS)


def _line(entry: AuditEntry) -> str:
    values = {"id": entry.pk, **model_to_dict(entry), "at": rfc3339(entry.at)}
    return json.dumps(values, ensure_ascii=False)
