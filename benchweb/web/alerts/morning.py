"""Show a night: what changed, what is missing, what recovered, and what that rests on."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User
from django.db.models import Value
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from benchweb.accounts.models import Team
from benchweb.catalog.translation import reason_text, sentence_space
from benchweb.common.rows import row_id
from benchweb.documents.references import Label, environment_ref, team_ref
from benchweb.hosts.models import Environment
from benchweb.regressions.alert_texts import alert_title, unconfirmed_reason
from benchweb.regressions.models import Alert
from benchweb.regressions.overview import DONE_STATES
from benchweb.regressions.selectors import (
    FIRST_NIGHT,
    NightFindings,
    NightZone,
    night_environments,
    night_of_date,
    night_zone,
)
from benchweb.regressions.slow.told import SlowLine, slow_lines_of_night
from benchweb.web.shared.zones import zone_named

_DAY = timedelta(days=1)
_MOST_CHOICES = 200


@dataclass(frozen=True)
class MorningAlert:
    """An alert with its title."""

    alert: Alert
    title: str
    unconfirmed: str


@dataclass(frozen=True)
class NightScope:
    """What a night is told of: one environment, those of a team, or all; of an id that isn't there nothing."""

    environment_id: int | None = None
    team_id: int | None = None
    names: tuple[Label, ...] = ()
    environment_ids: set[int] | None = None

    @property
    def query(self) -> str:
        """Return what follows the night in an address."""
        chosen = {"environment": self.environment_id, "team": self.team_id}
        return "".join(f"&{urlencode({name: pk})}" for name, pk in chosen.items() if pk)


@dataclass(frozen=True)
class MorningPage:
    """A night; `sections` are title, what is said where there is nothing, and the alerts."""

    scope: NightScope
    zone: NightZone
    night: date
    summary: NightFindings
    sections: list[tuple[str, str, list[MorningAlert]]]
    # What stands out and nobody confirmed.
    suspects: list[MorningAlert]
    # What the morning's second look found: no alerts.
    slow: list[SlowLine]
    # How many alerts somebody should look at.
    left: int
    before: date
    after: date | None
    is_zone_chosen: bool

    @property
    def address(self) -> str:
        """Return the page's own address, with the night even where none was asked for."""
        return f"{reverse('web:morning')}?night={self.night}{self.scope.query}&zone={self.zone.zone.key}"

    @property
    def query(self) -> str:
        """Return what follows the night in the address of another night: what was chosen."""
        return f"{self.scope.query}&zone={self.zone.zone.key}" if self.is_zone_chosen else self.scope.query

    @property
    def bounds(self) -> str:
        """Say from when until when the night goes, whose noons these are, and which runs count."""
        name = self.zone.zone.key
        noons = _("From noon to noon in {zone}.").format(zone=name)
        if self.zone.is_schedules:
            noons = _("From noon to noon in {zone}, the zone of its schedules.").format(zone=name)
        counted = _(
            "A run counts in the night in which it started, or ended if it never started; "
            "failed, missed, not started and cancelled ones are incomplete."
        )
        return noons + sentence_space() + counted

    @property
    def changed(self) -> list[Alert]:
        """Return the changes that somebody should look at, the worst first."""
        return _changes_left(self.summary)

    @property
    def has_nothing(self) -> bool:
        return not self.summary.runs.total and not self.summary.slots

    @property
    def is_quiet(self) -> bool:
        """Tell whether all that ran is complete, and nothing is left to look at or stands out."""
        night = self.summary
        is_complete = night.complete_slots == night.slots and night.runs.whole == night.runs.total
        stands_out = self.suspects or night.outliers
        return is_complete and not self.has_nothing and not self.left and not stands_out

    @property
    def verdict(self) -> str:
        """Say the night in two words, where two will do."""
        if self.is_quiet:
            return _("All quiet.")
        return _("Nothing ran.") if self.has_nothing else ""

    @property
    def rests_on(self) -> str:
        """Say what that rests on: complete slots, finished runs, and the smallest change that would have been seen."""
        night = self.summary
        slots = ngettext(
            "%(complete)s of %(slots)s slot with complete results,",
            "%(complete)s of %(slots)s slots with complete results,",
            night.slots,
        ) % {"complete": night.complete_slots, "slots": night.slots}
        runs = night.runs.text + pgettext("end of a sentence", ".") if night.runs.total else ""
        ratio = night.smallest_detectable_change_ratio
        change = (
            _("No series has enough runs yet to tell what change it could show.")
            if ratio is None
            else _("Half of the series would show a change of %(ratio)s or less within five runs.")
            % {"ratio": f"{ratio * 100:.1f} %"}
        )
        parts = [slots if night.slots else "", self._skipped, runs, change]
        return " ".join(part for part in parts if part)

    @property
    def _skipped(self) -> str:
        """Say how many slots were skipped, and why the last of them was; nothing for none."""
        count = self.summary.skipped_slots
        if not count:
            return ""
        sentence = ngettext("%(count)s slot skipped (%(reason)s),", "%(count)s slots skipped (%(reason)s),", count)
        return sentence % {"count": count, "reason": reason_text(self.summary.skip_reason).rstrip(".")}


def morning_of(query: QueryDict, reader: ZoneInfo) -> MorningPage:
    """Return the page that an address asks for; what can't be read in it is the latest night, and everything.

    The night is cut by the zone of the address, else by that of its schedules, else by the reader's.
    """
    try:
        night = date.fromisoformat(query.get("night", ""))
    except ValueError:
        night = None
    scope = night_scope(row_id(query.get("environment", "")), row_id(query.get("team", "")))
    chosen = zone_named(query.get("zone", ""))
    if chosen is not None:
        return morning_page(night, scope, NightZone(chosen, is_schedules=False), is_zone_chosen=True)
    around = _bounded(night or datetime.now(reader).date(), reader)
    return morning_page(night, scope, night_zone(around, scope.environment_ids, otherwise=reader))


def night_scope(environment_id: int | None, team_id: int | None) -> NightScope:
    """Return a scope with the names and the environments that it has; a query where one is chosen, two with a team."""
    if environment_id is None and team_id is None:
        return NightScope()
    environments = Environment.objects.filter(pk=environment_id or 0).annotate(of=Value("environment"))
    teams = Team.objects.filter(pk=team_id or 0).annotate(of=Value("team"))
    named = (
        environments.order_by().values_list("of", "name").union(teams.order_by().values_list("of", "name"), all=True)
    )
    found = dict(named)
    is_unknown = team_id is not None and "team" not in found
    ids = set() if is_unknown else night_environments(environment_id, Team(pk=team_id) if team_id else None)
    names = [refer(found[of]) for of, refer in (("team", team_ref), ("environment", environment_ref)) if of in found]
    return NightScope(environment_id=environment_id, team_id=team_id, names=tuple(names), environment_ids=ids)


def morning_page(
    night: date | None, scope: NightScope, zone: NightZone, *, is_zone_chosen: bool = False
) -> MorningPage:
    """Return what a night's page shows, by default the latest: nights go from noon to noon, named by their end."""
    today = datetime.now(zone.zone).date()
    night = _bounded(night or today, zone.zone)
    summary = night_of_date(night, scope.environment_ids, zone.zone)
    return MorningPage(
        scope=scope,
        zone=zone,
        is_zone_chosen=is_zone_chosen,
        night=night,
        summary=summary,
        sections=_sections(summary),
        suspects=_lines(summary.unconfirmed),
        slow=slow_lines_of_night(night, scope.environment_ids),
        left=len(_alerts_left(summary)) + len(summary.still_open),
        before=night - _DAY,
        after=night + _DAY if night < today else None,
    )


def _bounded(night: date, zone: ZoneInfo) -> date:
    return max(FIRST_NIGHT, min(night, datetime.now(zone).date() + _DAY))


def scope_choices(user: User) -> dict[str, list[tuple[str, str]]]:
    """Return what a reader may choose: the environments in use, and their own teams; one query."""
    environments = Environment.objects.filter(archived_at=None).annotate(of=Value("environments"))[:_MOST_CHOICES]
    teams = user.teams.annotate(of=Value("teams"))
    columns = ("of", "pk", "name")
    choices: dict[str, list[tuple[str, str]]] = {"environments": [], "teams": []}
    named = environments.values_list(*columns).union(teams.values_list(*columns), all=True)
    for of, pk, name in named.order_by("name", "pk"):
        choices[of].append((str(pk), name))
    return choices


def _sections(summary: NightFindings) -> list[tuple[str, str, list[MorningAlert]]]:
    left = _alerts_left(summary)
    sections = [
        (_("What changed"), _("Nothing changed."), _changes_left(summary)),
        (_("What is missing"), _("Nothing is missing."), [alert for alert in left if alert.kind == Alert.Kind.ABSENCE]),
        (_("What is still open from earlier nights"), "", summary.still_open),
        (_("What recovered"), _("Nothing recovered."), summary.recovered),
        (_("What somebody took care of"), "", _handled_alerts(summary)),
    ]
    # Where nothing ran, that nothing changed would be no news.
    has_run = bool(summary.runs.total or summary.slots)
    return [(title, empty, _lines(rows)) for title, empty, rows in sections if rows or (empty and has_run)]


def _alerts_left(summary: NightFindings) -> list[Alert]:
    done = (*DONE_STATES, Alert.State.RECOVERED)
    return [alert for alert in summary.begun if alert.state not in done and not alert.is_snoozed]


def _changes_left(summary: NightFindings) -> list[Alert]:
    return [alert for alert in _alerts_left(summary) if alert.kind != Alert.Kind.ABSENCE]


def _handled_alerts(summary: NightFindings) -> list[Alert]:
    """Return what somebody dealt with since; what was merged is told with the other."""
    handled = set(DONE_STATES) - {Alert.State.MERGED}
    return [alert for alert in summary.begun if alert.state in handled]


def _lines(alerts: list[Alert]) -> list[MorningAlert]:
    return [MorningAlert(alert, alert_title(alert), unconfirmed_reason(alert)) for alert in alerts]
