"""Compare what simulated engines did, by their own record and clock, with what the database says."""

from typing import Any

from bench.rig.rig import Rig

_STORED = """
select t.session::text || '-source', t.state from runs_trial t join results_result s on s.trial_id = t.id
"""


def differences(rig: Rig, report: dict[str, Any]) -> list[str]:
    """Return what was doubled, thrown away, made up, or ran where it must not; `report` is the fleet's."""
    stored = dict(rig.rows(_STORED))
    measured = report["measured"]
    texts = [f"doubled: {name} was measured {times} times" for name, times in measured.items() if times > 1]
    texts += [f"thrown away: {name} was measured, and has no result" for name in measured if name not in stored]
    texts += [
        f"made up: {name} has a whole result that no engine measured"
        for name, state in stored.items()
        if state == "finished" and name not in measured
    ]
    texts += [f"overlap: {one} and {other} ran at once on engine {number}" for number, one, other in report["overlaps"]]
    return texts + [f"left running on an engine: {name}" for name in report["open_sessions"]]
