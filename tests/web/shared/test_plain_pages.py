"""Pages that are declared: whatever a declaration says, each asks for its permission, and only adding is done once."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import URLPattern, resolve, reverse

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import Needs, needs_of
from benchweb.web import urls  # noqa: F401  (loads every declaration)
from benchweb.web.access.once import is_once
from benchweb.web.shared.plain_pages import PlainFormPages, PlainPages


def declared(of: type[PlainPages[Any]] = PlainPages) -> Iterator[type[PlainPages[Any]]]:
    for each in of.__subclasses__():
        yield from [] if each is PlainFormPages else [each]
        yield from declared(each)


DECLARED = sorted(declared(), key=lambda pages: pages.name)


def actions(pages: PlainPages[Any]) -> dict[str, URLPattern]:
    """Return the addresses of a declaration by what is done there."""
    return {pattern.name.removeprefix(f"{pages.name}_"): pattern for pattern in pages.paths() if pattern.name}


def test_the_plain_pages_are_declared() -> None:
    names = {pages.name for pages in DECLARED}
    assert names >= {"threshold", "sensitivity", "baseline", "environment", "channel", "rule", "window"}


@pytest.mark.parametrize("pages", DECLARED, ids=lambda pages: pages.name)
def test_who_writes_by_a_declared_page_needs_its_permission_where_the_row_is(pages: type[PlainPages[Any]]) -> None:
    declaration = pages()
    written = {action: pattern for action, pattern in actions(declaration).items() if action != pages.list_name}
    assert set(written) == {"archive", "restore"} | ({"new", "edit"} if issubclass(pages, PlainFormPages) else set())
    for action, pattern in written.items():
        # A new row is nowhere yet.
        within = None if action == "new" else declaration.within
        assert needs_of(pattern.callback) == Needs(pages.permission, pages.permission, within), action


@pytest.mark.parametrize("pages", DECLARED, ids=lambda pages: pages.name)
def test_a_declared_list_is_for_every_reader(pages: type[PlainPages[Any]]) -> None:
    assert needs_of(resolve(pages().list_url()).func) == Needs(Permission.READ, Permission.READ)


@pytest.mark.parametrize("pages", DECLARED, ids=lambda pages: pages.name)
def test_of_declared_pages_only_adding_makes_something_once(pages: type[PlainPages[Any]]) -> None:
    once = {action for action, pattern in actions(pages()).items() if is_once(pattern.callback)}
    assert once == ({"new"} if issubclass(pages, PlainFormPages) else set())


@pytest.mark.parametrize("pages", DECLARED, ids=lambda pages: pages.name)
def test_a_declaration_s_addresses_are_reached_by_their_names(pages: type[PlainPages[Any]]) -> None:
    for action in set(actions(pages())) - {pages.list_name}:
        arguments = [] if action == "new" else [7]
        address = reverse(f"web:{pages.name}_{action}", args=arguments)
        assert address == f"/{pages.path}/" + "/".join(map(str, [*arguments, action]))
