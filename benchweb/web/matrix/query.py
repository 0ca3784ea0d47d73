"""What a matrix page was asked to show: read from the query string, every part of it, and written into links."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.http import HttpRequest, QueryDict

from benchweb.charts.matrix.difference import Baseline
from benchweb.charts.matrix.figures import By, Key
from benchweb.common.rows import row_id
from benchweb.results.latest_medians import MatrixEnvironment, SeriesTest
from benchweb.web.shared.zones import reader_zone, requested_day

# Enough to tell a kind's tests apart; the whole digest would make a link of a line.
_DIGEST_DIGITS = 12


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
    baseline: Baseline | None

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
    """Read the query string; without an environment it is that of the newest run, else the first there is."""
    query = request.GET
    by: By = "mode" if query.get("by") == "mode" else "host"
    return MatrixQuery(
        parameters=query,
        environments=_environments(query, environments),
        by=by,
        text="" if by == "mode" else query.get("q", "").strip(),
        until=_end_of_day(query.get("until", ""), reader_zone(request)),
        first_row=row_id(query.get("r", "")) or 0,
        first_column=row_id(query.get("c", "")) or 0,
        baseline=_baseline(query, by),
    )


def test_key(test: SeriesTest) -> str:
    """Name a test in a URL, for good: by its kind and its identity parameters' digest."""
    return f"{test.kind}.{test.digest[:_DIGEST_DIGITS]}"


def chosen_test(query: QueryDict, tests: Sequence[SeriesTest]) -> SeriesTest | None:
    """Return the test that the query string names; when it names none that there is, the first that most pairs have."""
    key = query.get("test", "")
    usual = max(tests, key=lambda each: each.pairs, default=None)
    return next((test for test in tests if test_key(test) == key), usual)


def _environments(query: QueryDict, environments: Sequence[MatrixEnvironment]) -> list[MatrixEnvironment]:
    by_id = {environment.pk: environment for environment in environments}
    latest = next((environment.pk for environment in environments if environment.is_latest), 0)
    first = by_id.get(row_id(query.get("environment", "")) or latest) or next(iter(environments), None)
    beside = by_id.get(row_id(query.get("beside", "")) or 0)
    return [each for each in (first, beside if beside is not first else None) if each is not None]


def _end_of_day(text: str, zone: ZoneInfo) -> datetime | None:
    """Return the end of a day in the reader's zone: all of it counts."""
    begin = requested_day(text, zone)
    return begin + timedelta(days=1) if begin else None


def _baseline(query: QueryDict, by: By) -> Baseline | None:
    environment = row_id(query.get("base_environment", ""))
    row, column = _key(query.get("base_row", ""), by), _key(query.get("base_column", ""), by)
    found = Baseline(environment, row, column)
    return None if found == Baseline() else found


def _key(text: str, by: By) -> Key | None:
    return (text or None) if by == "mode" else row_id(text)
