"""The overview: what runs now, what ran last, which hosts don't answer."""

from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from benchweb.hosts.models import Endpoint, Host, Pair
from benchweb.runs.models import OPEN_STATES
from benchweb.web.run_rows import run_rows, runs_with_names

_RUNNING_SHOWN = 10
_LAST_SHOWN = 10
_SILENT_SHOWN = 10


@login_required
def overview(request: HttpRequest) -> HttpResponse:
    """Show the page, or for htmx only the part that changes."""
    template = "partials/overview.html" if request.htmx else "pages/overview.html"  # type: ignore[attr-defined]
    return render(request, template, _context())


def _context() -> dict[str, object]:
    running = list(runs_with_names().filter(state__in=OPEN_STATES).order_by("-pk")[:_RUNNING_SHOWN])
    last = list(runs_with_names().exclude(state__in=OPEN_STATES).order_by("-pk")[:_LAST_SHOWN])
    rows = run_rows([*running, *last])
    hosts = Host.objects.filter(archived_at=None).aggregate(
        all=Count("pk", distinct=True),
        answering=Count("pk", distinct=True, filter=Q(endpoints__status=Endpoint.Status.ANSWERED)),
    )
    return {
        "running": rows[: len(running)],
        "last": rows[len(running) :],
        "hosts": hosts,
        "silent": _silent(),
        "pairs_count": Pair.objects.filter(archived_at=None).count(),
    }


def _silent() -> list[Endpoint]:
    bad = (Endpoint.Status.UNREACHABLE, Endpoint.Status.REFUSED)
    return list(
        Endpoint.objects.filter(archived_at=None, host__archived_at=None, status__in=bad).select_related("host")[
            :_SILENT_SHOWN
        ]
    )
