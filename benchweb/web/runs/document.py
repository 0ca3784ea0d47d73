"""A run as a document: its record in sections and tables, for files, live links and whoever reads it as Markdown."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from benchweb.catalog.reasons import Reason
from benchweb.catalog.translation import translated
from benchweb.charts.run.export import figures_table
from benchweb.charts.run.record import RunRecord, run_record
from benchweb.charts.run.removed import removed_words
from benchweb.charts.run.verdict import Headline
from benchweb.documents.document import (
    Badge,
    Document,
    DocumentCell,
    DocumentSection,
    DocumentTable,
    MeasuredValue,
    Moment,
)
from benchweb.documents.nameless import nameless_document
from benchweb.documents.references import Label, free_text, joined_label, reason_label, run_ref, worded
from benchweb.results.selectors import trial_rows
from benchweb.runs.models import Run, State
from benchweb.state_words import state_word
from benchweb.web.facts.diff import facts_side_by_side
from benchweb.web.facts.page import facts_groups
from benchweb.web.tags.show import kind_label, params_text, settings_words


def run_document(run: Run) -> Document:
    """Return what a run's page shows, with the figures of its CSV; it comes with what names it. Three queries."""
    trials = trial_rows(run.pk)
    return replace(recorded_document(run_record(run, trials)), figures=figures_table(run, trials))


def recorded_document(record: RunRecord) -> Document:
    """Return a record as a document. No query."""
    sections = [
        DocumentSection("figures", _("Results"), tables=_headlines(record)),
        DocumentSection("charts", _("Charts"), charts=record.charts),
        DocumentSection("trials", _("Trials"), tables=_trials(record)),
        DocumentSection("confidence", _("Confidence"), tables=_confidence(record)),
        DocumentSection("facts", _("Host facts"), tables=list(_facts(record))),
        DocumentSection("commands", _("Reproduce"), tables=_commands(record)),
        DocumentSection("events", _("Events"), tables=_events(record)),
    ]
    return Document(
        title=_title(record),
        lines=list(_lines(record)),
        sections=[section for section in sections if not section.is_empty],
        made_at=timezone.now(),
        is_synthetic=record.is_synthetic,
        badge=_badge(record),
    )


def _title(record: RunRecord) -> Label:
    number = worded(_("Run %(run)s"), run=run_ref(record.run)) if record.run else ""
    return joined_label([number, Label(record.plan, f" v{record.plan_version}"), _pair(record)])


def _pair(record: RunRecord) -> Label:
    return Label(record.source) if record.sink == record.source else Label(record.source, " → ", record.sink)


def _lines(record: RunRecord) -> Iterator[str]:
    began = Label(_("began"), f" {Moment(record.started_at)}") if record.started_at else ""
    yield joined_label([record.environment, state_word(record.state), began])
    stop = pgettext("end of a sentence", ".")
    yield record.verdict.trials + stop
    if record.verdict.limited_by:
        colon = pgettext("before a list", ":") if len(record.verdict.limited_by) > 1 else ""
        joint = pgettext("between parts of a sentence", "; ")
        yield Label(_("Limited by"), colon, " ", joined_label(record.verdict.limited_by, joint), stop)
    if record.confidence:
        reached = _("The requested confidence was reached: %(words)s.")
        yield (
            worded(reached, words=record.confidence.words)
            if record.confidence.is_reached
            else Label(record.confidence.sentence, stop)
        )
    if record.reason and not (record.confidence and record.reason == record.confidence.sentence):
        yield record.reason
    for note in filter(None, (*record.verdict.warnings, record.facts_note)):
        yield Label(_("Note:"), " ", note, stop)
    yield from removed_words(record)


def _headlines(record: RunRecord) -> list[DocumentTable]:
    figures = [figure for headline in record.verdict.headlines for figure in (headline, headline.loss) if figure]
    rows: list[Sequence[DocumentCell]] = [
        [figure.kind_label, figure.label, _measured(figure), _settings(figure)] for figure in figures
    ]
    return _filled([_("Test"), _("Figure"), _("Value"), _("Parameters")], rows, [2])


def _measured(figure: Headline) -> MeasuredValue:
    return MeasuredValue(figure.value, figure.unit, figure.n, *(figure.extremes or (None, None)))


def _settings(figure: Headline) -> Label:
    return joined_label(settings_words(figure.at), pgettext("between items of a list", ", "))


def _trials(record: RunRecord) -> list[DocumentTable]:
    columns = ["#", _("Kind"), _("Parameters"), _("Repetition"), _("State"), _("Headline"), _("Limited by"), _("Flags")]
    rows: list[Sequence[DocumentCell]] = [
        [
            trial.index,
            trial.kind_label,
            params_text(trial.kind, trial.params),
            trial.repetition,
            joined_label([state_word(trial.state), trial.reason], ": "),
            trial.missing if trial.value is None else MeasuredValue(trial.value, trial.unit),
            joined_label([limit.label for limit in trial.limits], ", "),
            joined_label(trial.flags, ", "),
        ]
        for trial in record.trials
    ]
    return _filled(columns, rows, [0, 3, 5])


def _confidence(record: RunRecord) -> list[DocumentTable]:
    if record.confidence is None:
        return []
    columns = [_("Kind"), _("Parameters"), _("n"), _("Mean"), "±", _("Width"), _("Result")]
    rows: list[Sequence[DocumentCell]] = [
        [
            kind_label(row.kind),
            params_text(row.kind, row.params),
            row.repetitions,
            None if row.mean is None else MeasuredValue(row.mean, row.unit),
            None if row.half_width is None else MeasuredValue(row.half_width, row.unit),
            None if row.width_percent is None else f"{row.width_percent:.2f} %",
            _("reached") if row.is_reached else _("NOT reached"),
        ]
        for row in record.confidence.rows
    ]
    return _filled(columns, rows, [2, 3, 4, 5])


def _facts(record: RunRecord) -> Iterator[DocumentTable]:
    """Return a table for each group of facts; what of them may name something is a free text."""
    is_one_host = record.sink == record.source
    ends = (record.source_facts, record.sink_facts)
    known = {text for end in ends for text in _texts(nameless_document(end))}
    hosts = [record.source_host] if is_one_host else [record.source_host, record.sink_host]
    for group in facts_side_by_side(record.source_facts, record.sink_facts):
        title = reason_label(group.title) if isinstance(group.title, Reason) else translated(group.title)
        rows = [
            [_told(line.label, known), *(_told(text, known) for text in (line.source, line.sink)[: len(hosts)])]
            for line in group.lines
        ]
        yield DocumentTable(title, [_("Fact"), *hosts], rows)


def _texts(facts: dict[str, object]) -> Iterator[str]:
    for group in facts_groups(facts):
        for line in group.lines:
            yield from line


def _told(text: str, known: set[str]) -> str:
    if isinstance(text, Reason):
        return reason_label(text)
    return translated(text) if text in known else free_text(text)


def _commands(record: RunRecord) -> list[DocumentTable]:
    rows = [[", ".join(map(str, command.trials)), command.command] for command in record.commands]
    return _filled([_("Trials"), _("Command")], rows)


def _events(record: RunRecord) -> list[DocumentTable]:
    return _filled([_("Time"), _("Events")], [[Moment(event.at), event.text] for event in record.events])


def _filled(
    columns: Sequence[str], rows: Sequence[Sequence[DocumentCell]], numeric: Sequence[int] = ()
) -> list[DocumentTable]:
    return [DocumentTable("", columns, rows, numeric)] if rows else []


def _badge(record: RunRecord) -> Badge | None:
    if not record.figures:
        return None
    figure = record.figures[0]
    label = f"{figure.kind_label}{pgettext('before a figure', ': ')}{figure.label.lower()}"
    return Badge(label, str(_measured(figure)), is_bad=record.state != State.FINISHED)
