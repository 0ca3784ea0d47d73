"""The matrix beside another time: verdicts in cells and in words, alerts, and targets that colour and alert."""

import csv
import io
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchweb.hosts.models import Pair
from benchweb.hosts.services import environment_create
from benchweb.plans.models import Plan
from benchweb.regressions.models import Alert, AlertSeries, Baseline, Threshold
from benchweb.regressions.thresholds.judging import judge_thresholds
from benchweb.results.models import Series
from benchweb.results.run_summaries import rebuild
from benchweb.runs.models import Run
from tests.charts.history_rows import past_run
from tests.factories import make_alert, make_plan
from tests.web.matrix.test_matrix_page import cells, endpoints, joined, shown, text_of

pytestmark = pytest.mark.django_db
NAMES = ["alpha", "beta", "gamma"]
NIGHTS = 10
# Session, user, environments; endpoints, pairs, tests, metrics, values, ends, versions, marks, references.
MOST_QUERIES = 12


@pytest.fixture
def plan(db: None) -> Plan:
    return make_plan(steps=[{"kind": "tcp_stream", "params": {"duration_seconds": 1}}], repetitions=3)


def nights(plan: Plan, pair: Pair, *, last: float, usual: float = 1e10, nights: int = NIGHTS) -> list[Run]:
    """Make a run a night, the last of them one hour ago; the nights vary by 0.2 %."""
    now = timezone.now()
    runs = []
    for ago in range(nights - 1, -1, -1):
        value = last if ago == 0 else usual * (1 + (ago % 3) / 1000)
        at = now - timedelta(days=ago, hours=1)
        runs.append(past_run(plan, pair, at, *[{"throughput_bps": value * (1 + n / 1e4)} for n in range(3)]))
    return runs


@pytest.fixture
def mesh(plan: Plan) -> dict[tuple[str, str], Pair]:
    """Return the pairs of three hosts; tonight both to gamma were 20 % slower."""
    zone, at = environment_create(name="lab"), endpoints(NAMES)
    pairs = {(a, b): joined(zone, at[a, "host"], at[b, "host"]) for a in NAMES for b in NAMES if a != b}
    for (_, sink), pair in pairs.items():
        nights(plan, pair, last=8e9 if sink == "gamma" else 1e10)
    rebuild()
    return pairs


def test_a_cell_is_worse_or_without_a_significant_change_beside_yesterday(
    signed_in: Client, mesh: dict[tuple[str, str], Pair]
) -> None:
    page = shown(signed_in, "?with=yesterday")
    _, alpha, beta, _ = cells(page)
    assert "▼ −20.1 % worse" in alpha[3] and "▼ −20.1 % worse" in beta[3]
    assert "no significant change" in alpha[2]
    assert page.count("level-down-3") == 2 + 1  # Two cells and the legend.


def test_rows_and_columns_are_summed_up_in_words(signed_in: Client, mesh: dict[tuple[str, str], Pair]) -> None:
    text = text_of(shown(signed_in, "?with=yesterday"))
    assert "all to gamma worse; 2 worse, 4 without a significant change." in text


def test_one_pair_more_to_the_same_host_is_said_of_all_of_it(signed_in: Client, plan: Plan) -> None:
    zone, at = environment_create(name="lab"), endpoints(NAMES)
    for source in ("alpha", "beta"):
        nights(plan, joined(zone, at[source, "host"], at["gamma", "host"]), last=8e9)
    rebuild()
    assert "all pairs worse; 2 worse." in text_of(shown(signed_in, "?with=yesterday"))


def test_fewer_than_five_runs_until_then_are_unknown_and_say_so(signed_in: Client, plan: Plan) -> None:
    zone, at = environment_create(name="lab"), endpoints(["alpha", "beta"])
    nights(plan, joined(zone, at["alpha", "host"], at["beta", "host"]), last=1e9, nights=4)
    rebuild()
    page = shown(signed_in, "?with=yesterday")
    assert "unknown" in cells(page)[1][1]
    assert 'title="only 3 runs before; ' in page
    assert "is-unknown" in page


def test_a_pair_that_was_not_measured_since_is_unknown(signed_in: Client, mesh: dict[tuple[str, str], Pair]) -> None:
    page = shown(signed_in, f"?with=date&on={timezone.now():%Y-%m-%d}")
    assert 'title="no run since then; ' in page
    assert "6 unknown." in text_of(page)


@pytest.mark.parametrize("word", ["nonsense", "date", "baseline:"])
def test_what_cannot_be_read_compares_nothing(signed_in: Client, mesh: dict[tuple[str, str], Pair], word: str) -> None:
    page = shown(signed_in, f"?with={word}&on=never")
    assert "no significant change" not in text_of(page)
    assert "heat-" in page


def test_a_pinned_baseline_is_a_set_of_runs_to_compare_with(signed_in: Client, plan: Plan) -> None:
    zone, at = environment_create(name="lab"), endpoints(["alpha", "beta"])
    pair = joined(zone, at["alpha", "host"], at["beta", "host"])
    runs = nights(plan, pair, last=1.2e10)
    rebuild()
    Baseline.objects.create(
        name="release 5.2", run=runs[6], environment=zone, pair=pair, plan=plan, pinned_at=timezone.now()
    )
    page = shown(signed_in, "?with=baseline:release%205.2")
    assert "better" in cells(page)[1][1]
    assert '<option value="baseline:release 5.2" selected>baseline release 5.2</option>' in page


def test_a_cell_opens_its_alert(signed_in: Client, mesh: dict[tuple[str, str], Pair]) -> None:
    pair = mesh["alpha", "gamma"]
    alert = make_alert(pair=pair)
    run = Run.objects.filter(pair=pair).latest("started_at")
    series = Series.objects.get(pair=pair)
    AlertSeries.objects.create(alert=alert, series=series, segment_key="one", before=1e10, after=8e9, first_bad_run=run)
    page = shown(signed_in)
    assert page.count(f'href="/alerts/{alert.pk}"') == 2
    Alert.objects.filter(pk=alert.pk).update(state=Alert.State.FIXED, ended_at=timezone.now())
    assert f'href="/alerts/{alert.pk}"' not in shown(signed_in)


def add_target(client: Client, limit: str, scope: str, **others: str) -> str:
    series = Series.objects.first()
    assert series is not None
    fields = {"kind": "tcp_stream", "metric": "throughput_bps", "digest": series.identity_digest} | others
    answer = client.post("/matrix/targets?with=yesterday", fields | {"limit": limit, "scope": scope}, follow=True)
    assert answer.redirect_chain == [("/matrix?with=yesterday", 302)]
    return str(answer.content.decode())


def test_a_target_colours_the_cells_that_miss_it_and_alerts(
    signed_in: Client, mesh: dict[tuple[str, str], Pair]
) -> None:
    pair = mesh["alpha", "gamma"]
    page = add_target(signed_in, "9.4 Gbit/s", f"environment:{pair.environment_id}")
    assert page.count("is-missed") == 2
    assert "≥ 9.40 Gbit/s missed" in cells(page)[1][3] and "≥ 9.40 Gbit/s" in cells(page)[1][2]
    judge_thresholds(Run.objects.filter(pair=pair).latest("started_at"))
    assert Alert.objects.get().kind == Alert.Kind.THRESHOLD


def test_a_pairs_own_target_goes_before_its_environments(signed_in: Client, mesh: dict[tuple[str, str], Pair]) -> None:
    pair = mesh["alpha", "gamma"]
    add_target(signed_in, "9.4 G", f"environment:{pair.environment_id}")
    page = add_target(signed_in, "7 G", f"pair:{pair.pk}")
    assert "≥ 7.00 Gbit/s" in cells(page)[1][3]
    assert page.count("is-missed") == 1


def test_a_target_of_another_message_size_is_not_this_tests(
    signed_in: Client, mesh: dict[tuple[str, str], Pair]
) -> None:
    pair = mesh["alpha", "gamma"]
    page = add_target(signed_in, "9.4 G", f"pair:{pair.pk}", digest="another")
    assert "is-missed" not in page
    judge_thresholds(Run.objects.filter(pair=pair).latest("started_at"))
    assert not Alert.objects.exists()


@pytest.mark.parametrize(
    ("limit", "scope", "why"),
    [("fast", "environment:1", "A limit is a number"), ("9 G", "", "Choose what the target is of")],
)
def test_a_target_that_cannot_be_read_says_why(
    signed_in: Client, mesh: dict[tuple[str, str], Pair], limit: str, scope: str, why: str
) -> None:
    assert why in add_target(signed_in, limit, scope)
    assert not Threshold.objects.exists()


def test_a_removed_target_holds_no_more(signed_in: Client, mesh: dict[tuple[str, str], Pair]) -> None:
    add_target(signed_in, "9.4 G", f"environment:{mesh['alpha', 'gamma'].environment_id}")
    target = Threshold.objects.get()
    page = signed_in.post(f"/matrix/targets/{target.pk}", follow=True).content.decode()
    assert "is-missed" not in page and "≥ 9.40 Gbit/s" not in text_of(page.split("matrix-targets")[1])


def test_the_csv_of_a_comparison_has_its_verdicts(signed_in: Client, mesh: dict[tuple[str, str], Pair]) -> None:
    text = signed_in.get("/matrix.csv?with=yesterday").content.decode()
    rows = {(row["source"], row["sink"]): row for row in csv.DictReader(io.StringIO(text))}
    assert rows["alpha", "gamma"]["verdict"] == "worse"
    assert float(rows["alpha", "gamma"]["difference_ratio"]) == pytest.approx(-0.2, abs=0.005)
    assert (rows["alpha", "beta"]["verdict"], rows["alpha", "alpha"]["verdict"]) == ("same", "")


def test_it_takes_two_queries_more_than_without(
    signed_in: Client, mesh: dict[tuple[str, str], Pair], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(MOST_QUERIES):
        shown(signed_in, "?with=week")
