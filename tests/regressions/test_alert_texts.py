"""An alert is named by the figure that people know, by levels where per cent say nothing; messages say the rest."""

from datetime import timedelta

import pytest
from django.utils import timezone

from benchweb.hosts.models import Endpoint, Host, Pair
from benchweb.labels import label_add
from benchweb.notifications.models import Delivery
from benchweb.notifications.services import RuleValues, rule_create
from benchweb.regressions.absence.missing import check_absences
from benchweb.regressions.alert_details import measure_lines
from benchweb.regressions.alert_texts import alert_title, figure_name
from benchweb.regressions.judge import judge_run
from benchweb.regressions.models import Alert
from benchweb.results.run_summaries import write_figures
from tests.factories import make_channel, make_environment, make_pair, make_plan, make_schedule
from tests.nights import add_values, measured
from tests.regressions.judged import NOISE, judged, latency_night, level, night, quiet, slower_with_jitter

pytestmark = pytest.mark.django_db
QUIET = 14


def udp_night(pair: Pair, number: int, *, rate: float = 1.0, loss: float = 0.0, jitter: float = 1.0) -> None:
    """Measure and judge a night of datagrams: shares of the usual rate and jitter, and what was lost."""
    noise = NOISE[number % len(NOISE)]
    run = measured(pair, night(number), level(number, rate), kind="udp_stream")
    for metric, value in (("loss_ratio", loss), ("jitter_seconds", 20e-6 * jitter * (1 + noise))):
        add_values(run, pair, night(number), value, kind="udp_stream", metric=metric)
    write_figures()
    assert judge_run(run.pk)


def test_the_headline_names_an_alert_before_a_larger_ratio() -> None:
    pair = make_pair()
    for number in range(QUIET):
        udp_night(pair, number)
    for number in range(QUIET, QUIET + 2):
        udp_night(pair, number, rate=0.6, jitter=19)
    alert = Alert.objects.get()
    assert alert.series.count() == 2
    assert alert_title(alert).startswith(f"{pair}: UDP stream · Throughput, received −4")
    assert alert_title(alert).endswith(" and 1 more series")


def test_a_latency_that_multiplies_is_told_by_its_levels() -> None:
    pair = make_pair()
    for number in range(QUIET):
        latency_night(pair, number, 12e-6)
    for number in range(QUIET, QUIET + 2):
        latency_night(pair, number, 5.6e-3)
    alert = Alert.objects.get()
    assert "12.0 µs → 5.58 ms" in alert_title(alert)
    assert "%" not in alert_title(alert)
    [line] = measure_lines(alert, [alert.series.get().pk])
    assert line.endswith(": 12.0 µs → 5.58 ms")


def test_a_loss_where_there_was_none_is_told_by_its_levels() -> None:
    pair = make_pair()
    for number in range(QUIET):
        udp_night(pair, number)
    for number in range(QUIET, QUIET + 2):
        udp_night(pair, number, loss=0.02)
    assert alert_title(Alert.objects.get()).endswith("0 → 2.00 %")


def text_of(transition: str) -> str:
    payloads = Delivery.objects.order_by("pk").values_list("payload", flat=True)
    return next(str(payload["data"]["text"]) for payload in payloads if payload["data"]["transition"] == transition)


def test_a_message_says_where_since_when_and_from_which_level_to_which() -> None:
    rule_create(RuleValues(name="all", channel=make_channel()))
    pair = make_pair(environment="rack 4")
    quiet(pair, QUIET)
    _first, second, *_ = judged(pair, [0.6] * 2, first=QUIET)
    text = text_of("open").splitlines()
    plan = Alert.objects.get().plan
    assert text[:5] == ["open", f"Pairs: {pair}", "Environment: rack 4", f"Plan: {plan}", "Since 2026-12-05 02:00 UTC"]
    assert text[5].startswith("TCP stream · Throughput, received: 1.00 Gbit/s → 598 Mbit/s (−40.")
    assert text[6] == f"Measured again by run {second.pk}, the next one of the same plan"
    judged(pair, [1.0] * 3, first=QUIET + 2)
    assert text_of("recovered").splitlines()[1].startswith("From 2026-12-05 02:00 UTC to ")


def test_a_measure_that_joins_is_told_with_its_levels() -> None:
    rule_create(RuleValues(name="all", channel=make_channel()))
    slower_with_jitter(make_pair())
    # The message that it opened has not been sent: it tells of this as well.
    lines = text_of("open").splitlines()
    second = lines[lines.index("another measure got worse") + 1]
    assert second.startswith("UDP stream · Jitter")
    assert "ms → 1.03 ms" in second or "1.00 → 1.03 ms" in second


def test_a_dead_host_is_heard_of_by_its_environment_and_its_label() -> None:
    pair = make_pair(environment="rack 4")
    label_add(Host.objects.filter(pk=pair.sink.host_id), "rack-4")
    environment = pair.environment
    for name, values in (
        ("by environment", {"environment": environment}),
        ("by label", {"host_label": "rack-4"}),
        ("of another", {"environment": make_environment("elsewhere")}),
    ):
        rule_create(RuleValues(name=name, channel=make_channel(name), **values))
    since = timezone.now() - timedelta(minutes=20)
    Endpoint.objects.filter(pk=pair.sink_id).update(unreachable_since=since, status_reason="connection refused")
    assert check_absences() == 1
    rows = Delivery.objects.order_by("channel__name").values_list("channel__name", "payload")
    assert [name for name, _ in rows] == ["by environment", "by label"]
    data = rows[0][1]["data"]
    assert (data["environment_id"], data["host_ids"]) == (environment.pk, [pair.sink.host_id])
    assert "Environment: rack 4" in data["text"] and "Reason: connection refused" in data["text"]


def test_a_schedule_without_results_names_what_it_runs_on() -> None:
    pair = make_pair(environment="rack 4")
    rule_create(RuleValues(name="all", channel=make_channel(), environment=pair.environment))
    schedule = make_schedule(target={"pairs": [pair.pk]}, plan=make_plan(name="nightly"))
    at = timezone.now() - timedelta(hours=1)
    schedule.slots.create(at=at, state="failed", reason="no engine answers", claimed_at=at)
    assert check_absences() == 1
    text = text_of("open")
    assert f"Pairs: {pair}" in text and "Environment: rack 4" in text and "Plan: nightly" in text
    assert "Reason: no engine answers" in text


@pytest.mark.parametrize(
    ("kind", "identity", "words"),
    [
        ("tcp_stream", {"message_size_bytes": 4096}, "TCP stream 4 KiB · Throughput, received"),
        ("tcp_rr", {}, "TCP request/response · Throughput, received"),
        ("tcp_rr", {"response_size_bytes": 65536}, "TCP request/response response size 64 KiB · Throughput, received"),
    ],
)
def test_a_limit_names_the_size_of_its_test_and_of_several_those_that_were_chosen(
    kind: str, identity: dict[str, int], words: str
) -> None:
    assert figure_name(kind, "throughput_bps", identity) == words
