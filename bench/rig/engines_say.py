"""Compare what simulated engines did, by their own record and clock, with what the database says."""

from typing import Any

from bench.rig.rig import Rig

_KEPT = """
select t.session::text || '-source', t.state from runs_trial t join results_result s on s.trial_id = t.id
"""


def differences(rig: Rig, report: dict[str, Any]) -> list[str]:
    """Return what was doubled, thrown away, made up, or ran where it must not; `report` is the fleet's."""
    kept = dict(rig.rows(_KEPT))
    measured = report["measured"]
    found = [f"doubled: {name} was measured {times} times" for name, times in measured.items() if times > 1]
    found += [f"thrown away: {name} was measured, and has no result" for name in measured if name not in kept]
    found += [
        f"made up: {name} has a whole result that no engine measured"
        for name, state in kept.items()
        if state == "finished" and name not in measured
    ]
    found += [f"overlap: {one} and {other} ran at once on engine {number}" for number, one, other in report["overlaps"]]
    return found + [f"left running on an engine: {name}" for name in report["open_sessions"]]
