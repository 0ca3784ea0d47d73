"""What the tests of links have in common with those of the API."""

from tests.api.conftest import refused  # noqa: F401  (a fixture)
