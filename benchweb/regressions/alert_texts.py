"""Say what an alert tells, in a sentence of the reader's language."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from benchweb.catalog import Kind, catalog
from benchweb.catalog.translation import sentence_space
from benchweb.common.formatting import duration, quantity, setting, signed_percent
from benchweb.documents.references import (
    Label,
    endpoint_ref,
    environment_ref,
    host_ref,
    numbered_ref,
    pair_ref,
    schedule_ref,
    uplink_ref,
    worded,
)
from benchweb.hosts.models import CanaryMetric, Pair
from benchweb.regressions.judging import canaries
from benchweb.regressions.judging.budget import RerunBudget
from benchweb.regressions.models import UNTRIAGED_STATES, Alert, AlertTransition

_UNCONFIRMED = {
    "no_schedule": gettext_lazy("Not measured again: no schedule launched its run."),
    "schedule_paused": gettext_lazy("Not measured again: its schedule is paused or archived."),
    "reruns_off": gettext_lazy("Not measured again: its schedule has no time for re-runs."),
    "window_closed": gettext_lazy("Not measured again: the schedule's window has closed, or closes too soon."),
    "budget_spent": gettext_lazy("Not measured again: the schedule's time for re-runs is spent for today."),
    "gave_way": gettext_lazy("Not measured again: a worse suspect took the schedule's time for re-runs."),
    "refused": gettext_lazy("Not measured again: the re-run could not be launched."),
    "disturbed": gettext_lazy("Not confirmed: its hosts were disturbed while they measured again."),
    "in_doubt": gettext_lazy("Not confirmed: some tests were not bad again, the others are in doubt."),
    "rerun_failed": gettext_lazy("Measured again without a result."),
}


_DETECTED = {
    Alert.State.SUSPECT.value: gettext_lazy("detected: one run stands out"),
    Alert.State.OPEN.value: gettext_lazy("detected and opened"),
}
_MOVED = {
    Alert.State.SUSPECT.value: gettext_lazy("not confirmed: measuring again gave no result"),
    Alert.State.CONFIRMING.value: gettext_lazy("being measured again"),
    Alert.State.OPEN.value: gettext_lazy("opened"),
    Alert.State.ACKNOWLEDGED.value: gettext_lazy("acknowledged"),
    Alert.State.EXPECTED.value: gettext_lazy("marked as expected"),
    Alert.State.INVALID.value: gettext_lazy("marked as noise"),
    Alert.State.FIXED.value: gettext_lazy("marked as fixed"),
    Alert.State.RECOVERED.value: gettext_lazy("recovered"),
    Alert.State.MERGED.value: gettext_lazy("merged"),
}


def alert_title(alert: Alert) -> Label:
    """Say what an alert tells, with names; the alert comes with its pair, host, endpoint and schedule."""
    params = alert.params
    if alert.code in ("change", "threshold"):
        is_change = alert.code == "change"
        figure = _size_text(alert) if is_change else _limit_text(params)
        name = figure_name(params["kind"], params["metric"], None if is_change else params.get("identity"))
        return _place_label(alert) + f": {name} {figure}{_more_series(params['series'] - 1)}"
    return _absence_title(alert)


def _absence_title(alert: Alert) -> Label:
    params = alert.params
    match alert.code:
        case "slot" | "late" | "skipped":
            return _schedule_title(alert)
        case "nothing":
            runs = ngettext("{count:,} run", "{count:,} runs", params["runs"]).format(count=params["runs"])
            pair = pair_ref(alert.pair) if alert.pair else ""
            return worded(_("{pair}: {runs} finished with nothing received"), pair=pair, runs=runs)
        case "unreachable":
            return _unreachable_title(alert)
        case _code:
            return worded(_("Alert {number}"), number=numbered_ref("alert", alert.pk))


def _schedule_title(alert: Alert) -> Label:
    params, schedule = alert.params, schedule_ref(str(alert.schedule))
    if alert.code == "slot":
        slots = ngettext("{count:,} slot", "{count:,} slots", params["slots"]).format(count=params["slots"])
        if alert.host or alert.pair:
            sentence = _("{place}: {slots} of schedule {schedule} without complete results")
            return worded(sentence, place=_lacking_place(alert), slots=slots, schedule=schedule)
        sentence = _("Schedule {schedule}: {slots} without complete results")
        return worded(sentence, schedule=schedule, slots=slots)
    if alert.code == "skipped":
        sentence = _("Schedule {schedule}: {skipped} of the latest {slots} slots skipped")
        counts = {name: f"{params[name]:,}" for name in ("skipped", "slots")}
        return worded(sentence, schedule=schedule, **counts)
    return worded(_("Schedule {schedule} is late"), schedule=schedule)


def _lacking_place(alert: Alert) -> Label:
    if alert.pair is not None:
        return _both_directions(alert.pair) if alert.params.get("pairs", 0) > 1 else pair_ref(alert.pair)
    return worded(_("Host {host}"), host=host_ref(alert.host.pk, alert.host.name)) if alert.host else Label("")


def _unreachable_title(alert: Alert) -> Label:
    endpoint = endpoint_ref(alert.endpoint) if alert.endpoint else ""
    slots = sum(alert.params.get("slots_by_schedule", {}).values())
    if not slots:
        return worded(_("{endpoint} is unreachable"), endpoint=endpoint)
    sentence = ngettext(
        "{endpoint} is unreachable: {count} slot without complete results",
        "{endpoint} is unreachable: {count} slots without complete results",
        slots,
    )
    return worded(sentence, endpoint=endpoint, count=f"{slots:,}")


def unconfirmed_reason(alert: Alert) -> str:
    """Say why a suspect was not measured again, or to no end; empty where neither is so."""
    return str(_UNCONFIRMED.get(alert.unconfirmed_code, ""))


def budget_text(budget: RerunBudget) -> str:
    """Say how much of its time for re-runs a schedule has left, and what is allowed beyond it."""
    left, allowed = duration(budget.left_seconds), duration(budget.allowed_seconds)
    text = _("Re-runs left tonight: {left} of {allowed}.").format(left=left, allowed=allowed)
    if budget.is_first_left:
        return text + sentence_space() + _("The first one is allowed beyond that.")
    if budget.is_critical_left:
        return text + sentence_space() + _("The first one of a critical alert is allowed beyond that.")
    return text


def transition_text(row: AlertTransition) -> str:
    """Say what happened to an alert, without who did it and the comment."""
    params = row.params
    if row.action == AlertTransition.AlertAction.FOUND:
        return _found_text(row)
    if row.action == AlertTransition.AlertAction.MOVED:
        if params.get("code") == "gave_way":
            return _("its re-run gave way to that of a worse suspect")
        is_reopened = row.to_state == Alert.State.OPEN and row.from_state not in UNTRIAGED_STATES
        return _("reopened") if is_reopened else str(_MOVED[row.to_state])
    if row.action == AlertTransition.AlertAction.SNOOZED:
        return _snooze_text(params)
    if row.action in (AlertTransition.AlertAction.MERGED, AlertTransition.AlertAction.SPLIT):
        return _moved_series(row.action, params)
    text = ""
    if row.action == AlertTransition.AlertAction.WOKEN and "severity" in params:
        text = _("snooze ended: it got worse")
    elif row.action == AlertTransition.AlertAction.ASSIGNED and "assignee" in params:
        name = params["assignee"]
        text = _("assigned to {name}").format(name=name) if name else _("assigned to nobody")
    elif row.action == AlertTransition.AlertAction.COMMENTED and "ticket_url" in params:
        url = params["ticket_url"]
        text = _("ticket {url}").format(url=url) if url else _("ticket removed")
    return text or row.get_action_display()


def _found_text(row: AlertTransition) -> str:
    if row.alert.kind == Alert.Kind.THRESHOLD:
        return _("detected: its limit is broken")
    return str(_DETECTED.get(row.to_state, _MOVED[row.to_state]))


def _moved_series(action: str, params: Mapping[str, Any]) -> str:
    has_given = "into" in params
    if action == AlertTransition.AlertAction.MERGED:
        text = _("merged into alert {number}") if has_given else _("alert {number} merged into this one")
    else:
        text = _("series split off into alert {number}") if has_given else _("split off alert {number}")
    return text.format(number=params["into" if has_given else "from"])


def _snooze_text(params: Mapping[str, Any]) -> str:
    until = params.get("until")
    if not until:
        return _("snoozed until it gets worse") if params.get("until_worse") else _("snoozed")
    at = datetime.fromisoformat(until).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    if params.get("until_worse"):
        return _("snoozed until {at}, or until it gets worse").format(at=at)
    return _("snoozed until {at}").format(at=at)


def change_text(levels: tuple[float, float] | None, ratio: float | None, unit: str) -> str:
    """Say a change in per cent, or by its levels: of what more than doubled, of a ratio, and of what was nothing."""
    if levels is not None and (ratio is None or abs(ratio) >= 1 or unit == "ratio"):
        return levels_text(*levels, unit)
    return _("changed") if ratio is None else signed_percent(ratio)


def levels_text(before: float, after: float, unit: str) -> str:
    """Say from which level to which: 9.41 → 5.63 Gbit/s, 12.0 µs → 5.60 ms."""
    old, new = quantity(before, unit), quantity(after, unit)
    return f"{old.number if old.unit == new.unit else old} → {new}"


def _place_label(alert: Alert) -> Label:
    if alert.pair is not None and alert.verdict != Alert.RerunVerdict.HOST and not canary_text(alert):
        return _both_directions(alert.pair) if alert.params["pairs"] > 1 else pair_ref(alert.pair)
    if alert.host is not None:
        return worded(_("Host {host}"), host=host_ref(alert.host.pk, alert.host.name))
    if alert.params.get("uplink"):
        return worded(_("Uplink {uplink}"), uplink=uplink_ref(alert.params["uplink"]))
    count = alert.params["pairs"]
    pairs = ngettext("{count:,} pair", "{count:,} pairs", count).format(count=count)
    return Label(pairs, " (", environment_ref(str(alert.environment)), ")")


def _both_directions(pair: Pair) -> Label:
    return Label(endpoint_ref(pair.source), " ↔ ", endpoint_ref(pair.sink))


def figure_name(kind_name: str, metric_key: str, identity: Mapping[str, Any] | None = None) -> str:
    """Name a kind and its metric, by their own names where the catalog has none; of one test with its sizes."""
    kind, metric = catalog().kinds.get(kind_name), catalog().metrics.get(metric_key)
    sizes = _sizes(kind, identity) if kind and identity is not None else []
    test = " ".join([kind.label if kind else kind_name, *sizes])
    return " · ".join([test, metric.label if metric else metric_key])


def _sizes(kind: Kind, identity: Mapping[str, Any]) -> list[str]:
    """Say a test's size; of several sizes those that aren't the default, each by its name."""
    values = kind.stated_defaults | dict(identity)
    sized = {
        name: each for name, each in kind.parameters.items() if each.unit == "B" and isinstance(values.get(name), int)
    }
    if len(sized) == 1:
        return [setting(values[name], "B") for name in sized]
    others = {name: each for name, each in sized.items() if values[name] != each.default}
    return [f"{each.label.lower()} {setting(values[name], 'B')}" for name, each in others.items()]


def _size_text(alert: Alert) -> str:
    params = alert.params
    metric = catalog().metrics.get(params["metric"])
    # What an older version wrote has no levels.
    levels = (params["before"], params["after"]) if "before" in params else None
    size = change_text(levels, params.get("ratio"), metric.unit if metric else "")
    details = "; ".join(text for text in (sizes_text(alert), mode_shares_text(alert)) if text)
    return f"{size} ({details})" if details else size


def sizes_text(alert: Alert) -> str:
    """Say at which sizes alone it is so; empty where at all of them, or where no size is swept."""
    sizes = alert.params.get("sizes")
    if not sizes:
        return ""
    first, last = (setting(sizes[end], "B") for end in ("first", "last"))
    if first == last:
        return _("only at {size}").format(size=first)
    if sizes["is_to_largest"]:
        return _("only at {size} and above").format(size=first)
    if sizes["is_from_smallest"]:
        return _("only at {size} and below").format(size=last)
    return _("only from {first} to {last}").format(first=first, last=last)


def mode_shares_text(alert: Alert) -> str:
    """Say how often runs are at the lower of two levels, before and after; empty where the levels changed."""
    shares = alert.params.get("mode_shares")
    if not shares:
        return ""
    before, after = (f"{share * 100:.0f}" for share in shares)
    return _("at the lower of two levels in {after} % of runs, {before} % before").format(before=before, after=after)


def canary_text(alert: Alert) -> str:
    """Say that the host was slower alone too, and by how much; empty where nothing says so, or a re-run says else."""
    canary = alert.params.get("canary")
    if not canary or alert.host is None or alert.verdict not in ("", Alert.RerunVerdict.HOST):
        return ""
    figure, change = _canary_name(canary.get("metric", canaries.METRIC)), signed_percent(canary["ratio"])
    return _("{host} alone was slower too: {figure} {change}.").format(
        host=alert.host.name, figure=figure, change=change
    )


def _canary_name(metric: str) -> str:
    """Name what a host measured alone: by itself, or in a schedule."""
    if metric == canaries.METRIC:
        return figure_name(canaries.KIND, metric)
    return str(CanaryMetric(metric).label)


def _limit_text(params: Mapping[str, Any]) -> str:
    metric = catalog().metrics.get(params["metric"])
    value, limit = (str(quantity(params[name], metric.unit if metric else "")) for name in ("value", "limit"))
    words = {
        "above": _("{value}, above {limit}"),
        "below": _("{value}, below {limit}"),
        "baseline": _("{value}, the limit by the baseline is {limit}"),
    }
    text = words[params["relation"]].format(value=value, limit=limit)
    return _("{limit}, comes and goes").format(limit=text) if params.get("comes_and_goes") else text


def _more_series(count: int) -> str:
    if not count:
        return ""
    return ngettext(" and {count:,} more series", " and {count:,} more series", count).format(count=count)
