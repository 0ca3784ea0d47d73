"""Read the trials of runs that started together, each with its course on the sink's clock."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchweb.catalog import catalog
from benchweb.common.rows import fetch
from benchweb.results.ingest import SINK_STARTED_AT
from benchweb.results.selectors import TrialRow, trial_row
from benchweb.statistics.simultaneous import Counted, Slice, Window

# A trial's document may take hundreds of kilobytes: of each interval only what is added up comes from the database.
_TRIALS = """
SELECT t.run_id, t.id, t.index, t.kind, t.params, t.repetition, t.state, t.reason, t.reason_data,
    t.started_at, t.finished_at, r.id AS has_result, r.metrics, r.flags, r.limits,
    r.document->>%(begun)s AS begun, r.document->'addresses'->>'family' AS family, (
        SELECT jsonb_agg(jsonb_build_array(part->'start_seconds', part->'end_seconds', part->'metrics'->headline.metric,
            part->'interfaces'->'sink') ORDER BY place)
        FROM jsonb_array_elements(CASE WHEN jsonb_typeof(r.document->'intervals') = 'array'
            THEN r.document->'intervals' END) WITH ORDINALITY AS interval(part, place)
        WHERE part->'warmup' IS DISTINCT FROM 'true' AND part->'drain' IS DISTINCT FROM 'true'
    ) AS intervals
FROM runs_trial t JOIN runs_run run ON run.id = t.run_id
LEFT JOIN unnest(%(kinds)s::text[], %(metrics)s::text[]) AS headline(kind, metric) ON headline.kind = t.kind
LEFT JOIN results_result r ON r.trial_id = t.id
WHERE run.campaign_id = %(campaign)s AND t.index > %(after)s AND t.index <= %(until)s
ORDER BY t.index, t.run_id
"""
_REVERSE = "reverse"


@dataclass(frozen=True)
class SourceTrial:
    """One source's trial; its course is empty where the sink's clock isn't known."""

    run: int
    trial: TrialRow
    course: list[Slice]
    # Of the test's addresses: ipv4 or ipv6, empty where it isn't told.
    family: str


def trials_together(campaign_id: int, *, after: int, count: int) -> dict[int, list[SourceTrial]]:
    """Return so many trials behind the one with the index `after`, of all runs, by their index; one query."""
    kinds = catalog().kinds
    values = {
        "campaign": campaign_id,
        "after": after,
        "until": after + count,
        "begun": SINK_STARTED_AT,
        "kinds": list(kinds),
        "metrics": [kind.headline for kind in kinds.values()],
    }
    rows: list[dict[str, Any]] = fetch(dict, _TRIALS, values)
    trials: dict[int, list[SourceTrial]] = {}
    for row in rows:
        trials.setdefault(row["index"], []).append(_source_trial(**row))
    return trials


def _source_trial(
    *, run_id: int, begun: str | None, family: str | None, intervals: list[Any] | None, **columns: Any
) -> SourceTrial:
    trial = trial_row(**columns)
    is_reverse = trial.params.get("direction") == _REVERSE
    return SourceTrial(run_id, trial, _course(begun, intervals or [], is_reverse=is_reverse), family or "")


def _course(begun: str | None, intervals: list[Any], *, is_reverse: bool) -> list[Slice]:
    begin = _moment(begun)
    if begin is None:
        return []
    return [
        Slice(Window(begin + start, begin + end), rate, _counted(sink, is_reverse=is_reverse))
        for start, end, rate, sink in intervals
    ]


def _counted(sink: dict[str, Any] | None, *, is_reverse: bool) -> tuple[str, Counted] | None:
    """Return what the sink's interface counted in the direction of the test's data."""
    if not sink:
        return None
    way = "tx" if is_reverse else "rx"
    return str(sink.get("name", "")), Counted(sink.get(f"{way}_bytes") or 0, sink.get(f"{way}_packets") or 0)


def _moment(text: str | None) -> float | None:
    try:
        return datetime.fromisoformat(text or "").timestamp()
    except ValueError:
        return None
