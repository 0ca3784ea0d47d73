"""`manage.py generate_history`: write believable history that nobody measured, or remove all of it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from benchweb.ops import synthetic
from benchweb.ops.synthetic.samples import JUDGED_NIGHTS, LEAST_DAYS, LEAST_PAIRS
from benchweb.runs.models import Run

MOST_PAIRS, MOST_DAYS, MOST_POINTS = 5_000, 3_650, 200_000_000


class Command(BaseCommand):
    """Fill the tables for a benchmark or a demonstration; every page calls it synthetic."""

    help = "Write synthetic history for benchmarks and demonstrations, or remove it (--remove)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take how much, by nights of pairs or by points."""
        parser.add_argument("--pairs", type=int, help="pairs that ran each night; 18 have both mode matrices")
        parser.add_argument("--days", type=int, help="nights up to the last one")
        parser.add_argument("--points", type=int, help="at least so many points instead, over a year of nights")
        parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same history (default 1)")
        parser.add_argument(
            "--alerts",
            action="store_true",
            help=f"let a sample of each kind of alert be in the last {JUDGED_NIGHTS} nights, and judge these",
        )
        parser.add_argument("--remove", action="store_true", help="remove all synthetic history instead")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write or remove."""
        if options["remove"]:
            if any(options[name] is not None for name in ("pairs", "days", "points")):
                raise CommandError("--remove takes away all synthetic history: say how much to write without it.")
            self._remove()
            return
        written = self._write(options)
        self.stdout.write(
            f"copied in {written.copying_seconds:.1f} s, indexed in {written.indexing_seconds:.1f} s, "
            f"vacuumed in {written.vacuum_seconds:.1f} s, summed up in {written.summing_seconds:.1f} s: "
            f"{written.points / (written.copying_seconds + written.indexing_seconds):,.0f} points/s with indexes"
        )
        self.stdout.write(
            f"Wrote {written.points:,} points in {written.series:,} series from {written.runs:,} runs, all synthetic."
        )

        if options["alerts"]:
            opened = synthetic.judge_samples(self.stdout.write)
            self.stdout.write(f"Judged the last {JUDGED_NIGHTS} nights: {opened:,} alerts, of which nobody is told.")

    def _write(self, options: dict[str, Any]) -> synthetic.WrittenHistory:
        pairs, days, points = options["pairs"], options["days"], options["points"]
        if (points is None) == (pairs is None and days is None) or (pairs is None) != (days is None):
            raise CommandError("Say how much by --pairs N --days D, or by --points N.")
        for name, most in (("pairs", MOST_PAIRS), ("days", MOST_DAYS), ("points", MOST_POINTS)):
            value = options[name]
            if value is not None and not 1 <= value <= most:
                raise CommandError(f"--{name} is {value:,}, but must be from 1 to {most:,}.")
        if options["alerts"] and (points is not None or pairs < LEAST_PAIRS or days < LEAST_DAYS):
            raise CommandError(f"--alerts needs --pairs {LEAST_PAIRS} or more, and --days {LEAST_DAYS} or more.")
        now = timezone.now()
        if points is not None:
            return synthetic.generate_points(points=points, seed=options["seed"], until=now)
        return synthetic.generate_nights(
            pairs=pairs, days=days, seed=options["seed"], until=now, has_samples=options["alerts"]
        )

    def _remove(self) -> None:
        removed = synthetic.remove()
        if not removed:
            self.stdout.write("There was nothing synthetic to remove.")
            return
        points, runs = (removed.get(table, 0) for table in ("results_point", Run._meta.db_table))
        self.stdout.write(f"Removed {points:,} points, {runs:,} runs and everything that hung on them.")
