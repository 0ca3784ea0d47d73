"""The words of the field as the pages use them."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

_WORDS = [
    ("host", gettext_noop("Host"), gettext_noop("A machine that takes part in tests.")),
    (
        "endpoint",
        gettext_noop("Endpoint"),
        gettext_noop("One way to reach a host: the engine's address, the address of test traffic, a network mode."),
    ),
    ("engine", gettext_noop("Engine"), gettext_noop("The program on a host that sends and receives test traffic.")),
    (
        "environment",
        gettext_noop("Environment"),
        gettext_noop("A label of what is compared over time, such as one zone or one cluster."),
    ),
    (
        "pair",
        gettext_noop("Pair"),
        gettext_noop("A source endpoint and a sink endpoint in an environment, in one direction."),
    ),
    (
        "ends",
        gettext_noop("Source, sink"),
        gettext_noop("The end that starts a test and sends, and the end that answers."),
    ),
    (
        "plan",
        gettext_noop("Plan"),
        gettext_noop("Named steps, with repetitions and an order. Each change makes a version."),
    ),
    ("step", gettext_noop("Step"), gettext_noop("A test kind with its parameters; several values of one are a sweep.")),
    ("trial", gettext_noop("Trial"), gettext_noop("One test with one value of each parameter: a single repetition.")),
    ("run", gettext_noop("Run"), gettext_noop("A version of a plan on one pair.")),
    ("campaign", gettext_noop("Campaign"), gettext_noop("Runs that were launched together.")),
    ("slot", gettext_noop("Schedule, slot"), gettext_noop("When a plan is launched, and each of these times.")),
    (
        "series",
        gettext_noop("Series"),
        gettext_noop("All results of one metric with the same pair, test kind and parameters, over time."),
    ),
    (
        "night",
        gettext_noop("Night"),
        gettext_noop(
            "From noon to noon, named by the day on which it ends: by the clocks of its schedules' zone, else of yours."
        ),
    ),
    (
        "spread",
        gettext_noop("Spread (±)"),
        gettext_noop("The largest deviation of a repetition from the median; n is the number of repetitions."),
    ),
    (
        "no-change",
        gettext_noop("No significant change"),
        gettext_noop("A difference that is no larger than these repetitions differ among themselves."),
    ),
    (
        "percentiles",
        gettext_noop("p50, p99"),
        gettext_noop("The latency that 50 % and 99 % of the transactions did not exceed."),
    ),
    ("incomplete", gettext_noop("Incomplete"), gettext_noop("A run of which at least one trial gave no result.")),
    (
        "limited-by",
        gettext_noop("Limited by"),
        gettext_noop("What kept a test from being faster: a CPU, the link, the receiver, a configured rate."),
    ),
]
_MEANINGS = {key: meaning for key, _word, meaning in _WORDS}


def glossary_words() -> list[tuple[str, str, str]]:
    """Return each word's key, the word and its meaning in the reader's language."""
    return [(key, _(word), _(meaning)) for key, word, meaning in _WORDS]


def glossary_meaning(key: str) -> str:
    """Return what a word of the glossary means, in the reader's language; KeyError of one that isn't there."""
    return _(_MEANINGS[key])
