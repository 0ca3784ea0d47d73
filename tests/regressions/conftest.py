"""A pair with quiet nights behind it: to judge them takes longer than what a test then does."""

import pytest

from benchweb.hosts.models import Pair
from tests.factories import make_pair
from tests.regressions.judged import quiet


@pytest.fixture(scope="module")
def judged_pair(rows_of_a_module: None) -> Pair:
    """Make the pair, and twenty nights of one series."""
    pair = make_pair()
    quiet(pair)
    return pair


@pytest.fixture
def quiet_pair(judged_pair: Pair, db: None) -> Pair:
    """Return that pair anew."""
    return Pair.objects.select_related("environment", "source__host", "sink__host").get(pk=judged_pair.pk)
