"""Sets of runs beside each other: chosen by a query each, the runs' medians being the sample."""

import csv
import io
import re
from datetime import UTC, timedelta
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from benchweb.accounts.services import token_create
from benchweb.charts.comparison.sets import read_sides
from benchweb.hosts.endpoints.services import endpoint_create
from benchweb.hosts.facts.records import facts_record
from benchweb.hosts.models import Host, Pair
from benchweb.hosts.services import pair_create
from benchweb.labels import label_add
from benchweb.plans.models import Plan
from benchweb.results.run_sets import samples
from benchweb.results.run_summaries import rebuild
from benchweb.runs.models import Run
from tests.charts.history_rows import DAY, NIGHT, past_run
from tests.factories import make_endpoint, make_environment, make_pair, make_plan, make_run, make_schedule
from tests.web.compare.test_compare import cells, page_of, text_of

pytestmark = pytest.mark.django_db
# Session with its user; names of hosts, environments, pairs, plans; pairs, facts, figures.
MOST_QUERIES = 9
NIGHTS = 8
OLD, NEW = "6.1.0-28-amd64", "6.1.0-30-amd64"


def address(*sides: str) -> str:
    return "&".join(f"side={quote(side)}" for side in sides)


def rates(value: float, night: int) -> list[dict[str, float]]:
    """Return three repetitions of a night, which alone could never show anything."""
    return [{"throughput_bps": value * (1 + night / 1000 + repetition / 10_000)} for repetition in range(3)]


@pytest.fixture
def plan() -> Plan:
    return make_plan(steps=[{"kind": "tcp_stream", "params": {"message_size_bytes": 1024}}], repetitions=3)


@pytest.fixture
def upgraded(plan: Plan) -> Pair:
    """Return a pair whose hosts got another kernel after eight nights, and were 9 % slower from then on."""
    pair = make_pair()
    for night in range(2 * NIGHTS):
        at, is_new = NIGHT + night * DAY, night >= NIGHTS
        past_run(plan, pair, at, *rates(9.1e9 if is_new else 1e10, night % NIGHTS))
        for endpoint in (pair.source, pair.sink):
            document = {"kernel": NEW if is_new else OLD, "hostname": endpoint.host.name}
            facts_record(endpoint_id=endpoint.pk, document=document, at=at + timedelta(seconds=20))
    rebuild()
    return pair


def test_nights_of_three_repetitions_add_up_to_a_difference_of_kernels(signed_in: Client, upgraded: Pair) -> None:
    page = page_of(signed_in, address(f"kernel={OLD}", f"kernel={NEW}"))
    baseline, other = cells_of_sets(page, 0)
    assert "10.0 Gbit/s" in baseline and "n=8" in baseline
    assert "▼ −9.0 % worse" in other and "n=8" in other
    text = text_of(page)
    # The headline says it before the table does.
    assert "▼ −9.0 % worse (" in text.split("Rows")[0]
    assert "8 runs on 1 pair" in text


def test_a_label_is_of_a_pair_or_of_one_of_its_hosts(signed_in: Client, plan: Plan) -> None:
    by_host, by_pair, other = (make_pair() for _ in range(3))
    label_add(Host.objects.filter(pk=by_host.sink.host_id), "racks")
    label_add(Pair.objects.filter(pk=by_pair.pk), "racks")
    for pair in (by_host, by_pair, other):
        past_run(plan, pair, NIGHT, *rates(1e10, 0))
    rebuild()
    page = page_of(signed_in, address("label=racks", f"pair={other.pk}"))
    assert "2 runs on 2 pairs" in text_of(page) and "1 run on 1 pair" in text_of(page)


def test_a_label_of_a_plan_brings_its_runs_alone_and_all_of_a_pair_that_has_it_too(
    signed_in: Client, plan: Plan, ada: User
) -> None:
    nightly = make_plan(name="labelled", steps=plan.versions.get().steps, repetitions=3)
    label_add(Plan.objects.filter(pk=nightly.pk), "racks")
    by_plan, by_pair = make_pair(), make_pair()
    label_add(Pair.objects.filter(pk=by_pair.pk), "racks")
    for pair, of_plan, night in ((by_plan, nightly, 0), (by_plan, plan, 1), (by_pair, plan, 2), (by_pair, nightly, 3)):
        past_run(of_plan, pair, NIGHT + night * DAY, *rates(1e10, night))
    rebuild()
    sides = [f"label=racks&pair={by_plan.pk}", f"label=racks&pair={by_pair.pk}", f"pair={by_plan.pk}"]
    text = text_of(page_of(signed_in, address(*sides)))
    assert "1 run on 1 pair" in text and "2 runs on 1 pair" in text
    _, secret = token_create(user=ada, name="script")
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    answer = client.get("/api/v1/compare", {"side": [*sides, "label=racks"]}).json()
    assert [(side["runs"], side["pairs"]) for side in answer["sides"]] == [(1, 1), (2, 1), (2, 1), (3, 2)]
    assert '<option value="racks">' in signed_in.get("/compare/sets").content.decode()


def cells_of_sets(page: str, row: int) -> list[str]:
    # Sets have no rows of facts before those of metrics, but the row of headings.
    return cells("</tbody>" + page, row + 1)


def test_the_first_run_of_a_kernel_counts_for_it_though_its_facts_came_after(signed_in: Client, upgraded: Pair) -> None:
    document = signed_in.get(f"/compare/results.json?{address(f'kernel={OLD}', f'kernel={NEW}')}").json()
    assert [side["runs"] for side in document["sides"]] == [NIGHTS, NIGHTS]
    (measure,) = document["measures"]
    assert max(measure["entries"][1]["values"]) < 9.3e9 < min(measure["entries"][0]["values"])


def test_a_fact_is_of_the_host_that_is_named_else_of_both_ends(signed_in: Client, plan: Plan) -> None:
    pair = make_pair()
    for night in range(4):
        at = NIGHT + night * DAY
        past_run(plan, pair, at, *rates(1e10, night))
        facts_record(endpoint_id=pair.source_id, document={"kernel": NEW if night > 1 else OLD}, at=at)
        facts_record(endpoint_id=pair.sink_id, document={"kernel": OLD}, at=at)
    rebuild()
    host = pair.source.host_id
    sides = [f"kernel={OLD}", f"kernel={NEW}", f"host={host}&kernel={NEW}"]
    document = signed_in.get(f"/compare/results.json?{address(*sides)}").json()
    assert [side["runs"] for side in document["sides"]] == [2, 0, 2]


def test_periods_of_a_plan_are_compared_by_environment(signed_in: Client, plan: Plan, upgraded: Pair) -> None:
    other = make_plan(steps=[{"kind": "tcp_stream", "params": {"message_size_bytes": 1024}}], name="another")
    past_run(other, upgraded, NIGHT + DAY, {"throughput_bps": 1.0})
    rebuild()
    middle = f"{NIGHT + NIGHTS * DAY:%Y-%m-%d}"
    of = f"environment={upgraded.environment_id}&plan={plan.pk}"
    document = signed_in.get(f"/compare/results.json?{address(f'{of}&to={middle}', f'{of}&from={middle}')}").json()
    assert [side["runs"] for side in document["sides"]] == [NIGHTS, NIGHTS]
    assert [side["name"] for side in document["sides"]] == [
        f"{upgraded.environment.name} · sizes · before {middle}",
        f"{upgraded.environment.name} · sizes · since {middle}",
    ]


def test_a_run_may_stand_beside_a_set_and_its_median_is_one_value(signed_in: Client, upgraded: Pair) -> None:
    last = Run.objects.latest("started_at")
    page = page_of(signed_in, address(f"pair={upgraded.pk}&to=2026-03-05", f"run={last.pk}"))
    assert "1 run on 1 pair" in text_of(page)
    assert 'title="4 and 1 runs are too few (minimum 4 each)"' in page


def test_pairs_of_different_speed_hide_no_change(signed_in: Client, plan: Plan) -> None:
    pairs = [make_pair(), make_pair()]
    for night in range(2 * NIGHTS):
        for pair, speed in zip(pairs, (1e10, 1e9), strict=True):
            value = speed * (0.95 if night >= NIGHTS else 1)
            past_run(plan, pair, NIGHT + night * DAY, *rates(value, night % NIGHTS))
    rebuild()
    middle = f"{NIGHT + NIGHTS * DAY:%Y-%m-%d}"
    document = signed_in.get(
        f"/compare/results.json?{address(f'plan={plan.pk}&to={middle}', f'plan={plan.pk}&from={middle}')}"
    ).json()
    entry = document["measures"][0]["entries"][1]
    assert (entry["verdict"], entry["change"]) == ("different", "worse")
    assert entry["difference_ratio"] == pytest.approx(-0.05, abs=0.002)


def test_two_pairs_that_are_named_are_compared_and_the_pair_may_make_the_difference(
    signed_in: Client, plan: Plan, upgraded: Pair
) -> None:
    other = make_pair()
    for night in range(4):
        past_run(plan, other, NIGHT + night * DAY, *rates(5e9, night))
    rebuild()
    page = page_of(signed_in, address(f"pair={upgraded.pk}", f"pair={other.pk}"))
    assert "These runs were on another pair than the baseline&#x27;s" in text_of(page)
    assert "worse" in cells_of_sets(page, 0)[1]


def test_only_pairs_that_both_sides_measured_are_compared_and_the_others_are_listed(
    signed_in: Client, plan: Plan
) -> None:
    """A kernel's hosts that others are faster than made +913 % of nothing."""
    both, fast = make_pair(), make_pair()
    for night in range(2 * NIGHTS):
        past_run(plan, both, NIGHT + night * DAY, *rates(1e9, night % NIGHTS))
        if night >= NIGHTS:
            past_run(plan, fast, NIGHT + night * DAY, *rates(1e11, night))
    rebuild()
    middle = f"{NIGHT + NIGHTS * DAY:%Y-%m-%d}"
    sides = address(f"plan={plan.pk}&to={middle}", f"plan={plan.pk}&from={middle}")
    page = page_of(signed_in, sides)
    baseline, other = cells_of_sets(page, 0)
    assert "1.00 Gbit/s" in baseline and "1.00 Gbit/s" in other
    assert "n=8" in baseline and "n=8" in other
    text = text_of(page)
    assert "1 pair that only one side measured is left out." in text
    assert str(fast) in text.split("Measured on one side only")[1]
    document = signed_in.get(f"/compare/results.json?{sides}").json()
    assert [side["pairs_compared"] for side in document["sides"]] == [[both.pk], [both.pk]]
    assert [side["pairs_left_out"] for side in document["sides"]] == [[], [fast.pk]]
    # Nor is it in the curves.
    read = read_sides([f"plan={plan.pk}&to={middle}", f"plan={plan.pk}&from={middle}"], zone=UTC, show="main")
    assert [len(each.trials) for each in read.matched] == [NIGHTS, NIGHTS]


def test_without_a_common_pair_there_is_no_verdict_but_a_way_to_one(
    signed_in: Client, plan: Plan, upgraded: Pair
) -> None:
    label_add(Pair.objects.filter(pk=upgraded.pk), "old")
    other = make_pair()
    label_add(Pair.objects.filter(pk=other.pk), "new")
    for night in range(NIGHTS):
        past_run(plan, other, NIGHT + night * DAY, *rates(1e11, night))
    rebuild()
    page = page_of(signed_in, address("label=old", "label=new"))
    text = text_of(page)
    assert "nothing is compared" in text and "1 on other pairs only, which isn" in text
    assert "better" not in cells_of_sets(page, 0)[1] and "on other pairs: not compared" in cells_of_sets(page, 0)[1]
    assert f'href="/launch?pairs={upgraded.pk}&amp;pairs={other.pk}"' in page
    assert signed_in.get(f"/launch?pairs={upgraded.pk}&pairs={other.pk}").status_code == 200
    document = signed_in.get(f"/compare/results.json?{address('label=old', 'label=new')}").json()
    entry = document["measures"][0]["entries"][1]
    assert (entry["verdict"], entry["difference"], entry["n"]) == (None, None, NIGHTS)


def test_two_hosts_are_compared_by_their_peers_and_two_environments_by_their_hosts(
    signed_in: Client, plan: Plan
) -> None:
    first, second, peer, lonely = (make_endpoint() for _ in range(4))
    lab, other = make_environment(), make_environment()
    # What two hosts carry between them says nothing of either, nor does a peer that one of them has.
    ends = [(first, peer, 1e10), (second, peer, 9e9), (first, second, 1e9), (second, lonely, 1e8)]
    measured = [(pair_create(source=source, sink=sink, environment=lab), rate) for source, sink, rate in ends]
    again = [
        endpoint_create(host=end.host, name="b", control_address=f"192.0.2.{number}:1")
        for number, end in enumerate((first, peer), 1)
    ]
    measured.append((pair_create(source=again[0], sink=again[1], environment=other), 2e10))
    for night in range(NIGHTS):
        for pair, rate in measured:
            past_run(plan, pair, NIGHT + night * DAY, *rates(rate, night))
    rebuild()
    sides = address(f"host={first.host_id}&environment={lab.pk}", f"host={second.host_id}")
    (entry,) = [each["entries"][1] for each in signed_in.get(f"/compare/results.json?{sides}").json()["measures"]]
    assert entry["difference_ratio"] == pytest.approx(-0.1, abs=0.01)
    assert "Compared are pairs with the same other host." in text_of(page_of(signed_in, sides))
    sides = address(f"environment={lab.pk}", f"environment={other.pk}")
    (entry,) = [each["entries"][1] for each in signed_in.get(f"/compare/results.json?{sides}").json()["measures"]]
    assert entry["difference_ratio"] == pytest.approx(1, abs=0.05)
    assert "Compared are pairs of the same two hosts." in text_of(page_of(signed_in, sides))


def test_of_more_pairs_than_are_read_those_that_both_sides_have_come_first(
    signed_in: Client, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "MOST_PAIRS", 1)
    pairs = [make_pair() for _ in range(3)]
    for pair, label in zip(pairs, ("old", "new", "old"), strict=True):
        label_add(Pair.objects.filter(pk=pair.pk), label)
    label_add(Pair.objects.filter(pk=pairs[2].pk), "new")
    for pair in pairs:
        past_run(plan, pair, NIGHT, *rates(1e10, 0))
    rebuild()
    document = signed_in.get(f"/compare/results.json?{address('label=old', 'label=new')}").json()
    assert [side["pairs_compared"] for side in document["sides"]] == [[pairs[2].pk]] * 2
    assert [side["pairs_matching"] for side in document["sides"]] == [2, 2]


@pytest.mark.parametrize(
    ("side", "why"),
    [
        ("kernle=6", "can&#x27;t be chosen by “kernle”"),
        ("environment=nine", "“environment” takes a number, not “nine”."),
        ("from=2026-01-01", "A side needs a run, a campaign, a pair"),
        ("pair=1&from=yesterday", "“from” takes a day such as 2026-11-20"),
        ("pair=1&from=2026-02-02&to=2026-02-01", "“from” must be before “to”."),
        ("kernel=6&governor=performance", "A side can be chosen by one fact"),
        ("environment=999999", "There is no environment 999999."),
    ],
)
def test_a_side_that_cannot_be_read_says_why(signed_in: Client, upgraded: Pair, side: str, why: str) -> None:
    page = page_of(signed_in, address(f"pair={upgraded.pk}", side))
    assert why in page


def test_the_form_makes_an_address_that_can_be_sent(signed_in: Client, upgraded: Pair) -> None:
    answer = signed_in.get("/compare", {"1.fact": f"kernel={OLD}", "1.environment": "", "2.fact": f"kernel={NEW}"})
    assert answer.status_code == 302
    assert answer["Location"] == f"/compare?side=kernel%3D{OLD}&side=kernel%3D{NEW}"


def test_rows_ticked_in_a_list_are_a_side_each(signed_in: Client, upgraded: Pair) -> None:
    answer = signed_in.get(f"/compare?pairs={upgraded.pk}&pairs={upgraded.pk + 1}")
    assert answer["Location"] == f"/compare?side=pair%3D{upgraded.pk}&side=pair%3D{upgraded.pk + 1}"


def test_values_of_a_fact_are_offered_the_newest_beside_the_one_before(signed_in: Client, upgraded: Pair) -> None:
    page = signed_in.get("/compare/sets").content.decode()
    assert f"Kernel: {NEW} against {OLD}" in text_of(page)
    assert f'href="/compare?side=kernel%3D{OLD}&amp;side=kernel%3D{NEW}"' in page
    assert f"{NEW} (2 hosts)" in page


def test_a_changed_fact_leads_to_before_and_after(signed_in: Client, upgraded: Pair) -> None:
    page = signed_in.get(f"/hosts/{upgraded.source.host_id}").content.decode()
    assert "Before and after" in page
    assert f"side=host%3D{upgraded.source.host_id}%26from%3D2026-02-07" in page


def test_a_schedule_leads_to_this_week_against_last(signed_in: Client, plan: Plan, upgraded: Pair) -> None:
    schedule = make_schedule(plan=plan, target={"environment": upgraded.environment_id})
    page = signed_in.get(f"/schedules/{schedule.pk}").content.decode()
    of = f"side=environment%3D{upgraded.environment_id}%26plan%3D{plan.pk}%26from%3D"
    assert f"{of}-14d%26to%3D-7d&amp;{of}-7d" in page


def test_the_csv_has_a_line_for_each_metric_and_side(signed_in: Client, upgraded: Pair) -> None:
    text = signed_in.get(f"/compare/results.csv?{address(f'kernel={OLD}', f'kernel={NEW}')}").content.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["side"], row["n"], row["change"]) for row in rows] == [("1", "8", ""), ("2", "8", "worse")]
    assert rows[0]["query"] == f"kernel={OLD}"


def test_a_tool_is_a_side_and_meets_the_engine_in_the_same_test(signed_in: Client, plan: Plan) -> None:
    pair = make_pair()
    # As an import makes its trials: no step of a plan names a tool.
    by_tool = make_plan()
    steps = [{"kind": "tcp_stream", "params": {"message_size_bytes": 1024, "tool": "netperf"}}]
    by_tool.versions.update(steps=steps)
    for night in range(NIGHTS):
        past_run(plan, pair, NIGHT + night * DAY, *rates(1e10, night))
        past_run(by_tool, pair, NIGHT + night * DAY, *rates(9.1e9, night))
    rebuild()
    page = page_of(signed_in, address(f"pair={pair.pk}&tool=benchweb", f"pair={pair.pk}&tool=netperf"))
    baseline, other = cells_of_sets(page, 0)
    assert "10.0 Gbit/s" in baseline and "n=8" in baseline
    assert "▼ −9.0 % worse" in other and "n=8" in other
    assert "measured by netperf" in page
    # Without a tool a side has all of them, in rows apart; a tool alone is a side.
    assert "n=16" not in page_of(signed_in, address(f"pair={pair.pk}", "tool=netperf"))
    form = signed_in.get("/compare/sets?side=tool%3Dnetperf").content.decode()
    assert '<option value="tool=fio">fio</option>' in form
    assert '<option value="tool=netperf" selected>netperf</option>' in form


_LEAD = r'chip-lead"[^>]*>(.*?)</span>'
_CHOSEN, _ANY = r"<option [^>]*selected>(.*?)</option>", r'<option value="">(.*?)</option>'


def sentence_of(page: str) -> list[str]:
    """Return what the form's sentence says before its further choices: each chip's lead and chosen words."""
    said = page.partition('class="chips-side compare-sentence"')[2].partition('id="more-sides"')[0]
    chips = re.findall(r'<div class="chip.*?</div>', said, re.DOTALL)
    return [" ".join([*_found(_LEAD, chip), *(_found(_CHOSEN, chip) or _found(_ANY, chip))]) for chip in chips]


def _found(pattern: str, chip: str) -> list[str]:
    return re.findall(pattern, chip)[:1]


def test_choosing_sides_reads_as_one_sentence(signed_in: Client, upgraded: Pair) -> None:
    assert sentence_of(signed_in.get("/compare/sets").content.decode()) == [
        "Compare choose…",
        "with choose…",
        "in any environment",
        "at any time",
    ]
    common = f"environment={upgraded.environment_id}&from=-30d"
    query = urlencode([("side", f"{common}&kernel={OLD}"), ("side", f"{common}&kernel={NEW}")])
    assert sentence_of(signed_in.get(f"/compare/sets?{query}").content.decode()) == [
        f"Compare {OLD} (2 hosts)",
        f"with {NEW} (2 hosts)",
        f"in {upgraded.environment.name}",
        "last 30 days",
    ]


def test_what_the_sentence_shares_is_of_each_side(signed_in: Client, upgraded: Pair) -> None:
    environment = str(upgraded.environment_id)
    answer = signed_in.get(
        "/compare",
        {"1.of": f"kernel={OLD}", "2.of": f"kernel={NEW}", "all.environment": environment, "all.from": "-30d"},
    )
    sides = [f"environment={environment}&from=-30d&kernel={kernel}" for kernel in (OLD, NEW)]
    assert parse_qs(urlsplit(answer["Location"]).query)["side"] == sides


def test_sides_that_differ_by_their_time_alone_share_what_they_are_of(signed_in: Client, upgraded: Pair) -> None:
    sides = [f"pair={upgraded.pk}&from=-14d&to=-7d", f"pair={upgraded.pk}&from=-7d"]
    page = signed_in.get(f"/compare/sets?{urlencode([('side', side) for side in sides])}").content.decode()
    said = sentence_of(page)
    assert said[:2] == [f"Compare pair {upgraded.pk}", f"with pair {upgraded.pk}"]
    for name, value in (("1.from", "-14d"), ("1.to", "-7d"), ("2.from", "-7d")):
        assert re.search(rf'name="{name}"[^>]*value="{value}"', page)


def test_eight_sides_cost_no_more_queries_than_two(
    signed_in: Client, plan: Plan, upgraded: Pair, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    of = f"environment={upgraded.environment_id}&plan={plan.pk}&host={upgraded.source.host_id}"
    sides = [f"{of}&kernel={OLD if night % 2 else NEW}&from=2026-03-{night + 1:02}" for night in range(8)]
    with django_assert_max_num_queries(MOST_QUERIES):
        page = page_of(signed_in, address(*sides))
    assert "Compare 8 sets of runs" in page


def test_runs_of_too_few_repetitions_are_measured_again_without_touching_their_plan(signed_in: Client) -> None:
    runs = [make_run(repetitions=3), make_run(repetitions=3)]
    versions = {run.plan_version.plan_id: run.plan_version.plan.versions.count() for run in runs}
    answer = signed_in.post("/compare/repeat", {"runs": f"{runs[0].pk},{runs[1].pk}"})
    new = Run.objects.exclude(pk__in=[run.pk for run in runs]).order_by("pk")
    assert answer["Location"] == f"/compare?runs={new[0].pk},{new[1].pk}"
    assert [run.plan_version.repetitions for run in new] == [8, 8]
    assert [run.pair_id for run in new] == [run.pair_id for run in runs]
    assert {plan.pk: plan.versions.count() for plan in Plan.objects.filter(pk__in=versions)} == versions
    assert all(run.plan_version.plan.archived_at is not None for run in new)
    # Once made, the same version is launched again.
    signed_in.post("/compare/repeat", {"runs": f"{runs[0].pk},{runs[1].pk}"})
    assert Run.objects.count() == 6
    assert Run.objects.latest("pk").plan_version_id == new[1].plan_version_id


def test_what_cannot_be_launched_again_says_why_and_launches_nothing(signed_in: Client) -> None:
    runs = [make_run(repetitions=3), make_run(repetitions=3)]
    host = runs[1].pair.source.host
    type(host).objects.filter(pk=host.pk).update(archived_at=NIGHT)
    answer = signed_in.post("/compare/repeat", {"runs": f"{runs[0].pk},{runs[1].pk}"}, follow=True)
    assert f"its host {host.name} is archived. Restore it first." in answer.content.decode()
    assert Run.objects.count() == 2


def test_the_api_compares_sets_and_refuses_what_it_cannot_read(db: None, ada: User, upgraded: Pair) -> None:
    _, secret = token_create(user=ada, name="script")
    client = Client(headers={"Authorization": f"Bearer {secret}"})

    def get(*sides: str, **others: str) -> Any:
        return client.get("/api/v1/compare", {"side": list(sides), **others})

    answer = get(f"kernel={OLD}", f"kernel={NEW}").json()
    assert (answer["baseline"], "runs" in answer) == (1, False)
    assert [(side["side"], side["runs"], side["pairs"]) for side in answer["sides"]] == [(1, 8, 1), (2, 8, 1)]
    assert [entry["side"] for entry in answer["measures"][0]["entries"]] == [1, 2]
    assert answer["measures"][0]["entries"][1]["change"] == "worse"
    assert get("kernel=1").status_code == 422
    assert get("pair=1", "pair=2", runs="1,2").status_code == 422
    refused = get(f"kernel={OLD}", "pair=none")
    assert refused.status_code == 422
    assert refused.json()["errors"] == [{"field": "side", "message": "Side 2: “pair” takes a number, not “none”."}]


def test_a_host_without_results_gives_no_run(signed_in: Client, upgraded: Pair) -> None:
    host = make_endpoint().host_id
    text = text_of(page_of(signed_in, address(f"pair={upgraded.pk}", f"host={host}")))
    assert "no run with results matches" in text


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        # A name that isn't known: the form is where it is corrected.
        (["kernal=6.8"], ["6.8"]),
        (["pair=3&kernel=a", "pair=4&kernel=b"], ["pair 3", "pair 4"]),
        (["kernel=a&governor=b"], ["a", "b"]),
        (["run=1&pair=2"], ["run 1", "2"]),
    ],
)
def test_the_form_opens_with_whatever_sides_say(signed_in: Client, sides: list[str], said: list[str]) -> None:
    answer = signed_in.get(f"/compare/sets?{address(*sides)}")
    assert answer.status_code == 200
    page = answer.content.decode()
    assert [each for each in said if each not in page] == []


def test_what_sides_share_beyond_the_sentence_stays_with_each(signed_in: Client) -> None:
    sides = ["kernel=6.8&environment=1", "kernel=6.8&environment=2"]
    page = signed_in.get(f"/compare/sets?{address(*sides)}").content.decode()
    assert page.count('value="kernel=6.8" selected') == 2


def test_what_one_side_says_of_all_is_of_the_second_too(signed_in: Client) -> None:
    page = signed_in.get(f"/compare/sets?{address('kernel=6.8&from=-30d')}").content.decode()
    assert re.search(r'name="all\.from".*?value="-30d" selected', page, re.DOTALL)
