"""Say what stands behind an alert's title: where, since when, from which level to which, and how that is known."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchweb.catalog import catalog
from benchweb.common.formatting import signed_percent
from benchweb.regressions.alert_texts import canary_text, figure_name, levels_text, unconfirmed_reason
from benchweb.regressions.concerned import Concerned
from benchweb.regressions.deciding import VERDICT_LOOK_BACK
from benchweb.regressions.explanations import explanation
from benchweb.regressions.judging.grouping import naming_part
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.runs.models import OPEN_STATES, Run

# More names in one line nobody reads; the alert's page has all.
_MOST_NAMES = 6


def detail_lines(alert: Alert, concerned: Concerned) -> list[str]:
    """Return a line each of what a message tells beside the title; some queries, whatever the number of series."""
    lines = [
        _named(_("Pairs: {names}"), map(str, concerned.pairs)),
        _named(_("Hosts: {names}"), (host.name for host in concerned.hosts)) if not concerned.pairs else "",
        _named(_("Environment: {names}"), (environment.name for environment in concerned.environments)),
        _("Plan: {plan}").format(plan=alert.plan) if alert.plan else "",
        _("Since {at}").format(at=_utc(alert.begun_at)),
        episode_text(alert),
    ]
    if alert.kind == Alert.Kind.ABSENCE:
        reason = str(alert.params.get("reason", ""))
        lines.append(_("Reason: {reason}").format(reason=reason) if reason else "")
        if alert.code == "skipped":
            advice = _("Its runs take longer than its slots are apart: make the interval longer, or the plan shorter.")
            lines.append(advice)
        return [line for line in lines if line]
    parts = list(alert.series.select_related("series", "first_bad_run", "rerun__campaign__created_by").order_by("pk"))
    lines += _measure_lines([part for part in parts if part.recovered_run_id is None] or parts)
    if alert.kind == Alert.Kind.CHANGE:
        lines += [measured_again_text(alert, parts), canary_text(alert)]
    lines += [f"{fact.host}: {'; '.join(fact.words)}" for fact in explanation(alert).facts]
    return [line for line in lines if line]


def episode_text(alert: Alert) -> str:
    """Say how often a series of an alert was told to be worse in two months; empty for the first time."""
    if alert.kind != Alert.Kind.CHANGE:
        return ""
    since = alert.begun_at - VERDICT_LOOK_BACK
    told = Alert.objects.filter(kind=alert.kind, opened_at__isnull=False, begun_at__gte=since, pk__lt=alert.pk)
    earlier = told.filter(series__series__in=alert.series.values("series")).exclude(state=Alert.State.MERGED)
    begun = [at for _pk, at in earlier.order_by("begun_at").values_list("pk", "begun_at").distinct()]
    return _("Episode {number} since {at}").format(number=len(begun) + 1, at=_utc(begun[0])) if begun else ""


def duration_line(alert: Alert) -> str:
    """Say from when until when an alert that has ended lasted; empty of a live one."""
    if alert.ended_at is None:
        return ""
    return _("From {begin} to {end}").format(begin=_utc(alert.begun_at), end=_utc(alert.ended_at))


def measure_lines(alert: Alert, part_ids: Sequence[int]) -> list[str]:
    """Return a line each of the measures of these parts of an alert."""
    return _measure_lines(list(alert.series.filter(pk__in=part_ids).select_related("series").order_by("pk")))


def _named(sentence: str, names: Iterable[str]) -> str:
    every = list(names)
    if not every:
        return ""
    left = len(every) - _MOST_NAMES
    more = ngettext("and {count:,} more", "and {count:,} more", left).format(count=left) if left > 0 else ""
    return sentence.format(names=", ".join(filter(None, [*every[:_MOST_NAMES], more])))


def _measure_lines(parts: Sequence[AlertSeries]) -> list[str]:
    """Say of each measure from which level to which it went where it went furthest, what names the alert first."""
    measures: dict[tuple[str, str], list[AlertSeries]] = defaultdict(list)
    for part in parts:
        measures[part.series.kind, part.series.metric].append(part)
    lines = []
    while measures:
        part = naming_part([part for its in measures.values() for part in its])
        its = measures.pop((part.series.kind, part.series.metric))
        lines.append(_measure_line(part, len(its)))
    return lines


def _measure_line(part: AlertSeries, series: int) -> str:
    metric = catalog().metrics.get(part.series.metric)
    names = figure_name(part.series.kind, part.series.metric)
    unit = metric.unit if metric else ""
    # The median of the runs before, and of those since.
    change = levels_text(part.before, part.after, unit)
    # Of what at least doubled, or is nothing now, per cent say less than the levels.
    if part.difference_ratio is not None and abs(part.difference_ratio) < 1 and unit != "ratio":
        change += f" ({signed_percent(part.difference_ratio)})"
    if series == 1:
        return f"{names}: {change}"
    count = ngettext("{count:,} series", "{count:,} series", series).format(count=series)
    return _("{figure}: {change} at most, in {series}").format(figure=names, change=change, series=count)


def measured_again_text(alert: Alert, parts: Sequence[AlertSeries]) -> str:
    """Say which run measured it again, and who launched that; else why none did.

    Parts come with their re-runs and those' campaigns.
    """
    reruns = [part.rerun for part in parts if part.rerun is not None and part.rerun.state not in OPEN_STATES]
    if not reruns:
        return unconfirmed_reason(alert)
    return _("Measured again by run {run}, {launcher}").format(run=reruns[0].pk, launcher=_launcher(alert, reruns[0]))


def _launcher(alert: Alert, run: Run) -> str:
    if run.campaign.created_by is not None:
        return _("which {user} launched").format(user=run.campaign.created_by.get_username())
    if run.campaign_id == alert.confirmation_id:
        return _("which benchweb launched with controls beside it")
    return _("the next one of the same plan")


def _utc(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
