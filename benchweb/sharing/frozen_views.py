"""A view of the dashboard as it is shared: its charts and tables as texts, with nothing left to look up."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string
from pydantic import BaseModel

from benchweb.hosts.models import Environment
from benchweb.sharing.pseudonyms import Pseudonyms, tagged
from benchweb.sharing.real_names import names_of_dashboard

LONGEST_PATH = 2_000


class NotShareable(ValueError):
    """An address that is no view that can be shared."""


class FrozenTable(BaseModel):
    """A table of texts; `numeric` names the columns, from 0, that are set right."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    numeric: list[int] = []
    notes: list[str] = []


class FrozenSection(BaseModel):
    """A part of a report: its author's words, then tables and charts."""

    key: str
    title: str
    text: str = ""
    tables: list[FrozenTable] = []
    charts: list[dict[str, Any]] = []


class FrozenView(BaseModel):
    """The page's content in one language; a field added later needs a default."""

    title: str
    lines: list[str]
    made_at: datetime
    charts: list[dict[str, Any]] = []
    tables: list[FrozenTable] = []
    # Of a report, in place of charts and tables of the whole.
    sections: list[FrozenSection] = []
    is_synthetic: bool = False
    # For a badge: what the figure is of, and the figure; empty where there is none.
    badge_label: str = ""
    badge_value: str = ""
    is_bad: bool = False


def pages_at(path: str, zone: str) -> dict[str, FrozenView]:
    """Return what a view shows now to a reader in a zone, by language; raise NotShareable."""
    # The pages build it, which are above: settings name who does.
    built_in_languages: Callable[[str, str], dict[str, FrozenView]] = import_string(settings.SHARED_VIEW_BUILDER)
    return built_in_languages(path, zone)


def hidden_names(pages: Mapping[str, FrozenView]) -> dict[str, FrozenView]:
    """Return pages for a stranger: hosts, environments and addresses under pseudonyms, the dashboard's ids gone."""
    environments = {name: tagged("environment", name) for name in Environment.objects.values_list("name", flat=True)}
    names = Pseudonyms(environments | names_of_dashboard())
    return {
        language: FrozenView.model_validate(names.deep(_without_ids(page.model_dump(mode="json"))))
        for language, page in pages.items()
    }


def _without_ids(document: Any) -> Any:
    """Leave out the rows' ids that charts carry for their exports."""
    match document:
        case dict():
            return {key: {} if key == "ids" else _without_ids(value) for key, value in document.items()}
        case list():
            return [_without_ids(value) for value in document]
    return document
