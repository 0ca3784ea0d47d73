"""Log-ins that nobody has failed before."""

import pytest
from django.core.cache import caches


@pytest.fixture(autouse=True)
def uncounted() -> None:
    """Forget what other tests tried: the served site counts in the same broker."""
    caches["default"].clear()
