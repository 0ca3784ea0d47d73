"""The overview: last night beside the nights before, what runs now, what gave no result, what comes."""

from collections.abc import Callable
from datetime import timedelta

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from benchweb.hosts.selectors import faulty_paths, host_counts
from benchweb.runs.lists import open_and_ended
from benchweb.runs.models import State
from benchweb.schedules.selectors import coming_schedules, faulty_slots
from benchweb.web.overview.alerts import open_alerts
from benchweb.web.overview.night import last_night
from benchweb.web.overview.silent_hosts import silent_groups
from benchweb.web.runs.rows import run_rows

_RUNNING_SHOWN = 10
_PATHS_SHOWN = 6
_LAST_SHOWN = 10
_COMING_SHOWN = 8
_WITHOUT_SHOWN = 10


@login_required
@require_GET
def overview(request: HttpRequest) -> HttpResponse:
    """Show the page, or for htmx the part that it asks for: each changes at its own pace."""
    part = request.GET.get("part", "")
    if request.htmx and part in _PARTS:  # type: ignore[attr-defined]
        return render(request, f"overview/partials/{part}.html", _PARTS[part]())
    context = {**_night_part(), **_runs_part(), **_coming_part(), **_beside_part()}
    return render(request, "overview/overview.html", context)


def _night_part() -> dict[str, object]:
    alerts = open_alerts()
    return {"alerts": alerts, "night": last_night(alerts.now.open_by_environment)}


def _runs_part() -> dict[str, object]:
    """Return what runs and what ran last."""
    rows = run_rows(open_and_ended(most_open=_RUNNING_SHOWN, most_ended=_LAST_SHOWN))
    opened_rows = [row for row in rows if row.is_open]
    return {
        "running": sorted(opened_rows, key=lambda row: (row.run.state != State.RUNNING, row.run.pk)),
        "most_running": _RUNNING_SHOWN,
        "last": [row for row in rows if not row.is_open],
    }


def _coming_part() -> dict[str, object]:
    return {"coming": coming_schedules(most=_COMING_SHOWN)}


def _beside_part() -> dict[str, object]:
    """Return the hosts, pairs whose data path is at fault, and slots without a result."""
    hosts = host_counts()
    silent_shown, silent_hidden = silent_groups(hosts.silent)
    faulty = faulty_paths(most=_PATHS_SHOWN) if hosts.faulty_paths else []
    return {
        "hosts": hosts,
        "silent": silent_shown,
        "silent_hidden": silent_hidden,
        "faulty_paths": faulty,
        "faulty_paths_hidden": hosts.faulty_paths - len(faulty),
        "without": faulty_slots(since=timezone.now() - timedelta(days=1), most=_WITHOUT_SHOWN),
    }


_PARTS: dict[str, Callable[[], dict[str, object]]] = {
    "night": _night_part,
    "running": _runs_part,
    "last": _runs_part,
    "coming": _coming_part,
    "beside": _beside_part,
}
