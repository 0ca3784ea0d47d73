"""All series, on the pages of a host, an environment and a pair."""

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone
from django.utils.translation import override
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.models import Pair
from benchweb.results import nightly_summaries as nights
from benchweb.results import run_summaries as recents
from benchweb.results.series_summaries import SeriesScope, series_summaries
from benchweb.web.series import section
from benchweb.web.series.section import series_rows
from tests.factories import make_endpoint, make_pair
from tests.nights import DAY, measured


@pytest.fixture(scope="module")
def measured_pair(rows_of_a_module: None) -> Pair:
    """Make a pair whose transactions got worse, and whose stream got better."""
    pair = make_pair()
    for ago in range(8, -1, -1):
        at = timezone.now() - ago * DAY
        measured(pair, at, 2e9 if ago == 0 else 1e9, identity={"message_size_bytes": 64})
        measured(pair, at, 500 if ago == 0 else 1000, kind="tcp_rr", metric="transactions_per_second")
        measured(pair, at, 0.2 if ago == 0 else 0.1, kind="tcp_rr", metric="latency_p99_seconds")
    while recents.sum_up():
        pass
    nights.make()
    return pair


@pytest.fixture
def pair(measured_pair: Pair, db: None) -> Pair:
    """Return that pair anew."""
    return Pair.objects.select_related("source", "sink").get(pk=measured_pair.pk)


@pytest.fixture(params=["host", "environment", "pair"])
def url(request: pytest.FixtureRequest, pair: Pair) -> str:
    pages = {"host": f"/hosts/{pair.source.host_id}", "environment": f"/environments/{pair.environment_id}"}
    return pages.get(request.param, f"/pairs/{pair.pk}")


def test_the_main_figures_come_first_and_the_worst_of_them_at_the_top(signed_in: Client, url: str) -> None:
    rows = signed_in.get(f"{url}?series=all").context["series"].rows
    assert [row.metric.key for row in rows] == ["transactions_per_second", "throughput_bps"]


@pytest.mark.parametrize(
    ("query", "metrics"),
    [
        ("kind=tcp_rr", ["transactions_per_second"]),
        ("metric=latency_p99_seconds", ["latency_p99_seconds"]),
        ("kind=tcp_stream&metric=latency_p99_seconds", []),
        ("kind=unknown&metric=unknown", ["transactions_per_second", "throughput_bps"]),
        ("from=1", ["throughput_bps"]),
        ("from=" + "9" * 5_000, ["transactions_per_second", "throughput_bps"]),
    ],
)
def test_it_is_narrowed_in_the_address(signed_in: Client, url: str, query: str, metrics: list[str]) -> None:
    page = signed_in.get(f"{url}?{query}")
    assert [row.metric.key for row in page.context["series"].rows] == metrics
    assert ("No series matches these filters." in page.content.decode()) is (not metrics)


def test_a_row_leads_to_its_history_with_every_parameter(signed_in: Client, pair: Pair, url: str) -> None:
    text = signed_in.get(f"{url}?series=all").content.decode()
    expected = f"/history?pair={pair.pk}&amp;kind=tcp_stream&amp;metric=throughput_bps&amp;p.message_size_bytes=64"
    assert f'href="{expected}"' in text
    assert "▲ +100 %" in text


def test_many_series_are_paged(signed_in: Client, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(section, "_DISPLAYED", 1)
    first = signed_in.get(f"{url}?kind=").context["series"]
    assert (len(first.rows), first.next_url, first.first_url) == (1, "?kind=&series=all&from=1#series", "")
    # Nobody has counted them.
    assert "in all" not in signed_in.get(f"{url}?kind=").content.decode()
    second = signed_in.get(f"{url}?from=1").context["series"]
    assert (len(second.rows), second.next_url, second.first_url) == (1, "", "?series=all#series")


def test_it_costs_no_more_queries_however_many_there_are(
    signed_in: Client, url: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    # A page has no more than that, with its pictures and what changed.
    with django_assert_max_num_queries(12):
        assert signed_in.get(url).context["series"] is None
    with django_assert_max_num_queries(14):
        signed_in.get(f"{url}?series=all")


def test_without_results_it_says_what_will_be_here(signed_in: Client) -> None:
    pair = make_pair()
    for url in (f"/hosts/{pair.source.host_id}", f"/environments/{pair.environment_id}", f"/pairs/{pair.pk}"):
        assert "No results yet" in signed_in.get(url).content.decode()


def test_a_series_of_one_run_is_shown_without_a_baseline(signed_in: Client) -> None:
    pair = make_pair()
    measured(pair, timezone.now(), 1e9)
    while recents.sum_up():
        pass
    for path in (f"/hosts/{pair.source.host_id}", f"/environments/{pair.environment_id}", f"/pairs/{pair.pk}"):
        text = signed_in.get(f"{path}?series=all").content.decode()
        assert "first result" in text
        assert "sparkline-last" in text
        assert "sparkline-baseline" not in text


def test_names_that_people_gave_are_escaped_wherever_a_row_says_them(signed_in: Client) -> None:
    pair = make_pair(source=make_endpoint(host_name="<b>'&\""))
    measured(pair, timezone.now(), 1e9)
    while recents.sum_up():
        pass
    text = signed_in.get(f"/environments/{pair.environment_id}?series=all").content.decode()
    table = text[text.index('<table class="table table-cards glance">') :]
    row = table[: table.index("</table>")]
    # In the title, in the line's label and in its tooltip.
    assert row.count("&lt;b&gt;&#x27;&amp;&quot;") == 3
    assert "<b>" not in row


def test_a_row_says_the_same_in_the_readers_language(pair: Pair) -> None:
    rows = series_rows(series_summaries(scope=SeriesScope(pair=pair.pk), most=1))
    pages = {}
    for language in ("en", "zh-hans", "en"):
        with override(language):
            pages[language] = render_to_string("series/partials/rows.html", {"rows": rows})
    baseline = (
        '<span class="quantity" title="1,000 transactions/s" data-value="1000.0" data-unit="transactions/s">1.00'
        '<span class="unit"> k transactions/s</span></span>'
    )
    assert f'<span class="meta">was {baseline} · compared with 8 runs</span>' in pages["en"]
    assert "秒前" in pages["zh-hans"]
    assert "Latest" not in pages["zh-hans"]
