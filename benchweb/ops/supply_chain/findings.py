"""What a check says."""

from dataclasses import dataclass

UNREACHABLE = "the rest of the dependency checks ran"


@dataclass(frozen=True)
class Finding:
    """A problem, or with `is_judged` false what could not be checked on this machine."""

    text: str
    is_judged: bool = True


def unreachable(what: str, database: str, reason: str) -> Finding:
    """Return the finding that a database of known faults can't be reached; one line."""
    last_line = (reason.strip().splitlines() or ["no answer"])[-1]
    return Finding(
        f"{what}: {database} can't be reached from this machine ({last_line}); {UNREACHABLE}", is_judged=False
    )
