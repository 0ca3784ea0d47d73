"""The sizes of a plan's sweep, of which one is that of the main figures of its runs."""

from dataclasses import dataclass

from benchweb.catalog import catalog
from benchweb.common import formatting
from benchweb.plans.main_setting import main_identity, sizes_to_choose
from benchweb.plans.models import PlanVersion


@dataclass(frozen=True)
class MainSizes:
    """The sizes to choose from, each with its words; `chosen` is None for the middle one, which is `middle`."""

    sizes: list[tuple[int, str]]
    chosen: int | None
    middle: str


def main_sizes(version: PlanVersion) -> MainSizes | None:
    """Return the sizes of a version, which comes with its plan; None where nothing is to be chosen."""
    sizes = sizes_to_choose(version.steps)
    if not sizes:
        return None
    name, identity = main_identity(version.steps)
    kind = catalog().kinds.get(name)
    middle = (kind.stated_defaults | identity).get(kind.swept_size) if kind else None
    chosen = version.plan.main_size_bytes
    return MainSizes(
        sizes=[(size, formatting.setting(size, "B")) for size in sizes],
        chosen=chosen if chosen in sizes else None,
        middle=formatting.setting(middle, "B") if isinstance(middle, int) else "",
    )
