"""The catalog itself: whole, and the same for Rust and Python."""

import json
import subprocess
from pathlib import Path

import pytest
from django.utils import translation
from jsonschema import Draft202012Validator

from benchweb.catalog import ParameterError, catalog, validated_params
from benchweb.catalog.document import CATALOG_FILE
from benchweb.results.ingest import parsed_result

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "engine" / "target" / "release" / "benchweb-engine"
KINDS = list(json.loads(CATALOG_FILE.read_text())["kinds"])


def test_the_engine_was_built_with_the_catalog_that_python_reads() -> None:
    printed = subprocess.run([ENGINE, "catalog"], capture_output=True, check=True, timeout=60).stdout
    assert json.loads(printed) == json.loads(CATALOG_FILE.read_text())


@pytest.mark.parametrize("kind", KINDS)
def test_every_default_meets_its_own_schema(kind: str) -> None:
    for parameter in catalog().kinds[kind].parameters.values():
        Draft202012Validator.check_schema(parameter.schema)
        Draft202012Validator(parameter.schema).validate(parameter.default)


@pytest.mark.parametrize("kind", KINDS)
def test_charts_headline_and_live_metric_are_among_the_kinds_own(kind: str) -> None:
    entry = catalog().kinds[kind]
    assert entry.headline in entry.metrics and entry.live in entry.metrics
    for chart in entry.charts:
        assert set(chart.metrics) <= set(entry.metrics)
        assert chart.form == "percentiles" or chart.x in entry.parameters


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_result_of_a_kind_is_taken_in_with_its_headline(kind: str) -> None:
    document = json.loads((ROOT / "engine" / "schema" / "examples" / f"{kind}.json").read_text())
    result = parsed_result(kind, document)
    assert result.metrics[catalog().kinds[kind].headline] > 0
    assert set(document["metrics"]) <= set(catalog().kinds[kind].metrics)
    assert set(document["params"]) == set(catalog().kinds[kind].parameters)


def test_every_metric_names_a_known_direction_and_a_unit() -> None:
    for metric in catalog().metrics.values():
        assert metric.better in {"higher", "lower", "neutral"} and metric.unit


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("en", "message_size_bytes is 'a', but must be of type integer, in B."),
        ("zh-hans", "message_size_bytes 为 'a'，但类型必须是 integer，单位为 B。"),
    ],
)
def test_a_value_of_another_type_is_refused_with_its_unit_in_the_reader_s_language(language: str, message: str) -> None:
    with translation.override(language), pytest.raises(ParameterError) as refusal:
        validated_params(catalog().kinds["udp_stream"], {"message_size_bytes": "a"})
    assert refusal.value.message == message
