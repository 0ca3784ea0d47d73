"""What an alert tells, as a sentence in the reader's language."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from benchweb.catalog import catalog
from benchweb.regressions.models import Alert

_UNCONFIRMED = {
    "no_schedule": gettext_lazy("Not measured again: no schedule launched its run."),
    "schedule_paused": gettext_lazy("Not measured again: its schedule is paused or archived."),
    "window_closed": gettext_lazy("Not measured again: the schedule's window has closed, or closes too soon."),
    "budget_spent": gettext_lazy("Not measured again: the schedule's time for re-runs is spent for today."),
    "refused": gettext_lazy("Not measured again: the re-run could not be launched."),
    "rerun_failed": gettext_lazy("Measured again without a result."),
}


def alert_title(alert: Alert) -> str:
    """Say what an alert tells, with names; the alert comes with its pair, host, endpoint and schedule."""
    params = alert.params
    match alert.code:
        case "change":
            return f"{_where(alert)}: {_figure(alert)} {_size(alert)}{_more(params['series'] - 1)}"
        case "slot":
            slots = ngettext("{count:,} slot", "{count:,} slots", params["slots"]).format(count=params["slots"])
            return _("Schedule {schedule}: {slots} without complete results").format(
                schedule=alert.schedule, slots=slots
            )
        case "late":
            return _("Schedule {schedule} is late").format(schedule=alert.schedule)
        case "nothing":
            runs = ngettext("{count:,} run", "{count:,} runs", params["runs"]).format(count=params["runs"])
            return _("{pair}: {runs} finished with nothing received").format(pair=alert.pair, runs=runs)
        case "unreachable":
            return _("{endpoint} is unreachable").format(endpoint=alert.endpoint)
        case _code:
            return _("Alert {number}").format(number=alert.pk)


def unconfirmed_reason(alert: Alert) -> str:
    """Say why a suspect was not measured again, or to no end; empty where neither is so."""
    return str(_UNCONFIRMED.get(alert.unconfirmed_code, ""))


def signed_percent(ratio: float) -> str:
    """Say a relative difference with its sign."""
    return f"{'−' if ratio < 0 else '+'}{abs(ratio) * 100:.1f} %"


def _where(alert: Alert) -> str:
    if alert.pair is not None and alert.verdict != Alert.Verdict.HOST:
        has_both_directions = alert.params["pairs"] > 1
        return f"{alert.pair.source} ↔ {alert.pair.sink}" if has_both_directions else str(alert.pair)
    if alert.host is not None:
        return _("Host {host}").format(host=alert.host)
    if alert.params.get("uplink"):
        return _("Uplink {uplink}").format(uplink=alert.params["uplink"])
    count = alert.params["pairs"]
    pairs = ngettext("{count:,} pair", "{count:,} pairs", count).format(count=count)
    return f"{pairs} ({alert.environment})"


def _figure(alert: Alert) -> str:
    kind, metric = catalog().kinds.get(alert.params["kind"]), catalog().metrics.get(alert.params["metric"])
    names = kind.label if kind else alert.params["kind"], metric.label if metric else alert.params["metric"]
    return " · ".join(names)


def _size(alert: Alert) -> str:
    ratio = alert.params.get("ratio")
    return _("changed") if ratio is None else signed_percent(ratio)


def _more(count: int) -> str:
    if not count:
        return ""
    return ngettext(" and {count:,} more series", " and {count:,} more series", count).format(count=count)
