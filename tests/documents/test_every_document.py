"""A page, its share, its files and its Markdown are written from one document, and hide names by its references."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from benchweb.annotations.models import Annotation
from benchweb.documents.csv_file import document_csv
from benchweb.documents.document import Document
from benchweb.documents.hidden import hidden
from benchweb.documents.json_file import document_json, document_of, stored_document
from benchweb.documents.markdown import document_markdown
from benchweb.hosts.models import Host, Pair
from benchweb.regressions.models import AlertSeries
from benchweb.reports.models import Report
from benchweb.reports.services import ReportValues, report_create
from benchweb.results.models import Series
from benchweb.results.run_summaries import rebuild
from benchweb.runs.models import Run, State
from benchweb.schedules.models import Slot
from benchweb.web.view_shares.building import built
from tests.charts.history_rows import past_run
from tests.factories import make_alert, make_endpoint, make_pair, make_plan, make_schedule
from tests.sharing.test_shared_views import link

pytestmark = pytest.mark.django_db
NIGHTS = 8
# In every text that somebody may write: none is a word of any page.
SECRETS = [
    "quartz", "basalt", "granite", "feldspar", "gneiss", "marble", "schist", "slate", "basanite", "obsidian", "pumice",
    "10.77.1.2", "10.77.1.3",
]  # fmt: skip
FEATURES = ["history", "split", "sizes", "matrix", "modes", "compare", "sets", "alert", "morning", "pair", "schedule",
            "report"]  # fmt: skip


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
    }


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
