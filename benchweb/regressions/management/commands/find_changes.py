"""`manage.py find_changes`: the changes of a series from any program; needs no database."""

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchweb.regressions.series_files import SeriesFileError, read_series
from benchweb.statistics.changes import Change, find_changes
from benchweb.statistics.deciding import LEAST_CHANGE_RATIO, LEAST_RUNS, WINDOW_RUNS

_MOST_WINDOW = 1000


class Command(BaseCommand):
    """Read a series, write its changes as JSON."""

    help = "Find the changes of a series: a JSON list of numbers (null is missing) or a CSV column in, JSON out."
    # Nothing of them concerns this command, and their warnings would stand between its lines.
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file and what counts as a change."""
        parser.add_argument("file", metavar="FILE", help="the file, or - for standard input")
        parser.add_argument("--column", help="the CSV column, by its name or by its number from 1")
        parser.add_argument(
            "--floor",
            type=float,
            default=LEAST_CHANGE_RATIO,
            help=f"smallest change told, a share (default {LEAST_CHANGE_RATIO})",
        )
        parser.add_argument(
            "--window", type=int, default=WINDOW_RUNS, help=f"values looked at together (default {WINDOW_RUNS})"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the changes; exit with status 1 and a message for what can't be read."""
        floor, window = options["floor"], options["window"]
        if not 0 <= floor < 1:
            raise CommandError(f"--floor is {floor}, but must be a share from 0 to less than 1, as 0.03 for 3 %.")
        if not LEAST_RUNS <= window <= _MOST_WINDOW:
            raise CommandError(f"--window is {window}, but must be from {LEAST_RUNS} to {_MOST_WINDOW}.")
        try:
            values = read_series(_content(options["file"]), options["column"])
        except SeriesFileError as error:
            raise CommandError(f"{_name(options['file'])}: {error}") from None
        changes = find_changes(values, floor=floor, window=window)
        self.stdout.write(json.dumps([_as_json(change) for change in changes], indent=2))


def _content(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise CommandError(f"{file} can't be read ({error.strerror}): give a file, or - for standard input.") from None


def _name(file: str) -> str:
    return "Standard input" if file == "-" else file


def _as_json(change: Change) -> dict[str, float | None]:
    return {
        "index": change.index,
        "before": change.before,
        "after": change.after,
        "difference_ratio": change.difference_ratio,
        "interval_low_ratio": change.interval_low_ratio,
        "interval_high_ratio": change.interval_high_ratio,
        "p": change.p,
    }
