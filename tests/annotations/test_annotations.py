"""People's notes: written, found where they concern, removed without being lost."""

from datetime import datetime, timedelta

import pytest
from django.db import IntegrityError

from benchweb.annotations.models import Annotation
from benchweb.annotations.selectors import annotations_between
from benchweb.annotations.services import AnnotationError, annotation_archive, annotation_create
from tests.charts.history_rows import DAY, NIGHT
from tests.factories import make_pair

pytestmark = pytest.mark.django_db


def found(first: int, last: int, **concerned: set[int]) -> list[str]:
    """Return the texts of the notes between two nights."""
    ids: dict[str, set[int]] = {"environments": set(), "hosts": set(), "pairs": set()} | concerned
    return [note.text for note in annotations_between(NIGHT + first * DAY, NIGHT + last * DAY, **ids)]


def test_a_note_is_found_in_the_time_that_it_touches() -> None:
    annotation_create(text="  new switch ", at=NIGHT)
    annotation_create(text="building works", at=NIGHT, until=NIGHT + 5 * DAY)
    assert found(-1, 1) == ["new switch", "building works"]
    assert found(2, 3) == ["building works"]
    assert found(6, 9) == []


def test_a_note_about_a_host_concerns_only_looks_with_that_host() -> None:
    pair = make_pair()
    annotation_create(text="new fan", at=NIGHT, host=pair.source.host)
    assert found(0, 1) == []
    assert found(0, 1, hosts={pair.source.host_id, pair.sink.host_id}) == ["new fan"]
    assert found(0, 1, hosts={pair.sink.host_id}) == []


def test_a_removed_note_is_shown_no_more_but_kept() -> None:
    note = annotation_create(text="new fan", at=NIGHT)
    assert annotation_archive(annotation_id=note.pk)
    assert not annotation_archive(annotation_id=note.pk)
    assert found(0, 1) == []
    assert Annotation.objects.get().text == "new fan"


@pytest.mark.parametrize(
    ("text", "until", "field"),
    [("   ", None, "text"), ("x" * 501, None, "text"), ("a\nb", None, "text"), ("fan", NIGHT - DAY, "until")],
)
def test_a_note_that_cannot_be_is_refused_and_nothing_written(text: str, until: datetime | None, field: str) -> None:
    with pytest.raises(AnnotationError) as refused:
        annotation_create(text=text, at=NIGHT, until=until)
    assert refused.value.field == field
    assert Annotation.objects.count() == 0


def test_the_database_keeps_ends_after_beginnings() -> None:
    with pytest.raises(IntegrityError):
        Annotation.objects.create(text="fan", at=NIGHT, until=NIGHT - timedelta(seconds=1))
