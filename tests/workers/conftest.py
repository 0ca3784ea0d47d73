"""What tests of workers share."""

import pytest

from workers.engines import discretion


@pytest.fixture(autouse=True)
def quick_to_disclose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the answer for an address that nothing is told of come soon; its own test takes the time that it has."""
    monkeypatch.setattr(discretion, "UNDISCLOSED_SECONDS", 0.0)
