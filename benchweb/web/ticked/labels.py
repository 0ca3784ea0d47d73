"""A label added to the rows ticked in a list, or taken from them."""

from collections.abc import Callable, Sequence

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import ngettext

from benchweb.hosts.errors import HostsError
from benchweb.runs import services


def labelled(
    request: HttpRequest,
    back: str,
    *,
    label: Callable[[str], int],
    unlabel: Callable[[str], int],
    said: Callable[[int], str],
) -> HttpResponse:
    """Do what the pressed button says, and tell how many rows it changed, in the words of `said`; or what is wrong."""
    act = unlabel if request.POST.get("action") == "unlabel" else label
    try:
        messages.success(request, said(act(request.POST.get("label", ""))))
    except (HostsError, services.LaunchError) as error:
        messages.error(request, error.message)
    return redirect(back)


def labels_of_runs(request: HttpRequest, run_ids: Sequence[int], back: str) -> HttpResponse:
    """Label runs, or take a label from them."""
    return labelled(
        request,
        back,
        label=lambda label: services.runs_label(run_ids=run_ids, label=label),
        unlabel=lambda label: services.runs_unlabel(run_ids=run_ids, label=label),
        said=_runs_changed,
    )


def _runs_changed(count: int) -> str:
    text = ngettext("The labels of {count} run are changed.", "The labels of {count} runs are changed.", count)
    return text.format(count=count)
