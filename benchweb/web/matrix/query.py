"""What a matrix page was asked to show: read from the query string, every part of it, and written into links."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.http import HttpRequest, QueryDict
from django.utils import timezone

from benchweb.charts.matrix.difference import MatrixBaseline
from benchweb.charts.matrix.figures import By, Key
from benchweb.common.rows import row_id
from benchweb.results.latest_medians import MatrixEnvironment, SeriesTest
from benchweb.web.shared.zones import reader_zone, requested_day

# A nightly run of tonight stands beside the one of the night before, whatever the time of day.
_AGO = {"yesterday": timedelta(days=1), "week": timedelta(days=7)}
_PINNED = "baseline:"
# Compared with the runs before each pair's latest one.
USUAL = "usual"
# The cookie with the environment that the reader chose last.
LAST_ENVIRONMENT = "matrix_environment"


@dataclass(frozen=True)
class MatrixQuery:
    """A matrix as asked for; what the query string lacks or misspells has its default."""

    parameters: QueryDict
    environments: list[MatrixEnvironment]
    by: By
    text: str
    until: datetime | None
    first_row: int
    first_column: int
    baseline: MatrixBaseline | None
    # What cells are compared with: "", what is usual, a time's word, or a pinned baseline's name behind "baseline:".
    compared: str = ""
    # The time of that; None for a baseline, whose runs have each their own.
    reference: datetime | None = None

    @property
    def baseline_name(self) -> str:
        """Name the pinned baseline that cells are compared with."""
        return self.compared.removeprefix(_PINNED) if self.compared.startswith(_PINNED) else ""

    @property
    def environment_ids(self) -> list[int]:
        return [environment.pk for environment in self.environments]

    def url(self, **changes: Key | None) -> str:
        """Return the page's own URL with changed parameters; None leaves one out."""
        changed = self.parameters.copy()
        for name, value in changes.items():
            changed.pop(name, None)
            if value is not None:
                changed[name] = str(value)
        return f"?{changed.urlencode()}"


def matrix_query(request: HttpRequest, environments: Sequence[MatrixEnvironment]) -> MatrixQuery:
    """Read the query string; without an environment it is the reader's last one, else the largest measured lately."""
    query = request.GET
    by: By = "mode" if query.get("by") == "mode" else "host"
    until = _end_of_day(query.get("until", ""), reader_zone(request))
    compared, reference = _compared(query, until or timezone.now(), reader_zone(request))
    return MatrixQuery(
        parameters=query,
        environments=_environments(query, environments, request.COOKIES.get(LAST_ENVIRONMENT, "")),
        by=by,
        text="" if by == "mode" else query.get("q", "").strip(),
        until=until,
        first_row=row_id(query.get("r", "")) or 0,
        first_column=row_id(query.get("c", "")) or 0,
        baseline=None if compared else _baseline(query, by),
        compared=compared,
        reference=reference,
    )


def chosen_test(query: QueryDict, tests: Sequence[SeriesTest]) -> SeriesTest | None:
    """Return the test that the query string names; when it names none that there is, the first that most pairs have."""
    key = query.get("test", "")
    usual = max(tests, key=lambda each: each.pairs, default=None)
    return next((test for test in tests if test.key == key), usual)


def _environments(
    query: QueryDict, environments: Sequence[MatrixEnvironment], remembered: str
) -> list[MatrixEnvironment]:
    by_id = {environment.pk: environment for environment in environments}
    chosen = (by_id.get(row_id(text) or 0) for text in (query.get("environment", ""), remembered))
    first = next(filter(None, chosen), None) or max(environments, key=_size, default=None)
    beside = by_id.get(row_id(query.get("beside", "")) or 0)
    return [each for each in (first, beside if beside is not first else None) if each is not None]


def _size(environment: MatrixEnvironment) -> tuple[bool, int, bool]:
    """Return how much was measured of an environment lately; what nobody measured, a sample, comes behind."""
    is_measured = environment.pairs_lately > 0 and not environment.is_synthetic
    return is_measured, environment.pairs_lately, environment.is_latest


def pinned_choice(name: str) -> str:
    """Write a pinned baseline's name as what cells are compared with."""
    return f"{_PINNED}{name}"


def _compared(query: QueryDict, now: datetime, zone: ZoneInfo) -> tuple[str, datetime | None]:
    """Read what cells are compared with; a date alone, or a date that can't be read, decides by itself."""
    word = query.get("with", "")
    if word == USUAL:
        return word, None
    if word in _AGO:
        return word, now - _AGO[word]
    if word.startswith(_PINNED) and word != _PINNED:
        return word, None
    end = _end_of_day(query.get("on", ""), zone) if word in ("", "date") else None
    return ("date", end) if end else ("", None)


def _end_of_day(text: str, zone: ZoneInfo) -> datetime | None:
    """Return the end of a day in the reader's zone: all of it counts."""
    begin = requested_day(text, zone)
    return begin + timedelta(days=1) if begin else None


def _baseline(query: QueryDict, by: By) -> MatrixBaseline | None:
    environment = row_id(query.get("base_environment", ""))
    row, column = _key(query.get("base_row", ""), by), _key(query.get("base_column", ""), by)
    baseline = MatrixBaseline(environment, row, column)
    return None if baseline == MatrixBaseline() else baseline


def _key(text: str, by: By) -> Key | None:
    return (text or None) if by == "mode" else row_id(text)
