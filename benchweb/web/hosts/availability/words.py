"""Say what the section of availability says in the reader's language."""

from functools import cache
from typing import NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.hosts.probing.availability import ANSWERED, ENGINE_DOWN, UNKNOWN, UNREACHABLE
from benchweb.web.hosts.availability.periods import PERIODS

# Before an endpoint was added: no state of it, and no gap in what is known.
NOT_ADDED = "not_added"
WORDS = {
    ANSWERED: "up",
    ENGINE_DOWN: gettext_noop("engine down"),
    UNREACHABLE: "unreachable",
    UNKNOWN: gettext_noop("not known"),
    NOT_ADDED: gettext_noop("not yet added"),
}


class Texts(NamedTuple):
    """The texts of the section for each endpoint, in one language."""

    heads: list[str]
    # By their states.
    words: dict[str, str]
    invalid: str
    unanswered: str
    known: str
    known_since: str
    little_known: str
    mean: str
    least: str
    most: str
    as_entered: str


@cache
def texts_in(_language: str | None) -> Texts:
    """Keep the texts of a language: each endpoint's table would look up dozens."""
    return Texts(
        heads=[_("Last %(period)s") % {"period": period.label} for period in PERIODS],
        words={state: _(word) for state, word in WORDS.items()},
        invalid=_("no probe got a valid answer"),
        unanswered=_("no probe was answered"),
        known=_("{count}known {figure}"),
        known_since=_("{count}known {figure} since it was added"),
        little_known=_("{count}only {figure} known"),
        mean=_("mean"),
        least=_("minimum"),
        most=_("maximum"),
        as_entered=_("by the link's speed as entered"),
    )
