"""`manage.py import_results FILE… --pair ID [--at TIME]`: import other tools' outputs as runs of a pair."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchweb.hosts.models import Pair
from benchweb.imports.services import ImportPreview, ImportRefused, import_results, preview
from benchweb.imports.trials import error_of, summary
from benchweb.toolformats.readings import ToolFormatError


class Command(BaseCommand):
    help = "Import outputs of netperf, iperf, wrk, ping and others as runs of a pair."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path)
        parser.add_argument("--pair", type=int, required=True, help="the pair's number")
        parser.add_argument(
            "--at", type=_moment, help="when it was measured, in ISO 8601; else as the file says, else now"
        )
        parser.add_argument("--judge", action="store_true", help="look for changes in it, which become alerts")
        parser.add_argument("--dry-run", action="store_true", help="say what would be imported, and write nothing")

    def handle(
        self, *, files: list[Path], pair: int, at: datetime | None, judge: bool, dry_run: bool, **options: Any
    ) -> None:
        chosen = Pair.objects.filter(pk=pair).first()
        if chosen is None:
            raise CommandError(f"There is no pair {pair}: look up its number under Pairs.")
        refused = 0
        for path in files:
            try:
                read = preview(path.read_bytes())
                self._tell(path, read)
                if not dry_run:
                    made = import_results(read, pair=chosen, at=at, file_name=path.name, is_judged=judge)
                    self.stdout.write(f"{path}: imported as run {made.run_id}.")
            except (OSError, ToolFormatError, ImportRefused) as error:
                refused += 1
                self.stderr.write(f"{path}: {error}")
        if refused:
            raise CommandError(f"{refused} of {len(files)} files were not imported.")

    def _tell(self, path: Path, read: ImportPreview) -> None:
        counts = ", ".join(f"{count} of {tool}" for tool, count in summary(read.trials).items())
        self.stdout.write(f"{path}: {counts or 'no'} results.")
        for reading in read.document:
            if (why := error_of(reading)) and not any(unusable.reading is reading for unusable in read.unusable):
                self.stdout.write(f"{path}:{reading.lines.first}: failed, in no series: {why}")
        for unusable in read.unusable:
            self.stdout.write(f"{path}:{unusable.reading.lines.first}: left out: {unusable.reason}")
        for unread in read.document.unread:
            self.stdout.write(f"{path}:{unread.line}: not understood: {unread.text} ({unread.reason})")


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
