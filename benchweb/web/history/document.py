"""A look at the history as a document."""

from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.documents.document import Document, DocumentSection
from benchweb.documents.references import joined_label
from benchweb.web.history.page import HistoryView


def history_document(view: HistoryView) -> Document:
    """Return the charts of a look. No query."""
    first, last = (at.astimezone(view.query.zone) for at in view.query.span)
    return Document(
        title=joined_label([view.heading, _("History")]),
        lines=[f"{first:%Y-%m-%d %H:%M} – {last:%Y-%m-%d %H:%M} {view.query.zone}"],
        sections=[DocumentSection("charts", _("Charts"), charts=view.charts)],
        made_at=timezone.now(),
    )
