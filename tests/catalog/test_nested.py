"""A test as a parameter of another: ping's load."""

import pytest

from benchweb.catalog import ParameterError, catalog, nested_text, storable_json, validated_params
from benchweb.plans.expansion import PlanError, expanded, validated_steps
from benchweb.web.plans.sweep_text import parsed_values, spelled

LOAD = {"kind": "tcp_rr", "params": {"flows": 100, "request_size_bytes": 32}}


def test_no_load_is_the_default_however_it_is_written() -> None:
    ping = catalog().kinds["ping"]
    assert validated_params(ping, {"load": "none"}) == validated_params(ping, {"load": None}) == {"load": None}
    assert ping.identity({"load": None}) == {}


@pytest.mark.parametrize(
    ("load", "field"),
    [
        ({"kind": "tcp_rr", "params": {"flows": 0}}, "load.params.flows"),
        ({"kind": "tcp_rr", "params": {"colour": 1}}, "load.params.colour"),
        ({"kind": "ping"}, "load.kind"),
        ({"kind": ["tcp_rr"]}, "load.kind"),
        ({"kind": "tcp_rr", "flows": 1}, "load"),
        (7, "load"),
    ],
)
def test_a_fault_within_the_load_is_named_with_its_whole_path(load: object, field: str) -> None:
    with pytest.raises(PlanError) as refusal:
        validated_steps([{"kind": "ping", "params": {"load": load}}], 1)
    assert refusal.value.field == f"steps.0.params.{field}"


def test_a_sweep_over_loads_takes_none_of_them_apart() -> None:
    steps = validated_steps([{"kind": "ping", "params": {"load": [None, LOAD], "count": [1, 2]}}], 1)
    assert [(trial.params["load"], trial.params["count"]) for trial in expanded(steps, 1, "interleaved")] == [
        (None, 1),
        (None, 2),
        (LOAD, 1),
        (LOAD, 2),
    ]


def test_a_series_is_told_by_the_loads_own_identity() -> None:
    ping = catalog().kinds["ping"]
    spelled_out = {"kind": "tcp_rr", "params": {"request_size_bytes": 32, "flows": 100, "burst": 0}}
    timed = {"kind": "tcp_rr", "params": {**LOAD["params"], "duration_seconds": 3}}  # type: ignore[dict-item]
    assert ping.identity({"load": LOAD}) == ping.identity({"load": spelled_out}) == ping.identity({"load": timed})
    assert ping.identity({"load": LOAD}) == {"load": LOAD}


def test_a_load_doubles_the_slot_and_makes_the_trial_exclusive() -> None:
    ping = catalog().kinds["ping"]
    params = {"count": 50, "probe_interval_seconds": 0.1}
    assert (ping.measured_seconds(params), ping.slot_seconds(params), ping.exclusivity_of(params)) == (5, 7, "normal")
    loaded = {**params, "load": LOAD}
    assert (ping.measured_seconds(loaded), ping.slot_seconds(loaded)) == (10, 17)
    assert ping.exclusivity_of(loaded) == "exclusive"


def test_a_load_is_typed_as_words_and_as_json() -> None:
    load = catalog().kinds["ping"].parameters["load"]
    words = "tcp_rr flows=100 request_size_bytes=32"
    assert parsed_values(load, words) == parsed_values(load, nested_text(LOAD)) == LOAD
    assert parsed_values(load, f"none; {words}") == [None, LOAD]
    assert spelled(load, [None, LOAD]) == f"none; {words}"
    assert (spelled(load, None), nested_text(None)) == ("none", "none")
    for text in ["{", "tcp_rr flows"]:
        with pytest.raises(ParameterError):
            parsed_values(load, text)


@pytest.mark.parametrize("text", [r'"\u0000"', r'"a\\\u0000"', r'{"\u0000": 1}', r'"\ud800"'])
def test_text_that_no_database_stores_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        storable_json(text)


def test_a_backslash_before_the_letters_of_a_nul_is_harmless() -> None:
    assert storable_json(r'"a\\u0000b"') == r"a\u0000b"
