"""One simulated series judged as the product judges it, by the same functions: with re-runs, alerts and recoveries."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchweb.settings")

django.setup()

from bench.regressions.series import Nights  # noqa: E402  (needs the settings)
from benchweb.catalog import catalog  # noqa: E402
from benchweb.regressions.judging import findings, recovery  # noqa: E402
from benchweb.regressions.judging.findings import SeriesFinding  # noqa: E402
from benchweb.regressions.judging.histories import History, RunValue  # noqa: E402
from benchweb.regressions.judging.sensitivity import SeriesSensitivity  # noqa: E402
from benchweb.regressions.models import Alert, AlertSeries  # noqa: E402
from benchweb.statistics.deciding import WINDOW_RUNS  # noqa: E402

State = Alert.State
_SERIES = 1
FIRST = datetime(2026, 1, 1, 2, tzinfo=UTC)
_RERUN_AFTER = timedelta(minutes=10)


@dataclass(frozen=True)
class Alarm:
    """What people are told of: in which night, and in which night its first bad run was."""

    night: int
    index: int


def history_of(runs: Sequence[RunValue]) -> History:
    """Return the history of a series that is judged after these runs."""
    metric = catalog().tests["tcp_stream"].metrics["throughput_bps"]
    return History(_SERIES, 1, "tcp_stream", {}, metric, SeriesSensitivity(), list(runs[-WINDOW_RUNS:]))


@dataclass
class JudgedSeries:
    """The runs of a series where less is worse, and its parts in alerts, the newest first; nothing is stored."""

    runs: list[RunValue] = field(default_factory=list)
    nights: dict[int, int] = field(default_factory=dict)
    parts: list[AlertSeries] = field(default_factory=list)

    def alarms(self, nights: Nights) -> Iterator[Alarm]:
        """Measure and judge night after night, and yield what people are told of."""
        for night, (value, rerun) in enumerate(zip(nights.values, nights.reruns, strict=True)):
            for part in self.opened_in(night, value, rerun):
                yield Alarm(night, self.nights[part.first_bad_run_id])

    def opened_in(self, night: int, value: float, rerun: float) -> list[AlertSeries]:
        """Measure and judge one night, and return what opens in it."""
        suspect, opened = self._end(night, value)
        if suspect is not None:
            opened += self._end_rerun(night, rerun, suspect)
        return opened

    def _end(self, night: int, value: float) -> tuple[AlertSeries | None, list[AlertSeries]]:
        """Judge a night's run; return the suspect that is to be measured again, and what opens at once."""
        history = self._measured(night, value)
        self._notice(history)
        opened = self._open_lasting(history)
        self._notice(history)
        finding = None if opened else findings.suspect_finding(history, history.runs[-1].run_id, self.parts)
        if finding is None or findings.same_segment(finding, self.parts) is not None:
            return None, opened
        return self._added(finding, State.CONFIRMING), opened

    def _end_rerun(self, night: int, value: float, suspect: AlertSeries) -> list[AlertSeries]:
        """Judge a re-run: it opens the suspect where it is bad again, or ends it."""
        history = self._measured(night, value)
        suspect.rerun_id = history.runs[-1].run_id
        self._notice(history)
        if findings.is_as_before(history, suspect, history.runs[-1]):
            self._recover(suspect, suspect.rerun_id)
            return self._open_lasting(history)
        _open(suspect.alert)
        return [suspect, *self._open_lasting(history)]

    def _measured(self, night: int, value: float) -> History:
        number = len(self.runs) + 1
        at = FIRST + timedelta(days=night)
        if self.nights.get(number - 1) == night:
            at += _RERUN_AFTER
        self.runs.append(RunValue(number, at, value, 5))
        self.nights[number] = night
        return history_of(self.runs)

    def _open_lasting(self, history: History) -> list[AlertSeries]:
        """Return the alerts that open because a change holds."""
        opened = []
        worse = findings.worsened_findings([history], {_SERIES: self.parts})
        for finding in findings.beyond_chance(worse, others=[], series=1):
            known = findings.known_part(finding, self.parts)
            if known is None:
                opened.append(self._added(finding, State.OPEN))
                continue
            part, now = known
            if now is None:
                continue
            part.before, part.after, part.p = now.before, now.after, now.p
            part.first_bad_run_id = now.first_bad.run_id
            if part.recovered_run_id is None and part.alert.state in (State.SUSPECT, State.CONFIRMING):
                _open(part.alert)
                opened.append(part)
        return opened

    def _added(self, finding: SeriesFinding, state: str) -> AlertSeries:
        part = AlertSeries(
            alert=Alert(state=state),
            segment_key=findings.segment_key(finding),
            before=finding.before,
            after=finding.after,
            p=finding.p,
            mode_share_before=finding.mode_shares.before if finding.mode_shares else None,
            first_bad_run_id=finding.first_bad.run_id,
        )
        if state == State.OPEN:
            _open(part.alert)
        self.parts.insert(0, part)
        return part

    def _notice(self, history: History) -> None:
        for part in self.parts:
            if recovery.is_waited_for(part) and (run_id := recovery.recovered_at(history, part)):
                self._recover(part, run_id)

    def _recover(self, part: AlertSeries, run_id: int) -> None:
        part.recovered_run_id = run_id
        part.alert.state = State.RECOVERED


def _open(alert: Alert) -> None:
    alert.state = State.OPEN
    alert.opened_at = FIRST
