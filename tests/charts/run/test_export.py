"""A run as CSV and JSON."""

import csv
import io
import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchweb.charts.export import PAIR_IDS, pair_ids
from benchweb.charts.run.export import run_csv, run_json
from benchweb.results.ingest import ingest, parsed_result
from benchweb.results.models import Result
from benchweb.runs.models import Run, State, Trial
from benchweb.runs.selectors import run_detail
from tests.factories import SIZES, make_run

pytestmark = pytest.mark.django_db

THROUGHPUT = 16312345678.901234


def take_in(trial: Trial, **changes: Any) -> None:
    document = {
        "kind": trial.kind,
        "metrics": {"throughput_bps": THROUGHPUT, "retransmits": 0},
        "flags": ["same_host"],
        "intervals": [{"start_seconds": 0.0, "end_seconds": 1.0, "metrics": {}}],
        "histogram": {"data": "AQID"},
        "source": {"kernel": "6.1"},
        "sink": {"kernel": "6.1"},
    }
    assert ingest(trial=trial, result=parsed_result(trial.kind, document | changes), state=State.FINISHED)


def rows(run: Run) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(run_csv(run)))))


def test_csv_has_a_row_per_trial_with_every_parameter_and_metric_in_full_precision() -> None:
    run = make_run(steps=SIZES, repetitions=2)
    trial = run.trials.get(index=1)
    take_in(trial)
    found = rows(run)
    assert list(found[0]) == [
        "run", "trial", "index", "kind",
        "message_size_bytes", "request_size_bytes", "response_size_bytes", "duration_seconds",
        "repetition", "state", "reason", "started_at", "finished_at", "throughput_bps", "retransmits", "flags",
        "limited_by", *PAIR_IDS,
    ]  # fmt: skip
    assert [found[0][name] for name in PAIR_IDS] == list(map(str, pair_ids(run.pair).values()))
    assert [row["index"] for row in found] == ["1", "2", "3", "4", "5", "6", "7", "8"]
    assert (found[0]["run"], found[0]["trial"], found[0]["kind"]) == (str(run.pk), str(trial.pk), "tcp_stream")
    assert float(found[0]["throughput_bps"]) == THROUGHPUT
    assert (found[0]["retransmits"], found[0]["state"], found[0]["flags"]) == ("0.0", "finished", "same_host")
    assert (found[3]["message_size_bytes"], found[3]["request_size_bytes"]) == ("", "1")
    assert (found[1]["throughput_bps"], found[1]["started_at"], found[1]["state"]) == ("", "", "pending")


@pytest.mark.parametrize(
    "text", ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "＝1", "＋1", "－1", "＠SUM(1)"]
)
def test_a_text_that_a_spreadsheet_would_run_stays_text(text: str) -> None:
    run = make_run()
    run.trials.update(state=State.FAILED, reason=text)
    assert rows(run)[0]["reason"] == f"'{text}"


def test_a_negative_number_is_no_formula() -> None:
    run = make_run()
    take_in(run.trials.get(), metrics={"throughput_bps": -1.5})
    assert rows(run)[0]["throughput_bps"] == "-1.5"


def test_json_holds_whole_documents_and_each_facts_once() -> None:
    run = make_run(steps=SIZES)
    for trial in run.trials.filter(index__lte=2):
        take_in(trial)
    document = json.loads("".join(run_json(run)))
    first, second, third, _ = document["trials"]
    assert (document["schema"], document["run"], document["state"]) == (1, run.pk, "pending")
    pair = document["pair"]
    assert (pair["source"]["host"], pair["sink"]["host"]) == (run.pair.source.host_id, run.pair.sink.host_id)
    assert document["plan"]["steps"] == SIZES
    assert first["metrics"] == {"throughput_bps": THROUGHPUT, "retransmits": 0}
    assert first["result"]["intervals"] == [{"start_seconds": 0.0, "end_seconds": 1.0, "metrics": {}}]
    assert first["histogram"] == "AQID"
    assert len(document["facts"]) == 2
    assert document["facts"][str(first["source_facts"])] == {"kernel": "6.1"}
    assert (first["source_facts"], first["sink_facts"]) == (second["source_facts"], second["sink_facts"])
    assert (third["result"], third["state"]) == (None, "pending")


def test_exports_cost_a_query_for_each_part_of_trials() -> None:
    small, large = make_run(), make_run(steps=SIZES, repetitions=10)
    take_in(large.trials.get(index=1))
    counts = []
    for run_id in (small.pk, large.pk):
        run = run_detail(run_id)
        assert run is not None
        with CaptureQueriesContext(connection) as as_csv:
            list(run_csv(run))
        with CaptureQueriesContext(connection) as as_json:
            list(run_json(run))
        counts.append((len(as_csv), len(as_json)))
    # The CSV goes through the trials twice; of eight trials that have results, these are read at once; facts once.
    assert counts == [(2, 1), (2, 3)]
    assert Result.objects.count() == 1
