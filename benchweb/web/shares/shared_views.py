"""What a share link shows to anyone who has it: the frozen run, its downloads, a badge and a chart to embed."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_exempt

from benchweb.accounts.roles.needs import open_to_all
from benchweb.charts.run.record import record_of
from benchweb.common.downloads import download
from benchweb.documents.charts import ChartSpec
from benchweb.sharing.models import SharePart
from benchweb.sharing.selectors import OpenedShare, share_by_token, share_parts
from benchweb.sharing.services import share_count_opening
from benchweb.web.facts.diff import facts_side_by_side
from benchweb.web.runs.badge import badge_svg, figure_badge
from benchweb.web.runs.document import recorded_document
from benchweb.web.runs.page import noted
from benchweb.web.shared.document_answer import document_answer
from benchweb.web.shares.locked import is_unlocked, locked_page, unlock

# Only this page's own files; nothing is sent anywhere, nothing may frame it (but the embed, see below).
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action {}; frame-ancestors {}"
)
_HEADERS = {
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Referrer-Policy": "no-referrer",
    # A revoked link is dead at once, in every cache on the way too.
    "Cache-Control": "private, no-store",
}
_THEMES = ("light", "dark")
_MEDIA_TYPES = {"csv": "text/csv", "json": "application/json"}
# Nothing here changes anything: no form is answered, so none needs a token either.
_SAFE = ("GET", "HEAD")
# How the page is answered that asks for a password: its form is sent to this server.
_LOCKED = (403, 429, 503)
Answer = Callable[[HttpRequest, OpenedShare], HttpResponseBase]
View = Callable[..., HttpResponseBase]


OF_A_LINK = "who has a share link may see what it shows"
# In the address of a live page that was open already.
AGAIN = "again"


def shared(*, with_page: bool = True, counted: bool = False, framed: bool = False) -> Callable[[Answer], View]:
    """Make a view of an answer: 404 for unknown tokens, 410 for ended ones, headers that keep the link private."""

    def decorated(answer: Answer) -> View:
        @open_to_all(OF_A_LINK)
        @wraps(answer)
        @csrf_exempt
        def view(request: HttpRequest, token: str) -> HttpResponseBase:
            if request.method not in _SAFE:
                return _private(HttpResponseNotAllowed(_SAFE), is_framed=False)
            opened = share_by_token(token, with_page=with_page)
            response = _answered(request, answer, opened, is_framed=framed)
            is_displayed = response.status_code == 200
            # On a wall a live page comes again by itself: that is no opening.
            if counted and is_displayed and request.method == "GET" and AGAIN not in request.GET:
                share_count_opening(token=token)
            # Also what says that a link has ended: it stands where the chart stood.
            return _private(response, is_framed=framed, is_asking=response.status_code in _LOCKED)

        return view

    return decorated


def _answered(request: HttpRequest, answer: Answer, opened: OpenedShare | None, *, is_framed: bool) -> HttpResponseBase:
    if opened is None or opened.ended:
        return _nothing(request, opened)
    if not is_unlocked(request, opened.share):
        return _grey_badge("locked", 403) if is_badge(request) else locked_page(request, is_framed=is_framed)
    return answer(request, opened)


def run_page(request: HttpRequest, opened: OpenedShare, *, is_preview: bool = False) -> HttpResponse:
    """Show the frozen run."""
    frozen = record_of(opened.page or {})
    context = {
        "share": opened.share,
        "frozen": frozen,
        "facts": facts_side_by_side(frozen.source_facts, frozen.sink_facts),
        "is_preview": is_preview,
    }
    return render(request, "shares/shared.html", context)


def run_embed(request: HttpRequest, opened: OpenedShare) -> HttpResponse:
    """Show one chart and nothing else: the first, or the one that `chart` names; for a frame on another page.

    `theme` makes it light or dark as that page is; else it follows the reader's system.
    """
    frozen = record_of(opened.page or {})
    requested = request.GET.get("chart", "")
    charts = [chart for chart in frozen.charts if not requested or chart.id == requested][:1]
    theme = request.GET.get("theme", "")
    context = {
        "share": opened.share,
        "frozen": frozen,
        "charts": charts,
        "repetitions": _repetitions(charts),
        "notes": noted(frozen.verdict.warnings, frozen.facts_note),
        "is_missing": not charts,
        "requested_theme": theme if theme in _THEMES else "",
    }
    return render(request, "shares/shared_embed.html", context, status=200 if charts else 404)


def _repetitions(charts: Sequence[ChartSpec]) -> str:
    """Say how many repetitions the points of charts are the medians of: "3", or "2–3"."""
    counts = {point.n for chart in charts for line in chart.series for point in line.points if point.n}
    return "–".join(map(str, sorted({min(counts), max(counts)}))) if counts else ""


def run_badge(request: HttpRequest, opened: OpenedShare) -> HttpResponse:
    """Return the badge of a metric, or of the run's first headline."""
    frozen = record_of(opened.page or {})
    requested = request.GET.get("metric", "")
    notes = noted(frozen.verdict.warnings, frozen.facts_note)
    return figure_badge(frozen.figures, requested, state=frozen.state, notes=notes, is_synthetic=frozen.is_synthetic)


def run_file(request: HttpRequest, opened: OpenedShare, ending: str) -> HttpResponseBase:
    """Return the frozen CSV or JSON of a run, or its page as Markdown."""
    if ending == "md":
        document = recorded_document(record_of(opened.page or {}))
        address = request.build_absolute_uri(request.path.removesuffix("/results.md"))
        return document_answer(request, document, "md", address=address, name="shared-run")
    parts = share_parts(opened.share, SharePart.Export(ending))
    return download(request, parts, media_type=_MEDIA_TYPES[ending], file_name=f"shared-run.{ending}")


@open_to_all("who has a share link may give its password, which guessing finds too slowly")
# Without referrer a browser doesn't tell a form's origin, and who knows the password may open the link anywhere.
@csrf_exempt
def share_unlock(request: HttpRequest, token: str) -> HttpResponseBase:
    """Take the password of a link, and lead to what it shows."""
    if request.method != "POST":
        return _private(HttpResponseNotAllowed(["POST"]), is_framed=False)
    opened = share_by_token(token, with_page=False)
    if opened is None or opened.ended:
        return _private(_nothing(request, opened), is_framed=False)
    response = unlock(request, opened.share, redirect("web:shared", token))
    return _private(response, is_framed=False, is_asking=response.status_code in _LOCKED)


@open_to_all(OF_A_LINK)
@csrf_exempt
def shared_nothing(request: HttpRequest, rest: str = "") -> HttpResponseBase:
    """Answer 404 to what no link leads to."""
    return _private(_nothing(request, None), is_framed=False)


def _private(response: HttpResponseBase, *, is_framed: bool, is_asking: bool = False) -> HttpResponseBase:
    for name, value in _HEADERS.items():
        response[name] = value
    response["Content-Security-Policy"] = _POLICY.format(
        "'self'" if is_asking else "'none'", "*" if is_framed else "'none'"
    )
    response.xframe_options_exempt = is_framed  # type: ignore[attr-defined]
    return response


def _nothing(request: HttpRequest, opened: OpenedShare | None) -> HttpResponse:
    """Say why there is nothing to see: a link that ended is told from one that never was."""
    if is_badge(request):
        return _grey_badge(opened.ended if opened else "unknown", _status(opened))
    context: dict[str, Any] = {"opened": opened}
    return render(request, "shares/shared_ended.html", context, status=_status(opened))


def _status(opened: OpenedShare | None) -> int:
    if opened is None:
        return 404
    return 403 if opened.pause else 410


def is_badge(request: HttpRequest) -> bool:
    """Tell whether a picture is asked for, where no page can be shown."""
    return request.path.endswith("/badge.svg")


def _grey_badge(words: str, status: int) -> HttpResponse:
    svg = badge_svg("benchweb", f"link {words}", color="grey")
    return HttpResponse(svg, content_type="image/svg+xml", status=status)
