"""A night's slow changes by REST."""

from tests.api.conftest import ApiClient
from tests.factories import make_pair
from tests.regressions.slow.nights import DAY, LAST, look, part_of, step, write_nights


def test_the_api_tells_a_nights_slow_changes(api: ApiClient) -> None:
    pair = make_pair()
    (series,) = write_nights(pair, step())
    (change,) = look(pair)
    part = part_of(change)
    (item,) = api.get(f"/nights/{LAST}").json()["slow_changes"]
    assert item.pop("title") == f"{pair}: TCP stream · Throughput, received 9.41 → 9.10 Gbit/s"
    assert item == {
        "environment": pair.environment_id,
        "host": None,
        "pair": pair.pk,
        "series_count": 1,
        "series": series.pk,
        "kind": "tcp_stream",
        "metric": "throughput_bps",
        "unit": "bit/s",
        "identity": {},
        "is_drift": False,
        "since": str(part.since),
        "nights": 90,
        "before": part.before,
        "after": part.after,
        "difference_ratio": part.difference_ratio,
        "interval_low_ratio": part.interval_low_ratio,
        "interval_high_ratio": part.interval_high_ratio,
        "p": part.p,
    }
    assert api.get(f"/nights/{LAST + DAY}").json()["slow_changes"] == []
