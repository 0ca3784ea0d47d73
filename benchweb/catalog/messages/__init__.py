"""Why something is as it is, as data: a code with parameters; its text in English here, in other languages in locale/.

One module per room that gives reasons. A code is part of the REST API: it keeps its meaning, and is never removed, for
rows of years ago bear it.
"""

from benchweb.catalog.messages import (
    engine_sentences,
    engines,
    hosts,
    notifications,
    results,
    runs,
    schedules,
    site,
    tool_sentences,
    words,
)

MESSAGES: dict[str, str] = {
    **runs.MESSAGES,
    **schedules.MESSAGES,
    **hosts.MESSAGES,
    **engines.MESSAGES,
    **results.MESSAGES,
    **notifications.MESSAGES,
    **site.MESSAGES,
    **engine_sentences.MESSAGES,
    **tool_sentences.MESSAGES,
    **words.MESSAGES,
}
