"""What tests of many refusals need."""

import pytest
from django.http import HttpResponse


@pytest.fixture
def plain_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer refusals as ever but for their page, which takes longest and which nobody reads here."""

    def plain(*_: object, status: int) -> HttpResponse:
        return HttpResponse(status=status)

    monkeypatch.setattr("benchweb.web.access.refusals.render", plain)
