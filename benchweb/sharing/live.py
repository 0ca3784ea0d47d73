"""What a live link shows: made anew for one reader a minute, whoever else opens it gets what was made last."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from benchweb.documents.document import Document
from benchweb.documents.json_file import document_of, stored_document
from benchweb.sharing.models import LivePage, Share

# Strangers must not make the dashboard work for each opening.
MADE_ANEW = timedelta(minutes=1)


def live_view(share: Share, language: str, make: Callable[[], Document]) -> Document | None:
    """Return the view of a live link; `make` is called by one of all readers in all processes, once a minute.

    None while the first is being made. One that fails is tried again a minute later.
    """
    row, _is_new = LivePage.objects.get_or_create(share=share, language=language)
    if row.tried_at and row.tried_at > timezone.now() - MADE_ANEW:
        return _stored(row)
    due = Q(tried_at=None) | Q(tried_at__lte=Now() - MADE_ANEW)
    if not LivePage.objects.filter(due, pk=row.pk).update(tried_at=Now()):
        return _stored(row)
    stored = stored_document(make())
    LivePage.objects.filter(pk=row.pk).update(page=stored)
    return document_of(stored)


def live_pages_store(share: Share, pages: Mapping[str, Document]) -> None:
    """Store what a new live link shows first, so that nobody waits for it."""
    LivePage.objects.bulk_create(
        LivePage(share=share, language=language, tried_at=timezone.now(), page=stored_document(page))
        for language, page in pages.items()
    )


def _stored(row: LivePage) -> Document | None:
    return document_of(row.page) if row.page else None
