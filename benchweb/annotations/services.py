"""Write and remove people's notes."""

from datetime import datetime

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.annotations.models import Annotation
from benchweb.common.names import text_fault
from benchweb.common.refusals import RefusedWrite
from benchweb.hosts.models import Environment, Host, Pair

MOST_CHARACTERS = 500


class AnnotationError(RefusedWrite):
    """A note that can't be: the field at fault and what to do."""


def annotation_create(
    *,
    text: str,
    at: datetime,
    until: datetime | None = None,
    environment: Environment | None = None,
    host: Host | None = None,
    pair: Pair | None = None,
    author: User | None = None,
) -> Annotation:
    """Write a note; raise AnnotationError for an empty one and for one that ends before it begins."""
    words = text.strip()
    if not 1 <= len(words) <= MOST_CHARACTERS:
        raise AnnotationError(
            "text", _("A note has 1 to {most_characters} characters.").format(most_characters=MOST_CHARACTERS)
        )
    if fault := text_fault(words):
        raise AnnotationError("text", fault.replace("a name", "a note"))
    if until is not None and until < at:
        raise AnnotationError("until", _("The note ends before it begins: give a later end, or none."))
    return Annotation.objects.create(
        text=words, at=at, until=until, environment=environment, host=host, pair=pair, author=author
    )


def annotation_restore(*, annotation_id: int) -> bool:
    """Put a removed note back on the charts; False when it is there."""
    removed = Annotation.objects.filter(pk=annotation_id).exclude(archived_at=None)
    return removed.update(archived_at=None) == 1


def annotation_archive(*, annotation_id: int) -> bool:
    """Take a note from the charts; False when that was done already."""
    unarchived = Annotation.objects.filter(pk=annotation_id, archived_at=None)
    return unarchived.update(archived_at=timezone.now()) == 1
