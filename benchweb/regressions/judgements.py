"""Find the runs to judge, which ended and are summed up, and give them to workers. For the tick."""

import time
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from benchweb.common.celery_client import send_on_commit
from benchweb.common.in_parts import in_parts
from benchweb.common.rows import fetch_column, literals
from benchweb.regressions.judge import judge_run
from benchweb.regressions.models import RunJudgement
from benchweb.runs.models import OPEN_STATES, Run

TASK = "workers.tasks.judge_runs"
# Runs of before are history: nobody wants to be told of them, and they are judged only where somebody asks for it.
LOOK_BACK = timedelta(days=2)
# A worker that died with them has the runs given to another; what can't be judged is tried again ever later.
GIVE_AGAIN_AFTER = timedelta(seconds=20)
_AT_ONCE = 200
# No age ends the tries of what was imported long after it was measured: half a day.
_MOST_TRIES_OF_OLD = 20
_OF_A_TASK = 10
# Two days of runs are looked through: not each second.
_PAUSE_SECONDS = 3.0
_last = [-_PAUSE_SECONDS]

_FIND = f"""
    INSERT INTO regressions_runjudgement (run_id, queued_at, tries)
    SELECT run.id, statement_timestamp() - %(again)s, 0
    FROM runs_run run
    JOIN hosts_pair pair ON pair.id = run.pair_id
    JOIN hosts_environment environment ON environment.id = pair.environment_id
    WHERE run.finished_at > statement_timestamp() - %(look_back)s AND run.has_figures
      AND run.state NOT IN ({literals(OPEN_STATES)}) AND NOT environment.is_synthetic
      AND NOT EXISTS (SELECT FROM regressions_runjudgement WHERE run_id = run.id)
    ORDER BY run.id LIMIT %(most)s
    ON CONFLICT DO NOTHING RETURNING run_id
"""  # noqa: S608  (states of our own)
# The pause doubles up to 43 minutes.
_WAITING = """
    SELECT judgement.run_id
    FROM regressions_runjudgement judgement JOIN runs_run run ON run.id = judgement.run_id
    WHERE judgement.judged_at IS NULL AND run.has_figures
      AND (run.finished_at > statement_timestamp() - %(look_back)s
        OR (NOT judgement.is_told AND judgement.tries < %(most_tries)s))
      AND judgement.queued_at <= statement_timestamp() - %(again)s * power(2, least(greatest(tries - 1, 0), 7))
    ORDER BY judgement.run_id LIMIT %(most)s
    FOR UPDATE OF judgement SKIP LOCKED
"""


def send_waiting() -> int:
    """Give the runs that ended to workers, to be judged; return how many. For the tick."""
    if time.monotonic() - _last[0] < _PAUSE_SECONDS:
        return 0
    _last[0] = time.monotonic()
    return give_waiting()


def request_judgement(run: Run) -> None:
    """Let a run that was measured elsewhere be judged once it is summed up; nobody is told of one of long ago."""
    now = timezone.now()
    is_told = run.finished_at is not None and run.finished_at > now - LOOK_BACK
    RunJudgement.objects.create(run=run, queued_at=now - GIVE_AGAIN_AFTER, is_told=is_told)


def leave_unjudged(run: Run) -> None:
    """Let no change be looked for in a run."""
    now = timezone.now()
    RunJudgement.objects.create(run=run, queued_at=now, judged_at=now)


@transaction.atomic
def give_waiting() -> int:
    """Find what ended, and give it and what was given long ago to workers; return how many runs."""
    fetch_column(_FIND, {"again": GIVE_AGAIN_AFTER, "look_back": LOOK_BACK, "most": _AT_ONCE})
    bounds = {"again": GIVE_AGAIN_AFTER, "look_back": LOOK_BACK, "most": _AT_ONCE, "most_tries": _MOST_TRIES_OF_OLD}
    ids = sorted(fetch_column(_WAITING, bounds))
    RunJudgement.objects.filter(pk__in=ids).update(queued_at=timezone.now(), tries=F("tries") + 1)
    for first in range(0, len(ids), _OF_A_TASK):
        send_on_commit(TASK, ids[first : first + _OF_A_TASK])
    return len(ids)


def judge_all(run_ids: list[int]) -> int:
    """Judge these runs, each by itself: one that can't be judged keeps no other from it; return how many were."""
    return sum(in_parts([run_id], lambda ids: int(judge_run(ids[0]))) for run_id in run_ids)
