"""Which lines a history draws, and how they are named."""

import pytest

from benchweb.catalog import catalog
from benchweb.charts.history.charts import DrawnHistory, history
from benchweb.charts.history.query import HistoryQuery, history_query
from benchweb.hosts.models import Host
from tests.charts.history_rows import DAY, NIGHT, past_run
from tests.factories import make_endpoint, make_pair, make_plan

pytestmark = pytest.mark.django_db
STREAM = [{"kind": "tcp_stream", "params": {"message_size_bytes": 64}}]


def asked(**values: str) -> HistoryQuery:
    return history_query(values, now=NIGHT + 60 * DAY)


def look() -> DrawnHistory:
    return history(asked(), catalog().kinds["tcp_stream"])


def labels(found: DrawnHistory) -> list[str]:
    return [line.label for line in found.charts[0].series]


def test_a_host_that_was_renamed_since_is_called_by_its_new_name() -> None:
    pair = make_pair()
    past_run(make_plan(steps=STREAM), pair, NIGHT, {"throughput_bps": 1e9})
    before = labels(look())
    Host.objects.filter(pk=pair.source.host_id).update(name="renamed")
    assert labels(look()) != before
    assert "renamed" in labels(look())[0]


def test_a_pair_that_was_measured_since_has_its_line_and_its_points() -> None:
    plan, pair = make_plan(steps=STREAM), make_pair()
    past_run(plan, pair, NIGHT, {"throughput_bps": 1e9})
    assert len(look().lines) == 1
    other = make_pair(source=make_endpoint(), sink=make_endpoint(), environment="other")
    past_run(plan, other, NIGHT, {"throughput_bps": 2e9})
    found = look()
    assert [[point[1] for point in line.measured] for line in found.charts[0].series] == [[1e9], [2e9]]
