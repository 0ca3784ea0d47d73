"""Names of channels, rules and maintenance windows, and words that hosts are chosen by."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from benchweb.common.names import name_fault, stored_name
from benchweb.labels import labels_fault
from benchweb.notifications.errors import NotificationError

MOST_WORDS = 40


def checked_name(name: str) -> str:
    """Return a name as it is stored; raise NotificationError."""
    if fault := name_fault(name):
        raise NotificationError("name", fault)
    return stored_name(name)


def checked_label(label: str) -> str:
    """Return a label as it was given, or nothing for none."""
    if label and (fault := labels_fault([label])):
        raise NotificationError("host_label", fault)
    return label.strip()


def checked_words(field: str, words: Sequence[str]) -> list[str]:
    """Return names of alert kinds or transitions; they are not looked up, for other rooms add to them."""
    if len(words) > MOST_WORDS or not all(word.isidentifier() and word.isascii() and len(word) <= 40 for word in words):
        raise NotificationError(
            field,
            _("At most {most_words} names of small letters, digits and _ are taken.").format(most_words=MOST_WORDS),
        )
    return list(dict.fromkeys(words))
