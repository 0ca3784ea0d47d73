"""Thresholds on their pages: added from a series, listed with their alerts, changed, archived and restored."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from benchweb.regressions.models import Alert, Threshold
from benchweb.results.models import RunFigure
from benchweb.web.tags.show import params_text
from tests.factories import make_pair, make_threshold
from tests.regressions.judged import judged

FORM: dict[str, Any] = {
    "name": "floor",
    "figure": "tcp_stream:throughput_bps",
    "relation": "below",
    "limit": "800 Mbit/s",
    "severity": "critical",
}


def test_one_is_added_judges_and_is_listed_with_its_alert(signed_in: Client) -> None:
    pair = make_pair()
    answer = signed_in.post("/thresholds/new", FORM | {"pair": pair.pk})
    assert answer["Location"] == "/thresholds"
    threshold = Threshold.objects.get()
    assert (threshold.limit, threshold.pair, threshold.severity) == (8e8, pair, "critical")
    assert threshold.created_by is not None
    judged(pair, [0.5])
    alert = Alert.objects.get()
    page = signed_in.get("/thresholds").content.decode()
    assert "below 800 Mbit/s" in page
    assert ">critical</td>" in page
    assert str(pair) in page
    assert f'<a href="/alerts/{alert.pk}">open</a>' in page
    assert f'href="/thresholds/{threshold.pk}/edit"' in signed_in.get(f"/alerts/{alert.pk}").content.decode()


def test_its_alert_shows_the_limit_as_a_limit_and_no_level_before(signed_in: Client) -> None:
    pair = make_pair()
    make_threshold(pair=pair)
    judged(pair, [0.5, 0.5])
    alert = Alert.objects.get()
    page = signed_in.get(f"/alerts/{alert.pk}").content.decode()
    assert all(f">{head}</th>" in page for head in ("Limit", "Measured", "Beyond the limit"))
    # None of its runs kept the limit.
    assert "last good" not in page
    (chart,) = signed_in.get(f"/alerts/{alert.pk}/charts.json").json()["charts"]
    assert (chart["levels"], [(line["label"], line["y"]) for line in chart["lines"]]) == ([], [("limit", 8e8)])
    assert chart["y"]["from_zero"]
    assert "The thin line is the limit." in chart["subtitle"]
    assert "its limit is broken" in page and "one run stands out" not in page
    assert "does not begin at zero" not in chart["subtitle"]
    assert [ring["label"] for ring in chart["rings"]] == ["first run beyond the limit"]
    judged(pair, [1.0], first=2)
    assert "within the limit since" in signed_in.get(f"/alerts/{alert.pk}").content.decode()


def test_the_form_begins_with_the_series_that_it_is_opened_from(signed_in: Client) -> None:
    pair = make_pair()
    (run,) = judged(pair, [1.0])
    series = run.figures.get().series_id
    page = signed_in.get(f"/thresholds/new?series={series}").content.decode()
    assert '<option value="tcp_stream:throughput_bps" selected>' in page
    assert f'<option value="{pair.pk}" selected>' in page
    page = signed_in.get(
        "/thresholds/new?kind=tcp_rr&metric=latency_p99_seconds&series=x&pair=x&plan=9"
    ).content.decode()
    assert '<option value="tcp_rr:latency_p99_seconds" selected>' in page
    assert '<option value="above" selected>' in page


def test_one_from_a_series_is_of_its_test_alone_unless_all_are_chosen(signed_in: Client) -> None:
    pair = make_pair()
    (run,) = judged(pair, [1.0])
    series = run.figures.get().series
    page = signed_in.get(f"/thresholds/new?series={series.pk}").content.decode()
    assert f'<option value="{series.identity_digest}" selected>' in page
    assert "all of this kind" in page
    of_series = FORM | {"pair": pair.pk, "series": series.pk, "test": series.identity_digest}
    assert signed_in.post("/thresholds/new", of_series | {"figure": "udp_stream:throughput_bps"}).status_code == 200
    signed_in.post("/thresholds/new", of_series)
    assert Threshold.objects.get().identity_digest == series.identity_digest
    # Another test of the kind keeps what limit it likes.
    other = Threshold.objects.filter(identity_digest=series.identity_digest)
    other.update(identity_digest="0" * 64)
    judged(pair, [0.5])
    assert not Alert.objects.exists()
    other = Threshold.objects.all()
    other.update(identity_digest=series.identity_digest)
    test = str(params_text(series.kind, series.identity))
    assert f"{pair} · {test}" in signed_in.get("/thresholds").content.decode()
    signed_in.post("/thresholds/new", of_series | {"test": "", "name": "all"})
    assert Threshold.objects.get(name="all").identity_digest == ""


def test_the_form_says_what_it_would_have_done_before_it_is_saved(signed_in: Client) -> None:
    pair = make_pair()
    runs = judged(pair, [1.0, 0.5, 0.5, 1.0, 0.5, 1.0])
    last = timezone.now() - timedelta(days=1)
    for number, run in enumerate(runs):
        RunFigure.objects.filter(run=run).update(at=last - timedelta(days=len(runs) - number))

    def preview(**change: Any) -> str:
        answer = signed_in.post("/thresholds/preview", FORM | {"name": ""} | change)
        return " ".join(answer.content.decode().split())

    text = preview()
    assert "In the last 30 days it would have opened 2 alerts." in text
    assert "3 of 6 runs broke the limit of 1 series." in text
    assert "500" in text and "1.00" in text
    assert "opened 1 alert." in preview(runs_in_row=2)
    assert "opened 0 alerts." in preview(limit="100 Mbit/s")
    assert "No run of the last 30 days measured this" in preview(pair=make_pair().pk)
    assert "With a limit, what it would have done" in preview(limit="")
    assert "With a limit, what it would have done" in preview(limit="8")
    assert "depends on the run that is pinned" in preview(relation="baseline", limit="5 %")
    assert not Threshold.objects.exists()


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"limit": "8"}, "8 has no unit: write 8 bit/s, or a prefix such as 8 kbit/s."),
        ({"limit": "fast"}, "A limit is a number with a prefix and bit/s"),
        ({"limit": "5"} | {"relation": "baseline"}, "This limit is a share: write it with %"),
        ({"relation": "baseline", "limit": "5000 %"}, "at most 1,000 %"),
        ({"figure": "tcp_stream:none"}, "Select a valid choice"),
        ({"name": ""}, "Name is required."),
        ({"pair": "999999"}, "Select a valid choice"),
        ({"plan": "x"}, "Select a valid choice"),
    ],
)
def test_what_can_be_no_threshold_is_refused_at_its_field(
    signed_in: Client, change: dict[str, str], fault: str
) -> None:
    make_pair()
    page = signed_in.post("/thresholds/new", FORM | change).content.decode()
    assert fault in page
    assert 'class="field-error"' in page
    assert Threshold.objects.count() == 0


def test_an_archived_pair_is_no_choice(signed_in: Client) -> None:
    pair = make_pair()
    type(pair).objects.filter(pk=pair.pk).update(archived_at="2026-12-01T00:00Z")
    assert "Select a valid choice" in signed_in.post("/thresholds/new", FORM | {"pair": pair.pk}).content.decode()


def test_name_limit_and_severity_change_and_what_was_typed_stays(signed_in: Client) -> None:
    threshold = make_threshold(limit=812_345_678.0)
    path = f"/thresholds/{threshold.pk}/edit"
    assert 'value="812345678 bit/s"' in signed_in.get(path).content.decode()
    page = signed_in.post(path, {"name": "floor", "limit": "7 fast", "severity": "info"}).content.decode()
    assert 'value="7 fast"' in page
    assert signed_in.post(path, {"name": "lower", "limit": "0.7 G", "severity": "info"})["Location"] == "/thresholds"
    threshold.refresh_from_db()
    assert (threshold.name, threshold.limit, threshold.severity) == ("lower", 7e8, "info")


def test_archiving_asks_says_what_becomes_of_alerts_and_can_be_undone(signed_in: Client) -> None:
    pair = make_pair()
    threshold = make_threshold()
    judged(pair, [0.5])
    path = f"/thresholds/{threshold.pk}"
    question = signed_in.get(f"{path}/archive").content.decode()
    assert "Its live alerts are marked as fixed." in question
    assert Alert.objects.get().state == "open"
    signed_in.post(f"{path}/archive")
    assert Alert.objects.get().state == "fixed"
    # Undo is offered once, and gone with the next page.
    assert f'action="{path}/restore"' in signed_in.get("/thresholds").content.decode()
    assert f'action="{path}/restore"' not in signed_in.get("/thresholds").content.decode()
    assert f'action="{path}/restore"' in signed_in.get("/thresholds?archived=1").content.decode()
    assert signed_in.get(f"{path}/edit").status_code == 404
    signed_in.post(f"{path}/restore")
    judged(pair, [0.5], first=1)
    assert Alert.objects.filter(state="open").count() == 1


def test_the_list_of_a_plan_has_what_holds_for_all_and_markup_stays_text(signed_in: Client) -> None:
    one, other = make_pair(), make_pair()
    make_threshold("<b>all</b>")
    make_threshold("of one", pair=one)
    page = signed_in.get(f"/thresholds?pair={other.pk}").content.decode()
    assert "&lt;b&gt;all&lt;/b&gt;" in page
    assert "<b>all" not in page
    assert "of one" not in page
    assert "of one" in signed_in.get(f"/thresholds?pair={one.pk}").content.decode()
    assert f'href="/thresholds/new?pair={one.pk}"' in signed_in.get(f"/thresholds?pair={one.pk}").content.decode()
    assert signed_in.get("/thresholds?pair=x&plan=1e9&q=%27&after=9x&sort=none").status_code == 200
