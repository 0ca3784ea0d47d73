"""Workers killed while they send notifications: nothing is lost, and what comes twice has one id.

    python3 -m bench.killed_notifiers [--kills 20] [--events 3]

A rig of its own (PostgreSQL, Valkey, worker, beat), a real HTTP receiver that takes its time and now and then fails,
and a real mail server. In each round events happen, and the worker gets a SIGKILL at a random moment after. Ends with
status 1 when a message is lost, or known by two ids.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler

from bench.rig.rig import Rig
from benchweb.ops.running import programs
from benchweb.ops.running.home import PROJECT
from tests.notifications.receivers import HttpReceiver, MailServer, status

SLOWEST_ANSWER_SECONDS, FAILING_SHARE = 0.3, 0.1
SETTLE_SECONDS = 120.0
_TELL = """
import json, sys, django
django.setup()
from datetime import UTC, datetime
from benchweb.notifications.channels import channel_create
from benchweb.notifications.kinds.kind import ChannelSettings
from benchweb.notifications.events import Event
from benchweb.notifications.routing import notify
from benchweb.notifications.services import RuleValues, rule_create
hook = ChannelSettings("webhook", url=sys.argv[1], secret="whsec_" + "A" * 44)
mail = ChannelSettings("email", to=["ann@example.org"])
for name, settings in (("hook", hook), ("mail", mail)):
    rule_create(RuleValues(name=name, channel=channel_create(name=name, settings=settings)))
print("ready", flush=True)
for line in sys.stdin:
    event = Event(line.strip(), "change", "open", "warning", "Throughput fell", "", "/", datetime.now(UTC))
    print(len(notify(event)), flush=True)
"""


def main() -> int:
    """Kill, count and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--events", type=int, default=3, help="of each round")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    with HttpReceiver() as receiver, MailServer() as mail_server:
        taken: Counter[str] = Counter()
        receiver.otherwise = lambda handler: _answer(handler, chance, taken)
        settings = {
            "BENCHWEB_NOTIFY_PRIVATE_NETWORKS": "127.0.0.0/8",
            "BENCHWEB_SMTP_URL": f"smtp://127.0.0.1:{mail_server.port}",
        }
        with Rig(settings) as rig:
            _kill_workers(rig, receiver.url, arguments.kills, arguments.events, chance)
            seconds = _settled(rig)
            states = Counter(state for (state,) in rig.rows("SELECT state FROM notifications_delivery"))
            attempts = rig.rows("SELECT count(*), count(finished_at) FROM notifications_deliveryattempt")[0]
        mails = Counter(str(mail["Message-ID"]) for mail in mail_server.mails)
    expected = arguments.kills * arguments.events
    print(f"{arguments.kills} kills, {expected} events to 2 channels; settled {seconds:.0f} s after the last")
    print(f"states {dict(states)}; {attempts[0]} attempts, {attempts[0] - attempts[1]} of them cut off by a kill")
    for name, ids in (("webhook", taken), ("mail", mails)):
        print(f"{name}: {ids.total()} taken, {len(ids)} ids, {expected - len(ids)} lost")
    return int(states != {"sent": 2 * expected} or {len(taken), len(mails)} != {expected})


def _answer(handler: BaseHTTPRequestHandler, chance: random.Random, taken: Counter[str]) -> None:
    time.sleep(chance.uniform(0, SLOWEST_ANSWER_SECONDS))
    if chance.random() < FAILING_SHARE:
        status(500)(handler)
        return
    taken[handler.headers["webhook-id"]] += 1
    status(200)(handler)


def _kill_workers(rig: Rig, url: str, kills: int, events: int, chance: random.Random) -> None:
    python = str(programs.management("", "").command()[0])
    teller = subprocess.Popen(
        [python, "-c", _TELL, url],
        env=rig.environment,
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert teller.stdin and teller.stdout and teller.stdout.readline() == "ready\n"
    rig.start("beat")
    for number in range(kills):
        attempts = _attempts(rig)
        rig.start("worker")
        for event in range(events):
            print(f"event-{number}-{event}", file=teller.stdin, flush=True)
            assert json.loads(teller.stdout.readline()) == 2
        _await_attempt(rig, attempts)
        time.sleep(chance.uniform(0, 2.5 * SLOWEST_ANSWER_SECONDS))
        rig.kill("worker")
        # What the dead had claimed would be free again in 30 s only.
        rig.rows("UPDATE notifications_delivery SET claimed_until = now() WHERE claimed_until > now() RETURNING id")
    teller.stdin.close()
    teller.wait()
    rig.start("worker")


def _await_attempt(rig: Rig, attempts: int) -> None:
    """Wait until the worker is at it."""
    give_up_at = time.monotonic() + SETTLE_SECONDS
    while _attempts(rig) == attempts:
        if time.monotonic() > give_up_at:
            raise RuntimeError(rig.log("worker"))
        time.sleep(0.01)


def _attempts(rig: Rig) -> int:
    return int(rig.rows("SELECT count(*) FROM notifications_deliveryattempt")[0][0])


def _settled(rig: Rig) -> float:
    began = time.monotonic()
    while rig.rows("SELECT 1 FROM notifications_delivery WHERE next_attempt_at IS NOT NULL LIMIT 1"):
        if time.monotonic() > began + SETTLE_SECONDS:
            break
        # What failed twice would come again in five minutes only.
        rig.rows("UPDATE notifications_delivery SET next_attempt_at = now() WHERE state = 'failed' RETURNING id")
        time.sleep(0.2)
    return time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
