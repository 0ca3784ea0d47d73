"""Do something with many rows at once, so that one poisonous row doesn't stop the others; imports no room."""

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from benchweb.common.database_faults import may_pass

Row = TypeVar("Row")
_log = logging.getLogger(__name__)


def in_parts(
    rows: Sequence[Row], do: Callable[[Sequence[Row]], int], failed: Callable[[Row, Exception], None] | None = None
) -> int:
    """Do it with all rows; where that raises, with each half, down to the single row that raises; return the sum.

    `do` must do all of it or nothing, as a transaction does. `failed` is told of each row that can't be done. A
    database that is in trouble is no row's fault: its error is raised.
    """
    if not rows:
        return 0
    try:
        return do(rows)
    except Exception as error:
        if may_pass(error):
            raise
        if len(rows) == 1:
            _log.exception("%s can't be done with %r", getattr(do, "__name__", do), rows[0])
            if failed is not None:
                failed(rows[0], error)
            return 0
    middle = len(rows) // 2
    return in_parts(rows[:middle], do, failed) + in_parts(rows[middle:], do, failed)
