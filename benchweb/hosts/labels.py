"""Labels and uplinks of hosts: words that schedules choose by and that runs occupy."""

from collections.abc import Sequence

from benchweb.names import stored_name, text_fault

MAXIMUM_LABELS = 20
MAXIMUM_LENGTH = 60


def labels_fault(labels: Sequence[str]) -> str:
    """Say what is wrong with a host's labels, or nothing."""
    if len(labels) > MAXIMUM_LABELS:
        return f"{len(labels):,} labels; a host has at most {MAXIMUM_LABELS}."
    for label in labels:
        if not 1 <= len(label.strip()) <= MAXIMUM_LENGTH:
            return f"A label has 1 to {MAXIMUM_LENGTH} characters."
        # Pages list labels with commas between them.
        if "," in label:
            return f"{label[:60]!r} has a comma, which parts labels: give two labels, or leave it out."
        if fault := text_fault(label):
            return fault.replace("a name", "a label")
    return ""


def uplink_fault(uplink: str) -> str:
    """Say what is wrong with an uplink's name, or nothing; a host without one has none."""
    if len(uplink) > MAXIMUM_LENGTH:
        return f"An uplink's name has at most {MAXIMUM_LENGTH} characters."
    return text_fault(uplink)


def tidied(labels: Sequence[str]) -> list[str]:
    """Return each label once, as names are stored, in the order given."""
    return list(dict.fromkeys(map(stored_name, labels)))
