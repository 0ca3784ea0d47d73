"""What is done with several runs at once, the size filter, figures in lists, and the columns that a reader chooses."""

import csv
import io
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from benchweb.accounts.models import ListColumns
from benchweb.charts.main_figures import figures_of_runs
from benchweb.hosts.models import Pair
from benchweb.plans.models import Plan
from benchweb.regressions.alert_texts import alert_title
from benchweb.regressions.models import Alert
from benchweb.regressions.transitions import expect
from benchweb.results.models import Point
from benchweb.results.run_summaries import rebuild
from benchweb.runs.models import Run, State
from tests.charts.history_rows import past_run
from tests.factories import make_endpoint, make_pair, make_plan, make_run
from tests.regressions.judged import judged, night
from tests.responses import Response

pytestmark = pytest.mark.django_db


def of_size(size_bytes: int) -> list[dict[str, object]]:
    return [{"kind": "tcp_stream", "params": {"message_size_bytes": size_bytes, "duration_seconds": 1}}]


def measured(rate: float, *, plan: Plan | None = None, pair: Pair | None = None, days_ago: float = 0) -> Run:
    at = timezone.now() - timedelta(days=days_ago)
    run = past_run(plan or make_plan(steps=of_size(4096)), pair or make_pair(), at, {"throughput_bps": rate})
    rebuild()
    return run


def test_a_run_under_way_has_no_figure_yet_and_one_that_failed_has_none(signed_in: Client) -> None:
    make_run()
    page = signed_in.get("/runs").content.decode()
    assert 'title="not measured yet"' in page
    Run.objects.update(state=State.FAILED)
    page = signed_in.get("/runs").content.decode()
    assert 'title="no result"' in page
    assert 'title="not measured yet"' not in page


def shown(answer: Response) -> list[int]:
    return [row.run.pk for row in answer.context["rows"]]


def test_three_weeks_ago_on_a_host_at_4_kib_is_one_row_of_filters(signed_in: Client) -> None:
    pair = make_pair(source=make_endpoint(host_name="needle"))
    plans = [make_plan(steps=of_size(size)) for size in (4096, 65536)]
    wanted = measured(4e9, plan=plans[0], pair=pair, days_ago=21)
    measured(5e9, plan=plans[1], pair=pair, days_ago=21)
    measured(6e9, plan=plans[0], pair=pair)
    measured(7e9, plan=plans[0], days_ago=21)
    day = f"{timezone.now() - timedelta(days=21):%Y-%m-%d}"
    for size in ("4 KiB", "4096", "4ki", "4.0 kib"):
        query = {"host": pair.source.host_id, "size": size, "from": day, "to": day}
        answer = signed_in.get("/runs", query)
        assert shown(answer) == [wanted.pk], size
        assert answer.context["rows"][0].figure.median == 4e9


def test_a_size_that_a_plan_leaves_to_the_default_is_found_and_nonsense_finds_nothing(signed_in: Client) -> None:
    run = make_run(steps=[{"kind": "tcp_stream", "params": {"duration_seconds": 1}}])
    other = make_run(steps=of_size(64))
    assert shown(signed_in.get("/runs", {"size": "16 KiB"})) == [run.pk]
    assert shown(signed_in.get("/runs", {"size": "64 B"})) == [other.pk]
    for nonsense in ("big", "4 parsecs", "1e3", "-4"):
        assert shown(signed_in.get("/runs", {"size": nonsense})) == [], nonsense


def test_a_run_of_several_sizes_shows_the_figure_of_the_size_that_is_looked_for(signed_in: Client) -> None:
    steps = [{"kind": "tcp_stream", "params": {"message_size_bytes": [4096, 65536], "duration_seconds": 1}}]
    run = make_run(steps=steps)
    at = timezone.now()
    for size, rate in ((4096, 4e9), (65536, 9e9)):
        part = past_run(make_plan(steps=of_size(size)), run.pair, at, {"throughput_bps": rate})
        Point.objects.filter(run=part).update(run=run)
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED, started_at=at, finished_at=at)
    rebuild()
    figure = {row.run.pk: row.figure for row in signed_in.get("/runs").context["rows"]}[run.pk]
    assert figure.median == 9e9
    figure = {row.run.pk: row.figure for row in signed_in.get("/runs?size=4ki").context["rows"]}[run.pk]
    assert (figure.median, figure.setting) == (4e9, "4 KiB")


def test_each_row_has_its_main_figure_its_change_and_the_runs_before(signed_in: Client) -> None:
    plan, pair = make_plan(steps=of_size(4096)), make_pair()
    for days_ago in range(7, 1, -1):
        measured(1e10, plan=plan, pair=pair, days_ago=days_ago)
    worse = measured(8e9, plan=plan, pair=pair)
    row = signed_in.get("/runs").context["rows"][0]
    assert (row.run.pk, row.figure.median, row.figure.before) == (worse.pk, 8e9, [1e10] * 6)
    assert row.figure.change.is_significant
    for path in ("/runs", "/pairs", "/plans", "/hosts", "/campaigns"):
        page = signed_in.get(path).content.decode()
        assert "8.00" in page, path
        assert "▼ −20.0 %" in page, path
        assert '<svg class="sparkline"' in page, path


def test_lists_and_pages_tell_of_a_fall_with_an_alert_that_the_runs_before_have_too(
    signed_in: Client,
) -> None:
    pair = make_pair()
    runs = judged(pair, [1.0] * 20 + [0.7] * 28, first=-60)
    rebuild()
    alert = Alert.objects.get()
    figures = {row.run.pk: row.figure for row in signed_in.get("/runs").context["rows"]}
    last = figures[runs[-1].pk]
    assert not last.change.is_significant
    assert last.worsening.since == night(-40)
    told = f'href="/alerts/{alert.pk}" title="As its alert tells it: the level before and since">▼ −30.'
    pages = (f"/pairs/{pair.pk}?series=all", f"/hosts/{pair.source.host_id}?series=all")
    for path in ("/runs", "/pairs", "/plans?sort=-created_at", "/hosts", "/campaigns", *pages):
        assert told in signed_in.get(path).content.decode(), path
    before, since = (figures_of_runs([runs[place].pk])[runs[place].pk] for place in (19, 20))
    assert before.lasting is None
    # The first bad night stands out by itself, and its figure is the alert's all the same.
    assert since.change is not None and since.change.is_significant
    assert since.lasting is not None and since.lasting.text in alert_title(alert)
    expect(alert_id=alert.pk, by=None)
    assert told not in signed_in.get("/pairs").content.decode()


def test_ticked_runs_are_compared_reported_and_exported(signed_in: Client) -> None:
    runs = [measured(1e9), measured(2e9)]
    ids = [str(run.pk) for run in runs]
    answer = signed_in.post("/runs/bulk", {"runs": ids, "action": "compare"})
    assert answer["Location"] == f"/compare?runs={','.join(ids)}"
    assert signed_in.get(answer["Location"]).status_code == 200
    answer = signed_in.post("/runs/bulk", {"runs": ids, "action": "report"})
    assert answer["Location"] == f"/reports/new?runs={','.join(ids)}"
    assert signed_in.get(answer["Location"]).status_code == 200
    exported = signed_in.post("/runs/bulk", {"runs": ids, "action": "export"})
    rows = list(csv.DictReader(io.StringIO(exported.getvalue().decode())))
    assert [(row["run"], row["metric"], float(row["median"]), row["n"]) for row in rows] == [
        (ids[0], "throughput_bps", 1e9, "1"),
        (ids[1], "throughput_bps", 2e9, "1"),
    ]


def test_a_label_is_added_once_and_finds_its_runs(signed_in: Client) -> None:
    run, other = make_run(), make_run()
    for _ in range(2):
        signed_in.post("/runs/bulk", {"runs": [run.pk], "action": "label", "label": "before upgrade"})
    run.refresh_from_db()
    assert run.labels == ["before upgrade"]
    assert shown(signed_in.get("/runs?label=before+upgrade")) == [run.pk]
    answer = signed_in.post("/runs/bulk", {"runs": [other.pk], "action": "label", "label": " "}, follow=True)
    assert "A label has 1 to 60 characters." in answer.content.decode()
    other.refresh_from_db()
    assert other.labels == []


def test_cancelling_several_asks_first_and_names_them(signed_in: Client) -> None:
    runs = [make_run(), make_run()]
    done = measured(1e9)
    sent = {"runs": [*(run.pk for run in runs), done.pk], "action": "cancel", "back": "/runs?state=pending"}
    question = signed_in.post("/runs/bulk", sent).content.decode()
    assert "Cancel 2 runs?" in question
    assert set(Run.objects.values_list("state", flat=True)) == {State.PENDING, State.FINISHED}
    answer = signed_in.post("/runs/bulk", sent | {"confirmed": "1"})
    assert answer["Location"] == "/runs?state=pending"
    assert {run.state for run in Run.objects.exclude(pk=done.pk)} == {State.CANCELLED}


def test_nothing_ticked_says_so_and_leads_nowhere_else(signed_in: Client) -> None:
    answer = signed_in.post("/runs/bulk", {"action": "cancel", "back": "//evil.example/"}, follow=True)
    assert answer.redirect_chain == [("/runs", 302)]
    assert "No run is selected" in answer.content.decode()


def test_several_plans_are_archived_together_once_it_is_confirmed(signed_in: Client) -> None:
    plans = [make_plan(name="one"), make_plan(name="two"), make_plan(name="three")]
    sent = {"rows": [plans[0].pk, plans[1].pk]}
    assert "Archive 2 plans?" in signed_in.post("/plans/archive", sent).content.decode()
    assert Plan.objects.filter(archived_at=None).count() == 3
    page = signed_in.post("/plans/archive", sent | {"confirmed": "1"}, follow=True).content.decode()
    assert "Archived: 2 plans. You can restore them from the archive." in page
    assert list(Plan.objects.filter(archived_at=None)) == [plans[2]]


def test_several_pairs_and_hosts_are_archived_together(signed_in: Client) -> None:
    pair = make_pair()
    page = signed_in.post("/pairs/archive", {"rows": [pair.pk], "confirmed": "1"}, follow=True).content.decode()
    assert "Archived: 1 pair. You can restore it from the archive." in page
    pair.refresh_from_db()
    assert pair.archived_at is not None
    signed_in.post("/hosts/archive", {"rows": [pair.source.host_id], "confirmed": "1"})
    pair.source.host.refresh_from_db()
    assert pair.source.host.archived_at is not None


def test_chosen_columns_are_kept_for_their_reader_alone(signed_in: Client, ada: User) -> None:
    make_run()
    assert "Environment</a></th>" in signed_in.get("/runs").content.decode()
    known = ["plan", "pair", "figure", "change", "line", "environment", "trials", "launched", "took"]
    shown_ones = [key for key in known if key != "environment"]
    answer = signed_in.post("/columns/runs", {"known": known, "shown": shown_ones, "back": "/runs?state=pending"})
    assert answer["Location"] == "/runs?state=pending"
    page = signed_in.get("/runs").content.decode()
    assert "Environment</a></th>" not in page
    assert 'data-label="Environment"' not in page
    assert 'data-label="Plan"' in page
    assert ListColumns.objects.get().user == ada
    assert 'data-label="Environment"' in signed_in.get("/pairs").content.decode()
    other = Client()
    other.force_login(User.objects.create_user("bob"))
    assert 'data-label="Environment"' in other.get("/runs").content.decode()
