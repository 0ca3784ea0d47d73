"""The overview: is the network as good as yesterday, where is it worse, what is missing, what runs and comes."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.charts.run.verdict import verdict
from benchweb.hosts.selectors import HostCounts, faulty_paths, host_counts
from benchweb.ops import demo
from benchweb.ops.running.home import Home
from benchweb.ops.setup.build import engine_seconds_left
from benchweb.regressions.headline import headline
from benchweb.results.selectors import trial_rows
from benchweb.runs.lists import RecentRuns, recent_runs
from benchweb.runs.models import OPEN_STATES, State
from benchweb.schedules.selectors import coming_schedules
from benchweb.web.overview.alerts import live_alerts
from benchweb.web.overview.incomplete import MOST_FAULTY, incomplete
from benchweb.web.overview.night import last_night
from benchweb.web.overview.silent_hosts import silent_groups
from benchweb.web.runs.page import progress_of
from benchweb.web.runs.rows import run_rows
from benchweb.web.runs.views import live_metrics
from benchweb.web.series.pictures import NIGHT, first_night

_CHARTS_BESIDE_ROWS = 3
_RUNNING_SHOWN = 4
_PATHS_SHOWN = 3
_LAST_SHOWN = 3
_COMING_SHOWN = 3


@needs(Permission.READ)
@require_GET
def overview(request: HttpRequest) -> HttpResponse:
    """Show the page, or for htmx the part that it asks for: each changes at its own pace."""
    part = request.GET.get("part", "")
    if request.htmx and part in _PARTS:  # type: ignore[attr-defined]
        return render(request, f"overview/partials/{part}.html", _PARTS[part]())
    hosts = host_counts()
    runs = recent_runs(since=_since(), most_faulty=MOST_FAULTY, most_open=_RUNNING_SHOWN, most_ended=_LAST_SHOWN)
    context = {
        **_night_part(hosts, runs),
        **_runs_part(runs),
        **_coming_part(),
        **_hosts_part(hosts),
        **_building_part(),
        **_first_run_part(),
    }
    return render(request, "overview/overview.html", context)


def _since() -> datetime:
    """Return when the last night begins, for all parts alike."""
    return timezone.now() - NIGHT


def _night_part(hosts: HostCounts | None = None, runs: RecentRuns | None = None) -> dict[str, object]:
    """Return the headline, what it rests on, and the environments."""
    since = _since()
    hosts = hosts or host_counts()
    runs = runs or recent_runs(since=since, most_faulty=MOST_FAULTY)
    alerts = live_alerts(since, first_night())
    night = last_night(since, alerts.now)
    if not night.are_cards:
        alerts = replace(alerts, most_charts=_CHARTS_BESIDE_ROWS)
    return {
        "headline": headline(alerts.now, hosts, runs=night.runs, faulty=night.faulty_runs),
        "alerts": alerts,
        "night": night,
        "incomplete": incomplete(runs.faulty, since),
        "hosts": hosts,
        "charts": [*alerts.charts, *night.charts],
    }


def _runs_part(runs: RecentRuns | None = None) -> dict[str, object]:
    """Return what runs and what ran last."""
    runs = runs or recent_runs(most_open=_RUNNING_SHOWN, most_ended=_LAST_SHOWN)
    rows = run_rows([*runs.opened, *runs.ended])
    opened_rows = [row for row in rows if row.is_open]
    return {
        "running": sorted(opened_rows, key=lambda row: (row.run.state != State.RUNNING, row.run.pk)),
        "most_running": _RUNNING_SHOWN,
        "last": [row for row in rows if not row.is_open],
    }


def _coming_part() -> dict[str, object]:
    return {"coming": coming_schedules(most=_COMING_SHOWN)}


def _hosts_part(hosts: HostCounts | None = None) -> dict[str, object]:
    """Return the hosts that don't answer, and pairs whose data path is at fault."""
    hosts = hosts or host_counts()
    silent, silent_hidden = silent_groups(hosts.silent)
    faulty = faulty_paths(most=_PATHS_SHOWN) if hosts.faulty_paths else []
    return {
        "hosts": hosts,
        "silent": silent,
        "silent_hidden": silent_hidden,
        "faulty_paths": faulty,
        "faulty_paths_hidden": hosts.faulty_paths - len(faulty),
    }


def _building_part() -> dict[str, object]:
    """Return when the engine is built, which the first start of `manage.py up` does beside the pages."""
    left = engine_seconds_left()
    built_at = None if left is None else timezone.now() + timedelta(seconds=left)
    return {"built_at": built_at, "is_build_late": left is not None and left <= 0}


def _first_run_part() -> dict[str, object]:
    """Return the demo's first run, which begins once somebody looks, large; two queries in the demo alone."""
    run = demo.first_run()
    if run is None:
        return {"first_run": None, "is_demo_awaited": demo.is_awaited(Home(settings.BENCHWEB_HOME))}
    demo.begin(run)
    trials = trial_rows(run.pk)
    return {
        "first_run": run,
        "first_run_is_open": run.state in OPEN_STATES,
        "first_run_progress": progress_of(run, trials),
        "first_run_figures": verdict(trials, run.plan_version.plan.main_size_bytes).headlines,
        "live_metrics": json.dumps(live_metrics()),
    }


_PARTS: dict[str, Callable[[], dict[str, object]]] = {
    "night": _night_part,
    "running": _runs_part,
    "last": _runs_part,
    "coming": _coming_part,
    "hosts": _hosts_part,
    "building": _building_part,
    "first_run": _first_run_part,
}
