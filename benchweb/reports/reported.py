"""The runs of a report with all that tables are made of, and how their repetitions are combined."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median
from typing import Any

from django.utils.translation import gettext as _

from benchweb.charts.tools.measurements import measurement
from benchweb.documents.references import Label, environment_ref, joined_label, pair_ref
from benchweb.imports.models import Import
from benchweb.results.selectors import TrialRow, facts_of_runs, results_of_trials, trial_rows_of_runs
from benchweb.runs.models import Run
from benchweb.toolformats.readings import Reading, ToolFormatError
from benchweb.toolprints.printed import Measurement

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class ReportedTrial:
    """A complete trial, and the document that it came with: an engine's, or an imported one's."""

    measured: Measurement
    document: Mapping[str, Any]


@dataclass(frozen=True)
class Combination:
    """Repetitions of one test with the same parameters."""

    trials: Sequence[ReportedTrial]
    statistic: str

    @property
    def first(self) -> Measurement:
        return self.trials[0].measured

    @property
    def n(self) -> int:
        return len(self.trials)

    def values(self, metric: str) -> list[float]:
        """Return what the repetitions measured of a metric."""
        return [trial.measured.metrics[metric] for trial in self.trials if metric in trial.measured.metrics]

    def value(self, metric: str) -> float | None:
        """Return mean or median of a metric, as the report says; None where no repetition has it."""
        values = self.values(metric)
        return combined(values, self.statistic) if values else None


def combined(values: Sequence[float], statistic: str) -> float:
    """Return mean or median of repetitions, as a report says."""
    return fmean(values) if statistic == "mean" else median(values)


@dataclass(frozen=True)
class ReportedRun:
    """A run with its complete trials in order."""

    run: Run
    rows: Sequence[TrialRow]
    trials: Sequence[ReportedTrial]
    statistic: str
    # Source's and sink's; empty where unknown.
    facts: tuple[Facts, Facts]
    imported: Import | None = None

    @property
    def label(self) -> Label:
        """Name the run by what it was measured on; an imported one also by its tools."""
        pair = self.run.pair
        return joined_label([pair_ref(pair), environment_ref(pair.environment.name), self.origin])

    @property
    def origin(self) -> str:
        """Say what an imported run came from; empty for one that was measured here."""
        return _("imported from {tools}").format(tools=", ".join(self.imported.tools)) if self.imported else ""

    def combinations(self, *kinds: str) -> Iterator[Combination]:
        """Return the tests of some kinds, of all without any, in the order in which they were first measured."""
        groups: dict[str, list[ReportedTrial]] = {}
        for trial in self.trials:
            if not kinds or trial.measured.kind in kinds:
                groups.setdefault(self._test(trial.measured), []).append(trial)
        yield from (Combination(trials, self.statistic) for trials in groups.values())

    def _test(self, measured: Measurement) -> str:
        """Return what repetitions have in common; a tool's tests of other lengths stand each by itself, as printed."""
        is_printed = self.imported is not None
        given = {name: value for name, value in measured.given.items() if is_printed or name != "duration_seconds"}
        return json.dumps([measured.kind, given], sort_keys=True)

    @cached_property
    def readings(self) -> list[Reading]:
        """Return what an imported run's text holds, with rows and intervals as the tools printed them."""
        if self.imported is None or self.imported.key:
            return []
        # Every reader, which no other page needs.
        from benchweb.toolformats.document import read_text

        try:
            return list(read_text(self.imported.text))
        except ToolFormatError:
            return []


def reported_runs(runs: Sequence[Run], statistic: str) -> list[ReportedRun]:
    """Read what the runs gave; four queries, for runs that come with all that names them."""
    ids = [run.pk for run in runs]
    rows, facts = trial_rows_of_runs(ids), facts_of_runs(ids)
    measured = [row.id for of_run in rows.values() for row in of_run if row.measured]
    documents = results_of_trials(measured)
    imports = {each.run_id: each for each in Import.objects.filter(run__in=ids)}
    return [
        ReportedRun(
            run=run,
            rows=rows[run.pk],
            trials=[
                ReportedTrial(measurement(run, row, documents[row.id]), documents[row.id].document)
                for row in rows[run.pk]
                if row.id in documents
            ],
            statistic=statistic,
            facts=facts.get(run.pk, ({}, {})),
            imported=imports.get(run.pk),
        )
        for run in runs
    ]
