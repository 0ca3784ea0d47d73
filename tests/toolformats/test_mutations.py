"""A few mutated outputs of each family; `bench.toolformats.mutations` tries as many as one likes."""

import random
from pathlib import Path

import pytest

from bench.toolformats.mutations import by_family, tried

FAMILIES = by_family(Path(__file__).parent / "outputs")


@pytest.mark.parametrize("name", FAMILIES)
def test_no_mutated_output_is_a_crash(name: str) -> None:
    _, failed = tried(FAMILIES[name], 300, random.Random(name))
    assert failed == 0
