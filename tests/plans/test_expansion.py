"""Expansion of steps into trials, and every refusal of a plan."""

from typing import Any

import pytest

from benchweb.plans.expansion import PlanError, expanded, validated_steps
from tests.factories import SIZES


def shape(order: str, seed: int = 0) -> list[tuple[str, int | None, int]]:
    return [
        (trial.kind, trial.params.get("message_size_bytes"), trial.repetition)
        for trial in expanded(SIZES, 3, order, seed)
    ]


def test_interleaved_order_runs_every_trial_once_before_any_twice() -> None:
    once = [("tcp_stream", 64), ("tcp_stream", 1024), ("tcp_stream", 16384), ("tcp_rr", None)]
    assert shape("interleaved") == [(*trial, repetition) for repetition in (1, 2, 3) for trial in once]


def test_sequential_order_runs_all_repetitions_of_a_trial_before_the_next() -> None:
    assert shape("sequential")[:4] == [
        ("tcp_stream", 64, 1),
        ("tcp_stream", 64, 2),
        ("tcp_stream", 64, 3),
        ("tcp_stream", 1024, 1),
    ]


def test_shuffled_order_keeps_all_trials_and_repeats_with_its_seed() -> None:
    assert sorted(map(str, shape("shuffled", 7))) == sorted(map(str, shape("interleaved")))
    assert shape("shuffled", 7) == shape("shuffled", 7) != shape("shuffled", 8)


def test_sweeps_over_two_parameters_give_every_combination() -> None:
    steps = [{"kind": "tcp_stream", "params": {"message_size_bytes": [64, 128], "flows": [1, 2, 4]}}]
    pairs = [(t.params["message_size_bytes"], t.params["flows"]) for t in expanded(steps, 1, "sequential")]
    assert pairs == [(64, 1), (64, 2), (64, 4), (128, 1), (128, 2), (128, 4)]


def test_slot_length_is_warmup_and_duration_and_overhead() -> None:
    [trial] = expanded([{"kind": "tcp_rr", "params": {"warmup_seconds": 2, "duration_seconds": 5}}], 1, "sequential")
    assert (trial.measured_seconds, trial.slot_seconds) == (7, 8)


def refused(steps: list[dict[str, Any]], repetitions: int = 1) -> PlanError:
    with pytest.raises(PlanError) as caught:
        validated_steps(steps, repetitions)
    return caught.value


def test_unknown_kind_is_refused_naming_the_kinds_there_are() -> None:
    error = refused([{"kind": "tcp_steam", "params": {}}])
    assert error.field == "steps.0.kind"
    assert "tcp_steam" in error.message and "tcp_stream" in error.message


def test_two_rates_that_exclude_each_other_are_refused_and_one_is_not() -> None:
    error = refused([{"kind": "tcp_stream", "params": {"rate_bps": 9000, "flow_rate_bps": [0, 1000]}}])
    assert error.field == "steps.0.params.flow_rate_bps"
    assert error.message == "rate_bps and flow_rate_bps exclude each other: give one of them."
    assert validated_steps([{"kind": "tcp_stream", "params": {"rate_bps": 0, "flow_rate_bps": 1000}}], 1)


def test_unknown_parameter_is_refused_with_the_nearest_name() -> None:
    error = refused([{"kind": "tcp_stream", "params": {"mesage_size_bytes": 1}}])
    assert error.field == "steps.0.params.mesage_size_bytes"
    assert "did you mean message_size_bytes?" in error.message


def test_udp_message_of_65536_bytes_is_refused_naming_the_limit() -> None:
    error = refused([{"kind": "udp_stream", "params": {"message_size_bytes": [64, 65536]}}])
    assert error.field == "steps.0.params.message_size_bytes"
    assert "65536" in error.message and "65,507" in error.message


@pytest.mark.parametrize("value", ["1", None, True, 1.5, {}, [[1]]])
def test_wrong_types_are_refused(value: bool | dict[str, Any] | float | list[list[int]] | str | None) -> None:
    assert refused([{"kind": "tcp_stream", "params": {"flows": value}}]).field == "steps.0.params.flows"


def test_whole_floats_become_integers_so_that_series_do_not_fork() -> None:
    [step] = validated_steps([{"kind": "tcp_stream", "params": {"flows": [1.0, 2]}}], 1)
    assert [type(value) for value in step["params"]["flows"]] == [int, int]


def test_sweep_of_a_million_trials_is_refused_before_it_is_expanded() -> None:
    sizes = list(range(1, 1001))
    error = refused([{"kind": "tcp_stream", "params": {"message_size_bytes": sizes, "flows": sizes}}])
    assert "1,000,000 trials" in error.message and "10,000" in error.message


def test_sweep_that_names_a_value_twice_is_refused() -> None:
    assert "twice" in refused([{"kind": "tcp_stream", "params": {"flows": [2, 2.0]}}]).message


def test_empty_plans_empty_sweeps_and_too_many_repetitions_are_refused() -> None:
    assert refused([]).field == "steps"
    assert "empty sweep" in refused([{"kind": "tcp_stream", "params": {"flows": []}}]).message
    assert refused([{"kind": "tcp_stream"}], repetitions=0).field == "repetitions"
    assert refused([{"kind": "tcp_stream"}], repetitions=1001).field == "repetitions"
