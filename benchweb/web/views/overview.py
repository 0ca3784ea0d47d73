"""The overview: what runs now, what ran last, which hosts don't answer."""

from datetime import timedelta

from django.contrib.auth.decorators import login_required
from django.db.models import Count, Exists, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from benchweb.hosts.models import Endpoint, Host, Pair
from benchweb.runs.models import OPEN_STATES, State
from benchweb.schedules.models import Schedule, Slot
from benchweb.web.run_rows import run_rows, runs_with_names

_RUNNING_SHOWN = 10
_LAST_SHOWN = 10
_SILENT_SHOWN = 10
_COMING_SHOWN = 8
_WITHOUT_SHOWN = 10


@login_required
def overview(request: HttpRequest) -> HttpResponse:
    """Show the page, or for htmx only the part that changes."""
    template = "partials/overview.html" if request.htmx else "pages/overview.html"  # type: ignore[attr-defined]
    return render(request, template, _context())


def _context() -> dict[str, object]:
    # Running before pending: of a campaign of hundreds the ones that wait must not hide the ones that run.
    opened = runs_with_names().filter(state__in=OPEN_STATES).order_by("-state", "-pk")
    running = list(opened[:_RUNNING_SHOWN])
    last = list(runs_with_names().exclude(state__in=OPEN_STATES).order_by("-pk")[:_LAST_SHOWN])
    rows = run_rows([*running, *last])
    has_pair = Exists(Pair.objects.filter(archived_at=None))
    hosts = Host.objects.filter(archived_at=None).aggregate(
        all=Count("pk", distinct=True),
        answering=Count("pk", distinct=True, filter=Q(endpoints__status=Endpoint.Status.ANSWERED)),
        paired=Count("pk", distinct=True, filter=has_pair),
    )
    return {
        "running": rows[: len(running)],
        "last": rows[len(running) :],
        "hosts": hosts,
        "silent": _silent(),
        "coming": _coming(),
        "without": _without_result(),
    }


def _coming() -> list[Schedule]:
    """Give the schedules that come due next."""
    active = Schedule.objects.filter(archived_at=None, paused_at=None).exclude(next_at=None)
    return list(active.select_related("plan").order_by("next_at", "pk")[:_COMING_SHOWN])


def _without_result() -> list[Slot]:
    """Give the latest slots of a day that gave no whole result, each with its reason."""
    since = timezone.now() - timedelta(days=1)
    bad = (State.FAILED, State.MISSED, State.NONSTART, State.CANCELLED)
    slots = Slot.objects.filter(at__gte=since, state__in=bad).select_related("schedule")
    return list(slots.order_by("-at")[:_WITHOUT_SHOWN])


def _silent() -> list[Endpoint]:
    bad = (Endpoint.Status.UNREACHABLE, Endpoint.Status.REFUSED)
    return list(
        Endpoint.objects.filter(archived_at=None, host__archived_at=None, status__in=bad).select_related("host")[
            :_SILENT_SHOWN
        ]
    )
