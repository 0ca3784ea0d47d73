"""What became of the slots of bench/regressions/mesh.py, and whether it is what must be."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from typing import Any, NamedTuple

from bench.rig.rig import Rig

_ALERTS = """
    SELECT alert.id, coalesce(environment.name, schedule.name, (
        SELECT of.name FROM hosts_pair pair JOIN hosts_environment of ON of.id = pair.environment_id
        WHERE alert.endpoint_id IN (pair.source_id, pair.sink_id) LIMIT 1
      )) AS environment, alert.code, alert.verdict, alert.severity,
      alert.opened_at IS NOT NULL AS is_told, alert.unconfirmed_code,
      (SELECT array_agg(to_state ORDER BY id) FROM regressions_alerttransition WHERE alert_id = alert.id) AS states,
      (SELECT array_agg((SELECT count(*) FROM schedules_slot WHERE at <= moved.at AND
          schedule_id = coalesce(alert.schedule_id, (SELECT id FROM schedules_schedule WHERE name = 'shaped')))
        ORDER BY moved.id) FROM regressions_alerttransition moved WHERE moved.alert_id = alert.id) AS slots,
      (SELECT count(*) FROM runs_run WHERE campaign_id = alert.confirmation_id) AS reruns,
      (SELECT count(DISTINCT pair_id) FROM regressions_alertseries part
        JOIN results_series series ON series.id = part.series_id WHERE part.alert_id = alert.id) AS pairs,
      (SELECT array_agg(round(difference_ratio::numeric, 3)::float ORDER BY id) FROM regressions_alertseries
        WHERE alert_id = alert.id) AS ratios
    FROM regressions_alert alert LEFT JOIN hosts_environment environment ON environment.id = alert.environment_id
      LEFT JOIN schedules_schedule schedule ON schedule.id = alert.schedule_id
    ORDER BY alert.id
"""
_RUNS = """
    SELECT slot.id IS NULL AS is_rerun, run.state, count(*),
      coalesce(sum(extract(epoch FROM finished_at - started_at)), 0)
    FROM runs_run run LEFT JOIN schedules_slot slot ON slot.campaign_id = run.campaign_id
    GROUP BY 1, 2 ORDER BY 1, 2
"""
# How often a run of a series lay so far from the median of all: what the machine itself makes of a paced link.
_NOISE = """
    SELECT max(spread) FROM (
      SELECT 1.4826 * percentile_cont(0.5) WITHIN GROUP (ORDER BY abs(figure.median / middle.median - 1)) AS spread
      FROM results_runfigure figure JOIN results_series series ON series.id = figure.series_id
      JOIN hosts_pair pair ON pair.id = series.pair_id
      JOIN hosts_environment environment ON environment.id = pair.environment_id AND environment.name = 'control'
      JOIN (SELECT series_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY median) AS median
        FROM results_runfigure GROUP BY series_id) middle ON middle.series_id = series.id
      WHERE series.metric = 'throughput_bps' GROUP BY series.id) spreads
"""
# Of an alert that was gone when one of its pairs was measured again the next one is.
_SUSPECTED, _LIFE = ["suspect", "confirming"], ["open", "recovered"]


class FoundAlert(NamedTuple):
    """An alert as the database has it; `slots` are those in which it came to each of its states, from 1 on."""

    id: int
    environment: str
    code: str
    verdict: str
    severity: str
    is_told: bool
    unconfirmed_code: str
    states: list[str]
    slots: list[int]
    reruns: int
    pairs: int
    ratios: list[float]


class Runs(NamedTuple):
    """How many runs of schedules, or re-runs, ended in a state, and how long they took together."""

    is_rerun: bool
    state: str
    number: int
    seconds: float


class Told(NamedTuple):
    """One message: what became of which alert, and its title."""

    alert: int
    transition: str
    title: str


@dataclass(frozen=True)
class Expected:
    """One fault of the links, as an alert must tell it; with `names` in its titles and none of `others`."""

    verdict: str
    slot: int
    latest_recovery: int
    names: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True)
class Story:
    """All alerts, messages and runs."""

    alerts: list[FoundAlert]
    runs: list[Runs]
    hooked: list[Told]
    subjects: list[str]
    noise_ratio: float

    @property
    def lines(self) -> list[str]:
        """All of it as text."""
        runs = [
            f"{each.number} {'re-runs' if each.is_rerun else 'runs'} {each.state}, {each.seconds:.0f} s"
            for each in self.runs
        ]
        noise = f"control mesh, noisiest pair: 1.4826 × MAD of throughput {self.noise_ratio * 100:.2f} % of its median"
        return [
            *map(str, self.alerts),
            *(f"webhook: {each}" for each in self.hooked),
            *(f"mail: {each}" for each in self.subjects),
            *runs,
            noise,
        ]


def told(rig: Rig, posted: Sequence[Mapping[str, Any]], mails: Sequence[EmailMessage]) -> Story:
    """Gather what the database has and the receivers got."""
    return Story(
        alerts=[FoundAlert(*row) for row in rig.rows(_ALERTS)],
        runs=[Runs(row[0], row[1], row[2], float(row[3])) for row in rig.rows(_RUNS)],
        hooked=[_told(each) for each in posted],
        subjects=[str(mail["Subject"]).strip() for mail in mails],
        noise_ratio=float(rig.rows(_NOISE)[0][0]),
    )


def faults(story: Story, every: Sequence[Expected]) -> list[str]:
    """Say what is missing, too much or wrong."""
    alerts = [alert for alert in story.alerts if alert.is_told]
    found = [f"the control mesh has {alert}" for alert in alerts if alert.environment == "control"]
    shaped = [alert for alert in alerts if alert.environment == "shaped"]
    if len(shaped) != len(every):
        found.append(f"{len(shaped)} alerts were told of {len(every)} faults")
    for alert, expected in zip(shaped, every, strict=False):
        found += _faults_of(alert, expected, [each for each in story.hooked if each.alert == alert.id])
    if Counter(story.subjects) != Counter(each.title for each in story.hooked):
        found.append(f"mail has {story.subjects}, the webhook {[each.title for each in story.hooked]}")
    found += [f"{each.number} runs are {each.state}" for each in story.runs if each.state != "finished"]
    return found


def _faults_of(alert: FoundAlert, expected: Expected, messages: Sequence[Told]) -> list[str]:
    until_told = alert.states.index("open") if "open" in alert.states else 0
    suspected = _SUSPECTED * (until_told // len(_SUSPECTED))
    is_so = {
        f"its states are not {[*_SUSPECTED, *_LIFE]}": until_told > 0 and alert.states == [*suspected, *_LIFE],
        f"its verdict is not {expected.verdict}": alert.verdict == expected.verdict,
        f"it was not suspected, measured again and told in slot {expected.slot}": set(alert.slots[: until_told + 1])
        == {expected.slot},
        f"it has not recovered by slot {expected.latest_recovery}": alert.slots[-1] <= expected.latest_recovery,
        "it was not told once, and its recovery once": [each.transition for each in messages] == ["open", "recovered"],
        f"its title does not name {expected.names} alone": all(_names_rightly(each, expected) for each in messages),
        "its first series did not fall by 35 to 45 %": -0.45 <= alert.ratios[0] <= -0.35,
    }
    return [f"alert {alert.id}: {fault} ({alert}, {messages})" for fault, holds in is_so.items() if not holds]


def _names_rightly(message: Told, expected: Expected) -> bool:
    wanted = all(name in message.title for name in expected.names)
    return wanted and not any(name in message.title for name in expected.others)


def _told(posted: Mapping[str, Any]) -> Told:
    data = posted["data"]
    return Told(int(data["url"].rpartition("/")[2]), data["transition"], data["title"])
