"""Labels: words that people give hosts, pairs, plans and runs, to find and choose them by."""

from collections.abc import Sequence
from typing import Any, TypeVar

from django.contrib.postgres.fields import ArrayField
from django.db import models, transaction
from django.db.models import F, Func, Q, QuerySet, Value
from django.utils.translation import gettext as _

from benchweb.common.names import stored_name, text_fault
from benchweb.common.refusals import RefusedWrite

MAXIMUM_LABELS = 20
MAXIMUM_LABEL_LENGTH = 60


class Labelled(models.Model):
    """A row with labels, such as "rack-7" or "nightly"."""

    labels = ArrayField(models.CharField(max_length=MAXIMUM_LABEL_LENGTH), default=list, db_default=[])

    class Meta:
        abstract = True


Row = TypeVar("Row", bound=Labelled)


class LabelError(RefusedWrite):
    """A label that can't be given."""

    def __init__(self, message: str) -> None:
        super().__init__("label", message)


def labels_fault(labels: Sequence[str]) -> str:
    """Say what is wrong with the labels of one row, or nothing."""
    if len(labels) > MAXIMUM_LABELS:
        return _("{labels} labels; the maximum is {maximum_labels}.").format(
            labels=f"{len(labels):,}", maximum_labels=MAXIMUM_LABELS
        )
    for label in labels:
        if not 1 <= len(label.strip()) <= MAXIMUM_LABEL_LENGTH:
            return _("A label has 1 to {maximum_label_length} characters.").format(
                maximum_label_length=MAXIMUM_LABEL_LENGTH
            )
        # Pages list labels with commas between them.
        if "," in label:
            return _("{label} has a comma, which parts labels: give two labels, or leave it out.").format(
                label=f"{label[:60]!r}"
            )
        if fault := text_fault(label):
            return fault.replace("a name", "a label")
    return ""


def stored_labels(labels: Sequence[str]) -> list[str]:
    """Return each label once, as names are stored, in the order given."""
    return list(dict.fromkeys(map(stored_name, labels)))


@transaction.atomic
def label_add(rows: QuerySet[Row], label: str) -> int:
    """Add a label to rows; return how many have it now; raise LabelError for no label, or one too many for a row."""
    word = stored_name(label)
    if fault := labels_fault([word]):
        raise LabelError(fault)
    others = rows.exclude(labels__contains=[word])
    full = others.filter(labels__len__gte=MAXIMUM_LABELS).first()
    if full is not None:
        words = {"row": full, "maximum_labels": MAXIMUM_LABELS}
        raise LabelError(
            _("{row} has {maximum_labels} labels, which is the maximum: take one off first.").format(**words)
        )
    others.update(labels=Func(F("labels"), Value(word), function="array_append"))
    return rows.count()


def label_remove(rows: QuerySet[Row], label: str) -> int:
    """Take a label from rows; return how many had it."""
    word = stored_name(label)
    return with_label(rows, word).update(labels=Func(F("labels"), Value(word), function="array_remove"))


def with_label(rows: QuerySet[Row], label: str) -> QuerySet[Row]:
    """Return those of some rows that have a label."""
    return rows.filter(labels__contains=[stored_name(label)])


def labels_in_use(*of: type[Labelled]) -> list[str]:
    """Return the labels of hosts, pairs or plans that are not archived, for a choice; one query."""
    first, *others = map(_labels_of, of)
    return sorted(first.union(*others) if others else first.distinct())


def _labels_of(model: type[Labelled]) -> "QuerySet[Any, Any]":
    rows = model._default_manager.filter(Q(archived_at=None)).order_by()
    each = Func(F("labels"), function="unnest")
    labels: QuerySet[Any, Any] = rows.annotate(label=each).values_list("label", flat=True)
    return labels
