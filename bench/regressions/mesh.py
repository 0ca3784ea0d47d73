"""Regressions end to end: meshes of four and three real engines, schedules every minute, and links that are shaped.

    python3 -m bench.regressions.mesh                  40 slots at their real times, 41 minutes
    python3 -m bench.regressions.mesh --moved-clock    the clock is moved on to the next slot once one is judged

PostgreSQL, Valkey, worker and beat as `up` starts them, a mail server and a webhook's receiver; nothing is faked but,
with --moved-clock, the wall clock of these. In the mesh of four the uplink of a host is shaped to 60 % by `tc tbf`, and
later the direct link of two hosts, which ends after 26 slots; the other is left alone. Each fault must be one alert,
suspected in its first slot, confirmed by a re-run, with the right name, told once to each channel, and once when it has
recovered; the other mesh none. Prints what was found, told and measured; the status is 1 when something is missing or
too much.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from bench.faults.clocks import Clock
from bench.regressions import mesh_story
from bench.regressions.mesh_network import LINK_MBIT, Mesh, inside, mesh
from bench.regressions.mesh_story import Expected, Story
from bench.rig.rig import Rig
from bench.truth.ground.topology import namespace
from tests.notifications.receivers import HttpReceiver, MailServer

SHARE = 0.6
# Counted from 0: a host's, whose uplink is shaped.
SHAPED_HOST = 2
SECRET = "whsec_" + "A" * 44  # pragma: allowlist secret
# What a slot may take with its runs, re-runs, judging and messages.
SLOT_LIMIT_SECONDS = 150.0
EVERY_MINUTE = "* * * * *"
Action = tuple[str, Callable[[Mesh], None]]


def _streams(seconds: float) -> Sequence[Mapping[str, Any]]:
    return ({"kind": "tcp_stream", "params": {"duration_seconds": seconds, "warmup_seconds": 0.1}},)


_UPLINK_SHAPED: Action = ("uplink shaped", lambda mesh: mesh.shape_uplink(SHAPED_HOST, SHARE * LINK_MBIT))
_UPLINK_BACK: Action = ("uplink as before", lambda mesh: mesh.shape_uplink(SHAPED_HOST, LINK_MBIT))
_DIRECT_SHAPED: Action = ("direct link shaped", lambda mesh: mesh.shape_direct(SHARE * LINK_MBIT))
_DIRECT_BACK: Action = ("direct link as before", lambda mesh: mesh.shape_direct(LINK_MBIT))
_SHAPED = "shaped-{}".format


@dataclass(frozen=True)
class Course:
    """How many slots there are, in which of them the shaped mesh has runs too, and what happens to it before which."""

    slots: int
    shaped_slots: int
    actions: Mapping[int, Action]
    expected: Sequence[Expected]
    steps: Sequence[Mapping[str, Any]]
    control_hosts: int
    # So many slots end with their runs: what they show is judged while the next are measured.
    unjudged_slots: int = 0
    # A smaller change is told of nothing; None: as usual.
    floor_ratio: float | None = None
    slot_limit_seconds: float = SLOT_LIMIT_SECONDS
    cron: str = EVERY_MINUTE


LONG = Course(
    slots=40,
    shaped_slots=26,
    actions={13: _UPLINK_SHAPED, 16: _UPLINK_BACK, 20: _DIRECT_SHAPED, 22: _DIRECT_BACK},
    expected=(
        Expected("host", 13, 19, (_SHAPED(3),), (_SHAPED(1), _SHAPED(2), _SHAPED(4))),
        Expected("pair", 20, 25, (_SHAPED(1), _SHAPED(2)), (_SHAPED(3), _SHAPED(4))),
    ),
    steps=_streams(1.0),
    control_hosts=3,
)
# Of three to four minutes, for the tests: other tests beside it make real changes of 6 % on a paced link.
SHORT = Course(
    slots=17,
    shaped_slots=17,
    actions={13: _UPLINK_SHAPED, 14: _UPLINK_BACK},
    expected=(Expected("host", 13, 17, (_SHAPED(3),), (_SHAPED(1), _SHAPED(2), _SHAPED(4))),),
    steps=_streams(0.8),
    control_hosts=2,
    unjudged_slots=11,
    floor_ratio=0.15,
)
_SETTLED = """
    SELECT (SELECT count(*) FROM schedules_slot WHERE state IN ('pending', 'running')),
      (SELECT count(*) FROM runs_run WHERE state IN ('pending', 'running')),
      (SELECT count(*) FROM runs_run run LEFT JOIN regressions_runjudgement judgement ON judgement.run_id = run.id
        WHERE judgement.judged_at IS NULL),
      (SELECT count(*) FROM regressions_alert WHERE state = 'confirming'),
      (SELECT count(*) FROM notifications_delivery WHERE next_attempt_at < now() + interval '1 minute')
"""


class Unsettled(NamedTuple):
    """What of a slot is not over yet."""

    slots: int
    runs: int
    judgements: int
    confirmations: int
    # That are due: what waits for what else joins its alert goes when the clock is moved on.
    messages: int


@dataclass
class Proof:
    """A rig with two meshes and two receivers, slot after slot."""

    is_moved: bool
    course: Course = LONG
    stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> "Proof":
        try:
            self._begin()
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.stack.close()

    def run(self, print_line: Callable[[str], None] = print) -> Story:
        """Have all slots, or those before the first that has no end; return what became of them."""
        for number in range(1, self.course.slots + 1):
            name, action = self.course.actions.get(number, ("", None))
            if action is not None:
                action(self.shaped)
            began = time.monotonic()
            try:
                self._await_slot(number)
                self._await_settled(number)
            except TimeoutError as error:
                print_line(str(error))
                break
            print_line(f"slot {number}: {time.monotonic() - began:.1f} s{name and f', {name}'}")
        return mesh_story.told(self.rig, [json.loads(each.body) for each in self.receiver.got], self.mail_server.mails)

    def _begin(self) -> None:
        folder = Path(self.stack.enter_context(TemporaryDirectory(prefix="bw-mesh-")))
        controller = self.stack.enter_context(namespace("c"))
        with inside(controller):
            self.receiver = self.stack.enter_context(HttpReceiver())
            self.mail_server = self.stack.enter_context(MailServer())
        self.rig = Rig(
            {
                "BENCHWEB_NOTIFY_PRIVATE_NETWORKS": "127.0.0.0/8",
                "BENCHWEB_SMTP_URL": f"smtp://127.0.0.1:{self.mail_server.port}",
                "BENCHWEB_PUBLIC_URL": "https://bench.example.org",
            }
        )
        self.clock = Clock(folder)
        self.rig.environment |= self.clock.environment
        self.stack.enter_context(self.rig)
        hosts = self.course.control_hosts
        self.shaped = mesh(self.stack, folder, controller, name="shaped", network="10.88.0", hosts=4)
        control = mesh(self.stack, folder, controller, name="control", network="10.89.0", hosts=hosts)
        self._make_rows(self.shaped, control)
        self.rig.start("worker", prefix=controller.words())
        self.rig.start("beat")

    def _make_rows(self, *meshes: Mesh) -> None:
        wanted = {
            "meshes": [{"name": each.name, "engines": each.rows} for each in meshes],
            "floor_ratio": self.course.floor_ratio,
            "slots": {self.shaped.name: self.course.shaped_slots},
            "cron": self.course.cron,
            "steps": self.course.steps,
            "repetitions": 1,
            "webhook": {"url": self.receiver.url, "secret": SECRET},
            "mail": "team@example.org",
        }
        self.rig.run("-m", "bench.regressions.mesh_rows", text=json.dumps(wanted))

    def _await_slot(self, number: int) -> None:
        """Let the next slot come, by the clock's hand or by itself."""
        query = "SELECT extract(epoch FROM min(next_at) - clock_timestamp()) FROM schedules_schedule"
        seconds = float(self.rig.rows(query)[0][0])
        if self.is_moved and seconds > 1:
            self.clock.step(int(seconds))
        counted = "SELECT count(*) FROM schedules_slot GROUP BY schedule_id ORDER BY 1"
        wanted = sorted([(number,), (min(number, self.course.shaped_slots),)])
        self._await(lambda: self.rig.rows(counted) == wanted, f"slot {number}")

    def _await_settled(self, number: int) -> None:
        is_judged = number > self.course.unjudged_slots

        def is_settled() -> bool:
            left = self._unsettled()
            return not any(left if is_judged else (left.slots, left.runs))

        self._await(is_settled, f"the end of slot {number}")

    def _unsettled(self) -> Unsettled:
        return Unsettled(*self.rig.rows(_SETTLED)[0])

    def _await(self, is_so: Callable[[], bool], what: str) -> None:
        limit_seconds = self.course.slot_limit_seconds
        give_up_at = time.monotonic() + limit_seconds
        while not is_so():
            if time.monotonic() > give_up_at:
                log = self.rig.log("worker")
                raise TimeoutError(f"{what} did not come within {limit_seconds:.0f} s: {self._unsettled()}\n{log}")
            time.sleep(0.1)


def main() -> int:
    """Have the slots, print, and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moved-clock", action="store_true", help="about 10 minutes")
    arguments = parser.parse_args()
    began = time.monotonic()
    with Proof(arguments.moved_clock) as proof:
        story = proof.run(print_line=lambda line: print(line, flush=True))
    print("\n".join(story.lines))
    faults = mesh_story.faults(story, LONG.expected)
    print(f"{time.monotonic() - began:.0f} s", *faults or ["All as it must be."], sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
