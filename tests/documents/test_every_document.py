"""A page, its share, its files and its Markdown are written from one document, and hide names by its references."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from benchweb.annotations.models import Annotation
from benchweb.catalog.document import CATALOG_FILE
from benchweb.catalog.reasons import Reason, reason_fields
from benchweb.documents.csv_file import document_csv
from benchweb.documents.document import Document
from benchweb.documents.hidden import hidden
from benchweb.documents.json_file import document_json, document_of, stored_document
from benchweb.documents.markdown import document_markdown
from benchweb.hosts.models import Host, Pair
from benchweb.hosts.services import pair_create
from benchweb.regressions.models import AlertSeries
from benchweb.reports.models import Report
from benchweb.reports.services import ReportValues, report_create
from benchweb.results.ingest import ingest, parsed_result
from benchweb.results.models import Series
from benchweb.results.run_summaries import rebuild
from benchweb.runs.events import event_add
from benchweb.runs.models import Run, State, Trial
from benchweb.schedules.models import Slot
from benchweb.web.view_shares.building import built
from tests.charts.history_rows import past_run
from tests.factories import make_alert, make_endpoint, make_pair, make_plan, make_run, make_schedule
from tests.sharing.test_shared_views import link

pytestmark = pytest.mark.django_db
NIGHTS = 8
# In every text that somebody may write: none is a word of any page.
SECRETS = [
    "quartz", "basalt", "granite", "feldspar", "gneiss", "marble", "schist", "slate", "basanite", "obsidian", "pumice",
    "10.77.1.2", "10.77.1.3",
]  # fmt: skip
RUNS = ["run", "failed run", "run of many kinds", "run of one host"]
FEATURES = ["history", "split", "sizes", "matrix", "modes", "compare", "sets", "alert", "morning", "pair", "schedule",
            "report", *RUNS]  # fmt: skip


@pytest.fixture(scope="module")
def measured_pair(rows_of_a_module: None) -> Pair:
    """Make a measured pair of two hosts, with names in all that can be named."""
    source = make_endpoint(host_name="quartz", name="feldspar", control_address="10.77.1.2:7410")
    sink = make_endpoint(host_name="basalt", network_mode="gneiss", control_address="10.77.1.3:7410")
    Host.objects.filter(pk=source.host_id).update(uplink="pumice")
    pair = make_pair(source=source, sink=sink, environment="granite")
    plan = make_plan(
        name="marble",
        steps=[{"kind": "tcp_stream", "params": {"duration_seconds": 1, "congestion_control": "slate"}}],
        repetitions=3,
    )
    now = timezone.now()
    for ago in range(NIGHTS, 0, -1):
        at = now - timedelta(days=ago)
        if ago == 4:
            past_run(plan, pair, at, state=State.FAILED, reason="the engine of quartz at 10.77.1.2 is away")
        past_run(plan, pair, at, *[{"throughput_bps": 1e10 + ago * 1e6 + n} for n in range(3)])
    Annotation.objects.create(text="moved to obsidian", at=now - timedelta(days=3), pair=pair)
    rebuild()
    return pair


@pytest.fixture(scope="module")
def paths(measured_pair: Pair) -> dict[str, str]:
    """Make the rest, and return the address of each page."""
    pair = measured_pair
    first, last = Run.objects.order_by("pk")[0], Run.objects.latest("pk")
    alert = make_alert(pair=pair)
    AlertSeries.objects.create(
        alert=alert, series=Series.objects.get(), segment_key="one", before=1e10, after=8e9, first_bad_run=last
    )
    schedule = make_schedule(plan=last.plan_version.plan, target={"pairs": [pair.pk]}, name="schist")
    Slot.objects.create(
        schedule=schedule, at=timezone.now(), state="missed", reason="no time on quartz", claimed_at=timezone.now()
    )
    side = quote(f"pair={pair.pk}")
    return {
        "history": f"/history?pair={pair.pk}&over=30d",
        "split": f"/history?environment={pair.environment_id}&over=30d&split=host",
        "sizes": f"/history?pair={pair.pk}&over=30d&view=sizes&overlay=environment",
        "matrix": f"/matrix?environment={pair.environment_id}&with=yesterday",
        "modes": f"/matrix?environment={pair.environment_id}&by=mode",
        "compare": f"/compare?runs={first.pk},{last.pk}",
        "sets": f"/compare?side={side}%26to%3D-4d%26label%3Dbasanite&side={side}%26from%3D-4d",
        "alert": f"/alerts/{alert.pk}",
        "pair": f"/pairs/{pair.pk}",
        "morning": f"/morning?night={alert.night}&environment={pair.environment_id}",
        "schedule": f"/schedules/{schedule.pk}",
        "report": f"/reports/{_report(first, last).pk}",
        "run": f"/runs/{last.pk}",
        "failed run": f"/runs/{_failed_run(pair).pk}",
        "run of many kinds": f"/runs/{_run_of_many_kinds(pair).pk}",
        "run of one host": f"/runs/{_run_of_one_host(pair).pk}",
    }


def _failed_run(pair: Pair) -> Run:
    """Return a run of which nothing was measured, and every reason names its host in its own way."""
    run = make_run(pair=pair, name="marble", repetitions=2)
    gone = Reason("host_unreachable", host="quartz", since="12:00 UTC")
    for index, reason in enumerate([gone, "basalt at 10.77.1.3 refused"], start=1):
        run.trials.filter(index=index).update(state=State.FAILED, **reason_fields("reason", reason))
    event_add(run_id=run.pk, text=Reason("host_unreachable", host="quartz", since="12:00 UTC"))
    event_add(run_id=run.pk, text="moved to obsidian")
    Run.objects.filter(pk=run.pk).update(state=State.FAILED, **reason_fields("reason", gone))
    return run


def _run_of_many_kinds(pair: Pair) -> Run:
    """Return a run of sweeps and repetitions with a confidence, in whose results and facts names stand too."""
    load = {"kind": "tcp_stream", "params": {"congestion_control": "slate"}}
    steps = [
        {"kind": "tcp_stream", "params": {"congestion_control": ["slate", "schist"], "message_size_bytes": [64, 1024]}},
        {"kind": "http_load", "params": {"url": "http://obsidian/"}},
        {"kind": "ping", "params": {"load": load}},
    ]
    confidence = {"level_percent": 95, "width_percent": 1, "max_repetitions": 4}
    run = make_run(pair=pair, name="marble too", steps=steps, repetitions=3, confidence=confidence)
    for trial in run.trials.all():
        _take_in(trial)
    return run


def _run_of_one_host(pair: Pair) -> Run:
    alone = pair_create(source=pair.source, sink=None, environment=pair.environment)
    run = make_run(pair=alone, name="gneiss", steps=[{"kind": "disk_io", "params": {"directory": "/srv/obsidian"}}])
    _take_in(run.trials.get())
    return run


def _take_in(trial: Trial) -> None:
    """Give a trial its kind's example of a result, with names where an engine or a tool may have told some."""
    document = json.loads(CATALOG_FILE.with_name("examples").joinpath(f"{trial.kind}.json").read_text())
    facts: dict[str, Any] = {"hostname": "quartz", "operating_system": "obsidian 12", "missing": ["no /etc/quartz"]}
    facts["interfaces"] = [{"name": "eth-quartz", "addresses": ["10.77.1.2"], "driver": "basanite"}]
    document |= {"source": facts, "sink": facts, "flags": ["pumice"]}
    document["limits"] = [{"direction": "forward", "by": "basalt", "summary": "quartz is slow"}]
    assert ingest(trial=trial, result=parsed_result(trial.kind, document), state=State.FINISHED)


def _report(*runs: Run) -> Report:
    words = {"environment": "in the room of obsidian", "conclusion": "quartz is slow"}
    values = ReportValues(title="On basanite", template="sizes", runs=[run.pk for run in runs], **words)
    return report_create(values, user=None)


@pytest.fixture
def member() -> Client:
    client = Client()
    client.force_login(User.objects.create_user("ada"))
    return client


def written(document: Document) -> Iterator[str]:
    """Return what each writer but the page makes of a document."""
    yield "".join(document_csv(document))
    yield document_json(document).decode()
    yield "".join(document_markdown(document, "https://bench.example/view"))
    yield document_json(document_of(stored_document(document))).decode()


def told(text: str) -> list[str]:
    return [secret for secret in SECRETS if secret in text.lower()]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("feature", FEATURES)
def test_no_writer_tells_a_name_of_a_hidden_document(paths: dict[str, str], feature: str, language: str) -> None:
    document = built(paths[feature], "UTC", language)
    assert all(map(told, written(document)))
    assert [told(text) for text in written(hidden(document))] == [[]] * 4


@pytest.mark.parametrize("feature", FEATURES)
def test_a_frozen_share_has_the_page_and_all_files_with_and_without_names(
    member: Client, paths: dict[str, str], feature: str
) -> None:
    named, nameless = (link(member, paths[feature], **anonymise) for anonymise in ({}, {"anonymise": "on"}))
    stranger = Client()
    for ending in ("", "/results.csv", "/results.json", "/results.md", "/embed", "/badge.svg"):
        answer = stranger.get(named + ending)
        hides = stranger.get(nameless + ending)
        assert answer.status_code == hides.status_code
        text, hidden_text = (body(each) for each in (answer, hides))
        assert told(hidden_text) == [], ending
        assert told(text) or not ending.startswith("/results")
        # Into the dashboard leads no way.
        assert '"href":"/' not in text.replace(" ", "")


def body(answer: Any) -> str:
    return bytes(answer.getvalue()).decode()


@pytest.mark.parametrize("feature", FEATURES)
def test_who_is_logged_in_downloads_the_same_document(member: Client, paths: dict[str, str], feature: str) -> None:
    document = built(paths[feature], "", "en")
    answers = [member.get(f"/share/results.{ending}", {"path": paths[feature]}) for ending in ("csv", "md")]
    texts = [
        "".join(document_csv(document)),
        "".join(document_markdown(document, f"http://testserver{paths[feature]}")),
    ]
    assert [body(answer) for answer in answers] == texts
    assert member.get("/share/results.csv", {"path": "/runs"}).status_code == 404


@pytest.mark.parametrize("feature", RUNS)
def test_a_link_from_a_runs_own_dialog_tells_no_name_where_names_are_hidden(
    member: Client, paths: dict[str, str], feature: str
) -> None:
    named, nameless = (_run_link(member, paths[feature], **anonymise) for anonymise in ({}, {"anonymise": "on"}))
    for language in ("en", "zh-hans"):
        stranger = Client(headers={"accept-language": language})
        for ending in ("", "/results.csv", "/results.json", "/results.md", "/embed", "/badge.svg"):
            text, hidden_text = (body(stranger.get(link + ending)) for link in (named, nameless))
            assert told(hidden_text) == [], ending
            assert told(text) or not ending.startswith("/results")


def _run_link(member: Client, path: str, **fields: str) -> str:
    answer = member.post(f"{path}/shares", {"lasts": "30"} | fields)
    found = re.search(r'value="http://testserver(/s/[^"]+)"', answer.content.decode())
    assert found
    return found[1]


def test_a_share_that_was_stored_before_documents_opens_as_it_was() -> None:
    stored = {
        "title": "a → b · lab",
        "lines": ["first", ""],
        "made_at": "2026-11-20T02:00:00Z",
        "charts": [],
        "tables": [
            {"title": "Latest results", "columns": ["Test", "Latest"], "rows": [["TCP", "9.4"]], "numeric": [1]}
        ],
        "sections": [],
        "is_synthetic": True,
        "badge_label": "a → b",
        "badge_value": "9.4 Gbit/s",
        "is_bad": True,
    }
    document = document_of(stored)
    [section] = document.sections
    assert (document.title, document.is_synthetic, section.title) == ("a → b · lab", True, "Latest results")
    assert (section.tables[0].rows, section.tables[0].numeric) == ([["TCP", "9.4"]], [1])
    assert document.badge and (document.badge.value, document.badge.is_bad) == ("9.4 Gbit/s", True)
    assert "".join(document_csv(document)) == "Test,Latest\r\nTCP,9.4\r\n"
