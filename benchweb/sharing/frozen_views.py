"""A view of the dashboard as it is shared, in each language."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from django.conf import settings
from django.utils import translation
from django.utils.module_loading import import_string

from benchweb.documents.document import Document
from benchweb.documents.hidden import hidden

LONGEST_PATH = 2_000
Page = TypeVar("Page")


class NotShareable(ValueError):
    """An address that is no view that can be shared."""


def page_at(path: str, zone: str, language: str) -> Document:
    """Return what a view shows now to a reader in a zone; raise NotShareable."""
    # The pages build it, which are above: settings name who does.
    built: Callable[[str, str, str], Document] = import_string(settings.SHARED_VIEW_BUILDER)
    return built(path, zone, language)


def pages_at(path: str, zone: str) -> dict[str, Document]:
    """Return what a view shows now to a reader in a zone, by language; raise NotShareable."""
    return {language: page_at(path, zone, language) for language, _name in settings.LANGUAGES}


def hidden_names(pages: Mapping[str, Page]) -> dict[str, Page]:
    """Return pages for a stranger, by language: pseudonyms for names, no free texts, no ids of the dashboard."""
    hidden_pages = {}
    for language, page in pages.items():
        # Reasons are said again, without the texts in them.
        with translation.override(language):
            hidden_pages[language] = hidden(page)
    return hidden_pages
