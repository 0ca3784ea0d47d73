"""A lab of four hosts and twelve pairs: seven faults in turn, two at once, and what was said of each.

    .venv/bin/python -m bench.regressions.lab [--only "MTU"]…      61 slots, 23 minutes on two quiet CPUs

The rig of bench.regressions.mesh (its module says what is real in it), whose clock is moved on to the next slot once
one is judged. Slots are ten minutes apart: with loss, twelve runs and those that measure again take minutes, and no
slot is to wait for another. A pair has two tests; a round trip without `netem`, which not every kernel has, is what the
CPUs make of it. Each fault must be found in two slots at the latest, as one alert with the right host or pair; it must
have recovered in the third slot after its end; each transition is one message to the webhook and one mail. The mesh
that is left alone has no alert. Prints a table; the status is 1 when something is missing or too much.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bench.regressions.mesh import Action, Course, Proof
from bench.regressions.mesh_network import LINK_MBIT, Mesh
from bench.regressions.mesh_story import FoundAlert, Story, Told

STEPS = (
    {"kind": "tcp_stream", "params": {"duration_seconds": 0.8, "warmup_seconds": 0.1}},
    {
        "kind": "udp_stream",
        "params": {"duration_seconds": 0.6, "warmup_seconds": 0.1, "rate_bps": 10_000_000, "message_size_bytes": 500},
    },
)
SHARE = 0.6
# Of a port that is not shaped: more than an uplink sends.
FREE_MBIT = 400.0
# From 1 on: as slots are counted in what is printed.
FIRST_SLOT, FAULT_SLOTS, QUIET_SLOTS = 14, 2, 4
LATEST_FOUND, LATEST_RECOVERED = 2, 3
SLOT_LIMIT_SECONDS = 600.0
EVERY_TEN_MINUTES = "*/10 * * * *"
HEAD = ("fault", "at", "from slot", "told in its slot", "as", "title", "recovered in slot after", "is")
AS_IT_MUST_BE = "as it must be"


@dataclass(frozen=True)
class Fault:
    """What is done to the mesh and undone; `hosts` are those that its alert names: one, or the two of a pair."""

    name: str
    hosts: tuple[int, ...]
    begin: Callable[[Mesh], None]
    end: Callable[[Mesh], None]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"shaped-{host + 1}" for host in self.hosts)


@dataclass(frozen=True)
class Placed:
    """A fault in the slots in which it was there."""

    fault: Fault
    slot: int

    @property
    def end_slot(self) -> int:
        """The first slot without it."""
        return self.slot + FAULT_SLOTS


UPLINK = Fault(
    "uplink at 60 %",
    (2,),
    lambda mesh: mesh.shape_uplink(2, SHARE * LINK_MBIT),
    lambda mesh: mesh.shape_uplink(2, LINK_MBIT),
)
DIRECT = Fault(
    "direct link at 60 %",
    (0, 1),
    lambda mesh: mesh.shape_direct(SHARE * LINK_MBIT),
    lambda mesh: mesh.shape_direct(LINK_MBIT),
)
LOSS = Fault(
    "2 % loss on the way in",
    (3,),
    lambda mesh: mesh.drop(3, what="numgen random mod 100 < 2"),
    lambda mesh: mesh.drop_nothing(3),
)
DOWNLINK = Fault(
    "downlink at 60 %",
    (2,),
    lambda mesh: mesh.shape_port(2, SHARE * LINK_MBIT),
    lambda mesh: mesh.shape_port(2, FREE_MBIT),
)
DEAD = Fault("engine killed", (3,), lambda mesh: mesh.kill(3), lambda mesh: mesh.revive(3))
MTU = Fault("MTU of 576 B", (2,), lambda mesh: mesh.set_mtu(2, 576), lambda mesh: mesh.set_mtu(2, 1500))
FIREWALL = Fault(
    "a firewall drops its UDP",
    (3,),
    lambda mesh: mesh.drop(3, what="meta l4proto udp"),
    lambda mesh: mesh.drop_nothing(3),
)
# Those of one turn are there at once.
TURNS: Sequence[Sequence[Fault]] = (
    (UPLINK,),
    (DIRECT,),
    (LOSS,),
    (DOWNLINK,),
    (DEAD,),
    (MTU,),
    (FIREWALL,),
    (UPLINK, LOSS),
)


def placed(turns: Sequence[Sequence[Fault]]) -> list[Placed]:
    """Return every fault with its slots, each turn after the quiet slots that follow the one before."""
    period = FAULT_SLOTS + QUIET_SLOTS
    return [Placed(fault, FIRST_SLOT + number * period) for number, turn in enumerate(turns) for fault in turn]


def course(faults: Sequence[Placed]) -> Course:
    """Return the slots with what happens before each."""
    steps: dict[int, list[tuple[str, Callable[[Mesh], None]]]] = {}
    for each in faults:
        steps.setdefault(each.slot, []).append((each.fault.name, each.fault.begin))
        steps.setdefault(each.end_slot, []).append((f"{each.fault.name} ended", each.fault.end))
    slots = max(each.end_slot for each in faults) + QUIET_SLOTS - 1
    return Course(
        slots=slots,
        shaped_slots=slots,
        actions={slot: _together(actions) for slot, actions in steps.items()},
        expected=(),
        steps=STEPS,
        control_hosts=2,
        unjudged_slots=FIRST_SLOT - 3,
        slot_limit_seconds=SLOT_LIMIT_SECONDS,
        cron=EVERY_TEN_MINUTES,
    )


def rows(story: Story, faults: Sequence[Placed]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each fault: when it began and was found, as what, when it had recovered, and what is wrong."""
    alerts = alerts_by_fault(story, faults)
    for each in faults:
        found = alerts[each]
        wrong = list(faults_of(each, found, story))
        said = [
            (
                f"{_slot_of(alert, 'open') - each.slot + 1}",
                alert.verdict or alert.code,
                _title(story, alert),
                f"{_slot_of(alert, 'recovered') - each.end_slot + 1}",
            )
            for alert in found
        ]
        columns = (" / ".join(column) for column in zip(*said, strict=True)) if said else ("",) * 4
        yield each.fault.name, " ".join(each.fault.names), str(each.slot), *columns, "; ".join(wrong) or AS_IT_MUST_BE


def alerts_by_fault(story: Story, faults: Sequence[Placed]) -> dict[Placed, list[FoundAlert]]:
    """Return the alerts that were told of each fault: while it was there, or in the quiet slots after it.

    Of several at once an alert is that one's whose hosts its titles name.
    """
    told = [alert for alert in story.alerts if alert.is_told and alert.environment == "shaped"]
    found: dict[Placed, list[FoundAlert]] = {each: [] for each in faults}
    for alert in told:
        at_once = [each for each in faults if each.slot <= alert.slots[0] < each.end_slot + QUIET_SLOTS]
        named = [each for each in at_once if _is_named(story, alert, each.fault)] or at_once
        for each in named[:1]:
            found[each].append(alert)
    return found


def faults_of(each: Placed, found: Sequence[FoundAlert], story: Story) -> Iterator[str]:
    """Yield what is wrong with what was said of a fault."""
    if len(found) != 1:
        yield f"{len(found)} alerts: {[_title(story, alert) for alert in found]}" if found else "not found"
    for alert in found[:1]:
        if _slot_of(alert, "open") - each.slot + 1 > LATEST_FOUND:
            yield f"told in its slot {_slot_of(alert, 'open') - each.slot + 1}"
        if not _is_named(story, alert, each.fault):
            yield f"names others: {_title(story, alert)}"
        if "recovered" not in alert.states:
            yield "not recovered"
        elif _slot_of(alert, "recovered") - each.end_slot + 1 > LATEST_RECOVERED:
            yield f"recovered in slot {_slot_of(alert, 'recovered') - each.end_slot + 1} after its end"
        transitions = [message.transition for message in _messages(story, alert)]
        # What joins an alert is told once more, after ten minutes.
        joins = transitions.count("joined")
        if [each for each in transitions if each != "joined"] != ["open", "recovered"] or joins > 1:
            yield f"messages: {transitions}"


def wrong_elsewhere(story: Story, faults: Sequence[Placed]) -> Iterator[str]:
    """Yield what no line of the table tells."""
    known = {alert.id for alerts in alerts_by_fault(story, faults).values() for alert in alerts}
    told = [alert for alert in story.alerts if alert.is_told and alert.id not in known]
    yield from (f"too much: {_title(story, alert)} {alert}" for alert in told)
    titles = Counter(each.title for each in story.hooked)
    if Counter(story.subjects) != titles:
        yield f"mail and webhook differ: {Counter(story.subjects) - titles}, {titles - Counter(story.subjects)}"


def _together(actions: Sequence[Action]) -> Action:
    def take(mesh: Mesh) -> None:
        for _name, action in actions:
            action(mesh)

    return ", ".join(name for name, _action in actions), take


def _slot_of(alert: FoundAlert, state: str) -> int:
    return alert.slots[alert.states.index(state)] if state in alert.states else alert.slots[-1]


def _messages(story: Story, alert: FoundAlert) -> list[Told]:
    return [each for each in story.hooked if each.alert == alert.id]


def _title(story: Story, alert: FoundAlert) -> str:
    return next((message.title for message in _messages(story, alert)), f"alert {alert.id} without a message")


def _is_named(story: Story, alert: FoundAlert, fault: Fault) -> bool:
    titles = [message.title for message in _messages(story, alert)]
    others = {f"shaped-{host + 1}" for host in range(4)} - set(fault.names)
    return all(
        all(name in title for name in fault.names) and not any(other in title for other in others) for title in titles
    )


def table(lines: Sequence[tuple[str, ...]]) -> str:
    """Return lines as a Markdown table."""
    shown = [HEAD, ("---",) * len(HEAD), *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in shown)


def main() -> int:
    """Have the slots, print the table, and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="the faults whose names have this in them; may be repeated")
    wanted = parser.parse_args().only or [""]
    faults = placed([turn for turn in TURNS if any(word in fault.name for fault in turn for word in wanted)])
    began = time.monotonic()
    with Proof(is_moved=True, course=course(faults)) as proof:
        story = proof.run(print_line=lambda line: print(line, flush=True))
    print(*story.lines, sep="\n")
    lines = list(rows(story, faults))
    print(table(lines))
    elsewhere = list(wrong_elsewhere(story, faults))
    print(*elsewhere, f"{proof.course.slots} slots, {time.monotonic() - began:.0f} s", sep="\n")
    return int(bool(elsewhere) or any(line[-1] != AS_IT_MUST_BE for line in lines))


if __name__ == "__main__":
    sys.exit(main())
