"""The leases that a process holds, and what becomes of them when it ends."""

import logging
from pathlib import Path

import pytest
import redis

from benchweb.runs import live
from benchweb.runs.queueing.claims import begin, claim
from tests.factories import begun, make_run
from workers.runs import leases as module
from workers.runs.leases import Keeper

pytestmark = pytest.mark.django_db


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch) -> Keeper:
    # The test's transaction is the connection's.
    monkeypatch.setattr(module, "let_database_go", lambda: None)
    return Keeper()


def test_a_process_that_ends_gives_up_what_it_holds_and_nothing_brings_it_back(keeper: Keeper) -> None:
    run = make_run()
    begun(run, "w1")
    with keeper.held("w1", run.pk) as lease:
        keeper.give_up()
        assert lease.lost
        keeper._beat_once([lease])
        claimed = claim(run_id=run.pk, owner="w2")
        assert claimed is not None and claimed.taken_over


def test_a_run_that_was_claimed_while_a_process_ends_is_given_up_too(keeper: Keeper) -> None:
    run = make_run()
    claimed = claim(run_id=run.pk, owner="w1")
    assert claimed is not None
    keeper.give_up()
    with keeper.held("w1", run.pk) as lease:
        assert lease.lost
        assert not begin(claimed=claimed)
        following = claim(run_id=run.pk, owner="w2")
        assert following is not None and begin(claimed=following)


def test_that_redis_is_away_is_said_once_until_it_is_back(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    nobody = redis.Redis(unix_socket_path=str(tmp_path / "nobody.sock"))
    monkeypatch.setattr(live, "client", lambda: nobody)
    with caplog.at_level(logging.WARNING, logger=module.__name__):
        for _ in range(3):
            with pytest.raises(redis.ConnectionError) as away:
                keeper._listen_once()
            keeper._tell_away(away.value)
    told = [record for record in caplog.records if "wait for the heartbeat" in record.getMessage()]
    assert len(told) == 1
