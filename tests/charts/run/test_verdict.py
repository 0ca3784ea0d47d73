"""The verdict: counts, best figures, warnings."""

import re
from pathlib import Path

from benchweb.catalog import catalog
from benchweb.charts.run.verdict import Headline, Setting, verdict
from benchweb.web.tags.show import settings_words
from tests.charts.rows import stream, trial


def test_the_best_message_size_is_told_with_its_count_and_spread() -> None:
    rows = [*stream(64, 1.0, 2.0, 3.0), *stream(1024, 90.0, 100.0, 110.0), *stream(16384, 50.0, 50.0, 50.0)]
    assert verdict(rows).headlines == [
        Headline(
            kind="tcp_stream",
            kind_label="TCP stream",
            metric="throughput_bps",
            label="Throughput, received",
            value=100.0,
            unit="bit/s",
            n=3,
            extremes=(90.0, 110.0),
            at=[Setting(name="message_size_bytes", label="Message size", value=1024, unit="B")],
        )
    ]


def test_a_rate_is_told_with_what_was_lost_at_the_same_size_not_at_another() -> None:
    rows = [
        trial("udp_stream", message_size_bytes=size, metrics={"throughput_bps": rate, "loss_ratio": loss})
        for size, rate, loss in [
            (64, 1.0, 0.0),
            (64, 2.0, 0.001),
            (1400, 80.0, 0.3),
            (1400, 90.0, 0.4),
            (1400, 91.0, 0.2),
        ]
    ]
    (headline,) = verdict(rows).headlines
    assert headline.loss is not None
    assert (headline.value, headline.loss.value, headline.loss.n, headline.loss.extremes) == (90.0, 0.3, 3, (0.2, 0.4))
    (stream_headline,) = verdict(stream(64, 1.0)).headlines
    assert stream_headline.loss is None


def test_most_lost_without_a_rate_is_said_to_be_of_the_sender_and_with_one_it_is_not() -> None:
    def loss(ratio: float, **params: int) -> Headline | None:
        rows = [trial("udp_stream", **params, metrics={"throughput_bps": 1e9, "loss_ratio": ratio}) for _ in range(3)]
        return verdict(rows).headlines[0].loss

    unpaced, paced, by_flow = loss(0.807), loss(0.807, rate_bps=10**9), loss(0.807, flow_rate_bps=10**9)
    assert unpaced is not None
    assert paced is not None
    assert by_flow is not None
    assert (unpaced.is_of_unpaced, paced.is_of_unpaced, by_flow.is_of_unpaced) == (True, False, False)
    little = loss(0.3)
    assert little is not None
    assert not little.is_of_unpaced


def test_a_limit_that_every_trial_had_is_told_with_the_figure() -> None:
    size, limit = 1400, 10_000_000
    rows = [
        trial(
            "udp_stream", message_size_bytes=size, rate_bps=limit, flows=1, metrics={"throughput_bps": 9.99e6 + number}
        )
        for number in range(3)
    ]
    (headline,) = verdict(rows).headlines
    assert [(each.name, each.value) for each in headline.at] == [("message_size_bytes", size), ("rate_bps", limit)]
    assert settings_words(headline.at) == ["1,400 B", "rate limit 10 Mbit/s"]


def test_the_trials_are_counted_by_state() -> None:
    rows = [*stream(64, 1.0, 2.0), trial(state="failed", reason="peer lost"), trial(state="cancelled")]
    assert verdict(rows).trials == "2 of 4 trials finished, 1 failed, 1 cancelled"


def test_one_trial_is_told_in_the_singular() -> None:
    assert verdict(stream(64, 1.0)).trials == "1 of 1 trial finished"


def test_two_ends_on_one_host_are_a_warning() -> None:
    rows = [trial(metrics={"throughput_bps": 1.0}, flags=["same_host"]) for _ in range(2)]
    assert verdict(rows).warnings == ["both ends on one host: no wire was measured"]


def test_a_flag_of_some_results_says_how_many_and_an_unknown_one_is_shown_as_words() -> None:
    rows = [trial(metrics={"throughput_bps": 1.0}, flags=["clock_stepped"]), *stream(64, 1.0), trial()]
    assert verdict(rows).warnings == ["clock stepped (in 1 of 2 results)"]


def test_every_flag_that_the_engine_raises_has_its_sentence() -> None:
    sources = Path(__file__).resolve().parents[3].joinpath("engine", "crates").glob("*/src/**/*.rs")
    raised = {flag for path in sources for flag in re.findall(r'flags\.push\("(\w+)"', path.read_text())}
    assert "same_host" in raised
    assert raised - set(catalog().flags) == set()


def test_a_run_without_results_has_no_headline() -> None:
    found = verdict([trial(), trial()])
    assert (found.headlines, found.warnings, found.trials) == ([], [], "0 of 2 trials finished, 2 pending")
