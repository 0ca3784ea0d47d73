"""The words for states, of runs and slots, hosts and schedules; the style sheet knows their colours by the state."""

from django.utils.translation import gettext, gettext_noop

_WORDS = {
    "pending": gettext_noop("pending"),
    "running": gettext_noop("running"),
    "finished": gettext_noop("finished"),
    "failed": gettext_noop("failed"),
    "cancelled": gettext_noop("cancelled"),
    "missed": gettext_noop("missed"),
    "nonstart": gettext_noop("not started"),
    "skipped": gettext_noop("skipped"),
    "planned": gettext_noop("planned"),
    "answered": gettext_noop("up"),
    "unreachable": gettext_noop("unreachable"),
    "refused": gettext_noop("wrong answer"),
    "silent": gettext_noop("unreachable or wrong answer"),
    "unknown": gettext_noop("unknown"),
    "never_asked": gettext_noop("not monitored"),
    "engine_down": gettext_noop("engine down"),
    "passes": gettext_noop("TCP and UDP pass"),
    "narrow": gettext_noop("large packets vanish"),
    "blocked": gettext_noop("blocked"),
    "unchecked": gettext_noop("not checked"),
    "faulty": gettext_noop("blocked, or large packets vanish"),
    "active": gettext_noop("active"),
    "paused": gettext_noop("paused"),
    "over": gettext_noop("completed"),
    "archived": gettext_noop("archived"),
}


def state_word(state: str) -> str:
    """Say a state; one without a word of its own as it is stored."""
    return gettext(_WORDS[state]) if state in _WORDS else state
