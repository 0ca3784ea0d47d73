"""Charts as an answer of their own, for the script that draws them again."""

from collections.abc import Sequence

from django.http import HttpResponse

from benchweb.documents.charts import ChartSpec, charts_text


def charts_answer(charts: Sequence[ChartSpec]) -> HttpResponse:
    """Return `{"charts": [...]}`, the same text as pages carry."""
    return HttpResponse(b'{"charts":%b}' % charts_text(charts), content_type="application/json")
