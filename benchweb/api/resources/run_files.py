"""A run as files that other tools' readers take."""

from typing import Any

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Router

from benchweb.api.authentication import READ
from benchweb.api.problems import not_found
from benchweb.api.schemas import Identifier
from benchweb.charts.tools.files import TOOL_FILES
from benchweb.common.downloads import download
from benchweb.runs.selectors import run_detail

router = Router(tags=["runs"])


def _file_response(media_type: str) -> dict[str, Any]:
    return {"responses": {200: {"content": {media_type: {"schema": {}}}}}}


@router.get("/runs/{run_id}/results.txt", response={200: None}, openapi_extra=_file_response("text/plain"), auth=READ)
def run_results_of_type(request: HttpRequest, run_id: Identifier) -> StreamingHttpResponse:
    """Download a run as netperf prints its tables, ping its statistics and wrk its report; rates with all digits."""
    return _file(request, run_id, "netperf")


@router.get(
    "/runs/{run_id}/results.iperf3.json",
    response={200: None},
    openapi_extra=_file_response("application/json"),
    auth=READ,
)
def run_results_iperf3(request: HttpRequest, run_id: Identifier) -> StreamingHttpResponse:
    """Download an array with iperf3's document (`iperf3 -J`) of each stream test of a run."""
    return _file(request, run_id, "iperf3")


@router.get("/runs/{run_id}/results.md", response={200: None}, openapi_extra=_file_response("text/markdown"), auth=READ)
def run_results_markdown(request: HttpRequest, run_id: Identifier) -> StreamingHttpResponse:
    """Download a run as Markdown: a table for each kind, a row for each trial, in full precision."""
    return _file(request, run_id, "markdown")


def _file(request: HttpRequest, run_id: int, tool: str) -> StreamingHttpResponse:
    run = run_detail(run_id)
    if run is None:
        raise not_found("run", run_id)
    file = TOOL_FILES[tool]
    return download(request, file.write(run), media_type=file.media_type, file_name=f"run-{run_id}.{file.suffix}")
