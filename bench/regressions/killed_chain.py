"""Workers killed anywhere between a result and the message about it: nothing is lost, and what comes twice has one id.

    python3 -m bench.regressions.killed_chain [--kills 20]

A rig of its own (PostgreSQL, Valkey, worker, beat), simulated engines, a webhook's receiver that takes its time and now
and then fails, and a mail server. Each pair has 14 quiet runs behind it. In each round another pair's figure falls to
60 %, its schedule is run, and the worker gets a SIGKILL at a random moment of what follows the run's end: judging,
re-run, ingest, judging, outbox, delivery; an undisturbed round says how long that takes. Ends with status 1 when a fall
is not one alert with one message to each channel, by one id, however often that came.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from bench.fleet.running import RunningFleet
from bench.rig.rig import Rig
from benchweb.ops.running import programs
from benchweb.ops.running.home import PROJECT
from tests.notifications.receivers import HttpReceiver, MailServer, status

QUIET_RUNS = 14
SHARE = 0.6
STEPS = [{"kind": "udp_rr", "params": {"duration_seconds": 0.3}}]
SLOWEST_ANSWER_SECONDS, FAILING_SHARE = 0.3, 0.1
LIMIT_SECONDS = 180.0
UNDER_WAY = ("not launched", "run ")
SECRET = "whsec_" + "A" * 44  # pragma: allowlist secret
# What the dead had taken would be free again by itself, but after half a minute.
_FREE = (
    "UPDATE notifications_delivery SET claimed_until = now() WHERE claimed_until > now() RETURNING id",
    """UPDATE regressions_runjudgement SET queued_at = now() - interval '1 hour'
       WHERE judged_at IS NULL AND tries > 0 RETURNING run_id""",
)
# What failed twice would come again in five minutes only.
_HURRY = "UPDATE notifications_delivery SET next_attempt_at = now() WHERE state = 'failed' RETURNING id"
_UNSETTLED = """
    SELECT 1 FROM runs_run run LEFT JOIN regressions_runjudgement judgement ON judgement.run_id = run.id
      WHERE judgement.judged_at IS NULL
    UNION ALL SELECT 1 FROM regressions_alert WHERE state = 'confirming'
    UNION ALL SELECT 1 FROM notifications_delivery WHERE next_attempt_at IS NOT NULL LIMIT 1
"""
# How far the newest run of a schedule has come.
_STAGE = """
    SELECT coalesce(
      (SELECT min(CASE state WHEN 'sent' THEN 'delivered' ELSE 'in the outbox' END) FROM notifications_delivery
        WHERE event_id LIKE 'alert-' || alert.id || '-%%'),
      'alert ' || alert.state || coalesce(', re-run ' || rerun.state, ''),
      CASE WHEN run.state IN ('pending', 'running') THEN 'run ' || run.state ELSE 'ended, not judged' END)
    FROM schedules_slot slot JOIN runs_run run ON run.campaign_id = slot.campaign_id
    LEFT JOIN regressions_alert alert ON alert.schedule_id = slot.schedule_id
    LEFT JOIN runs_run rerun ON rerun.campaign_id = alert.confirmation_id
    WHERE slot.schedule_id = %s ORDER BY slot.id DESC LIMIT 1
"""


class Chain:
    """The rig, and the process that runs schedules."""

    def __init__(self, stack: ExitStack, pairs: int, chance: random.Random) -> None:
        self.taken: Counter[str] = Counter()
        self.chance = chance
        receiver, self.mail_server = stack.enter_context(HttpReceiver()), stack.enter_context(MailServer())
        receiver.otherwise = self._answer
        self.rig = Rig(
            {
                "BENCHWEB_NOTIFY_PRIVATE_NETWORKS": "127.0.0.0/8",
                "BENCHWEB_SMTP_URL": f"smtp://127.0.0.1:{self.mail_server.port}",
            }
        )
        stack.enter_context(self.rig)
        self.fleet = RunningFleet(Path(self.rig.folder) / "fleet", 2 * pairs)
        stack.callback(self.fleet.stop)
        python = str(programs.management("", "").command()[0])
        self._rows = subprocess.Popen(
            [python, "-m", "bench.regressions.chain_rows"],
            env=self.rig.environment, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        stack.callback(self._rows.kill)
        known = {"engines": self.fleet.engines, "fingerprint": self.fleet.fingerprint, "token": self.fleet.token}
        hook = {"url": receiver.url, "secret": SECRET}
        self.schedules: list[int] = self._ask({**known, "steps": STEPS, "webhook": hook, "mail": "team@example.org"})
        self.rig.start("beat")
        self.rig.start("worker")

    def learn(self) -> None:
        """Write the quiet runs of every pair."""
        for number in range(1, QUIET_RUNS + 1):
            self._ask(self.schedules)
            self._await_measured(number)
        self.wait(lambda: not self.rig.rows(_UNSETTLED), "the judgement of the quiet runs")

    def fall(self, number: int) -> None:
        """Let a pair fall, run its schedule, and wait until its run has ended."""
        self.fleet.slow(2 * number, SHARE)
        self._ask([self.schedules[number]])
        self.wait(lambda: not self.stage(number).startswith(UNDER_WAY), f"the run of pair {number}")

    def stage(self, number: int) -> str:
        """Say how far the pair's alert has come."""
        rows = self.rig.rows(_STAGE, [self.schedules[number]])
        return str(rows[0][0]) if rows else "not launched"

    def kill(self) -> None:
        """Kill -9 the worker, and start the next."""
        self.rig.kill("worker")
        for statement in _FREE:
            self.rig.rows(statement)
        self.rig.start("worker")

    def settle(self) -> None:
        """Wait until all that happened is judged and told."""

        def is_settled() -> bool:
            self.rig.rows(_HURRY)
            return not self.rig.rows(_UNSETTLED)

        self.wait(is_settled, "the end of all chains")

    def wait(self, is_so: Callable[[], bool], what: str) -> float:
        """Wait for something; return how many seconds that took."""
        began = time.monotonic()
        while not is_so():
            if time.monotonic() > began + LIMIT_SECONDS:
                raise TimeoutError(f"{what} did not come within {LIMIT_SECONDS:.0f} s:\n{self.rig.log('worker')}")
            time.sleep(0.05)
        return time.monotonic() - began

    def _await_measured(self, number: int) -> None:
        wanted = number * len(self.schedules)
        self.wait(lambda: self._measured() == wanted, f"run {number} of all pairs")

    def _measured(self) -> int:
        return int(self.rig.rows("SELECT count(*) FROM runs_run WHERE has_figures")[0][0])

    def _ask(self, value: Any) -> Any:
        assert self._rows.stdin and self._rows.stdout
        print(json.dumps(value), file=self._rows.stdin, flush=True)
        return json.loads(self._rows.stdout.readline())

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        time.sleep(self.chance.uniform(0, SLOWEST_ANSWER_SECONDS))
        if self.chance.random() < FAILING_SHARE:
            status(500)(handler)
            return
        self.taken[handler.headers["webhook-id"]] += 1
        status(200)(handler)


def proved(kills: int, seed: int = 1) -> list[str]:
    """Kill, count and print; return what is wrong."""
    chance = random.Random(seed)
    with ExitStack() as stack:
        chain = Chain(stack, kills + 1, random.Random(seed + 1))
        chain.learn()
        chain.fall(kills)
        seconds = chain.wait(lambda: chain.stage(kills) == "delivered", "the undisturbed message")
        print(f"undisturbed: delivered {seconds:.1f} s after the run's end", flush=True)
        stages: Counter[str] = Counter()
        for number in range(kills):
            chain.fall(number)
            time.sleep(chance.uniform(0, seconds))
            stages[chain.stage(number)] += 1
            chain.kill()
        chain.settle()
        mails = Counter(str(mail["Message-ID"]) for mail in chain.mail_server.mails)
        return _faults(chain, kills + 1, stages, mails)


def _faults(chain: Chain, falls: int, stages: Counter[str], mails: Counter[str]) -> list[str]:
    print("killed while: " + ", ".join(f"{stage} {count}" for stage, count in stages.most_common()))
    alerts = Counter(chain.rig.rows("SELECT environment_id, state FROM regressions_alert"))
    states = Counter(state for _, state in alerts)
    print(f"{falls} falls; alerts {dict(states)}, of {len({environment for environment, _ in alerts})} pairs")
    faults = []
    if dict(states) != {"open": falls} or alerts.total() != falls:
        faults.append(f"not one open alert for each fall: {dict(alerts)}")
    for name, ids in (("webhook", chain.taken), ("mail", mails)):
        print(f"{name}: {ids.total()} taken, {len(ids)} ids")
        if len(ids) != falls:
            faults.append(f"{name}: {falls} falls are {len(ids)} messages")
    return faults


def main() -> int:
    """Read the words, and prove it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    faults = proved(arguments.kills, arguments.seed)
    print(*faults or ["Nothing lost, nothing told twice."], sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
