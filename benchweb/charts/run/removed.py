"""Say of a run what of it went with age, wherever its document is shown: no table is empty without a word."""

from collections.abc import Iterator
from datetime import datetime
from typing import Protocol

from django.utils.translation import gettext as _

from benchweb.documents.document import Moment
from benchweb.documents.references import Label, worded


class RemovedParts(Protocol):
    """A run, or its record, which tells when its trials' intervals and details went; None while they are there."""

    @property
    def intervals_removed_at(self) -> datetime | None: ...
    @property
    def details_removed_at(self) -> datetime | None: ...


def removed_words(run: RemovedParts) -> Iterator[Label]:
    """Return the sentence on what went last, or nothing."""
    if run.details_removed_at:
        removed = _("Details were removed %(at)s; all figures are as measured.")
        yield worded(removed, at=str(Moment(run.details_removed_at)))
    elif run.intervals_removed_at:
        removed = _("Intervals were removed %(at)s; all figures are as measured.")
        yield worded(removed, at=str(Moment(run.intervals_removed_at)))
