"""Plain pages of a table by one declaration: list, add, change, archive and restore its rows.

A subclass says what is particular to a table, and `paths` returns the addresses. A page that does more is a view of
its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.common.refusals import RefusedWrite
from benchweb.web.access.once import once
from benchweb.web.shared.archiving import archive_page
from benchweb.web.shared.conflicts import other_url
from benchweb.web.shared.edits import edits
from benchweb.web.shared.forms import PageForm, with_link
from benchweb.web.shared.lists import list_page, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from django.http import HttpRequest, HttpResponse, QueryDict
    from django_stubs_ext import StrOrPromise

    from benchweb.accounts.roles.needs import Environments
    from benchweb.web.shared.lists import Column

    View = Callable[..., HttpResponse]

Row = TypeVar("Row", bound=Model)
NewForm = TypeVar("NewForm", bound=PageForm)
ChangeForm = TypeVar("ChangeForm", bound=PageForm)


class _RowPages(Generic[Row]):
    """What all pages of a table's rows go by."""

    model: type[Row]
    # What a row is called in the names of its addresses, where these begin, and the name of the list's.
    name: str
    path: str
    list_name: str
    # The name of a row's own page; without one it is shown on the list.
    page_name = ""
    permission = Permission.WRITE
    within: Environments | None = None
    # Their pages change archived rows, too: to archive one again is no error.
    has_archived_pages = False

    def rows(self) -> QuerySet[Row]:
        """Return all rows, with what their pages name of them."""
        return self.model._default_manager.all()

    def row_name(self, row: Row) -> str:
        """Name a row."""
        return str(row)

    def page_url(self, row: Row) -> str:
        """Return where a row is shown."""
        return reverse(f"web:{self.page_name}", args=[row.pk]) if self.page_name else self.list_url()

    def list_url(self) -> str:
        """Return where the rows are listed."""
        return reverse(f"web:{self.list_name}")

    def _row_path(self, action: str) -> str:
        return f"{self.path}/<int:{self.name}_id>/{action}"

    def _row(self, named: dict[str, int], *, is_changed: bool) -> Row:
        rows = self.rows()
        if is_changed and not self.has_archived_pages:
            rows = rows.filter(("archived_at", None))
        return get_object_or_404(rows, pk=named[f"{self.name}_id"])


class FormPages(_RowPages[Row], Generic[Row, NewForm, ChangeForm]):
    """The forms that add and change a row."""

    new_form: type[NewForm]
    change_form: type[ChangeForm]
    form_template = "shared/form.html"
    # What the API calls these rows in its paths, where that is another word.
    api_path = ""
    add_title: StrOrPromise

    def initial(self, request: HttpRequest) -> dict[str, Any]:
        """Return what the form for a new row begins with."""
        return {}

    def create(self, form: NewForm, request: HttpRequest) -> Row:
        """Add what the form says, or raise RefusedWrite."""
        raise NotImplementedError

    def update(self, row: Row, form: ChangeForm) -> None:
        """Change a row as the form says, or raise RefusedWrite."""
        raise NotImplementedError

    def edit_title(self, row: Row) -> str:
        """Return the heading of the page that changes a row."""
        return _("Edit {name}").format(name=self.row_name(row))

    def form_context(self, row: Row | None) -> dict[str, Any]:
        """Return what else the form's template takes; no row is a new one."""
        return {}

    def paths(self) -> list[URLPattern]:
        """Return the addresses of these pages."""
        return [
            path(f"{self.path}/new", self._new_view(), name=f"{self.name}_new"),
            path(self._row_path("edit"), self._edit_view(), name=f"{self.name}_edit"),
        ]

    def _new_view(self) -> View:
        @needs(self.permission)
        @once
        @require_http_methods(["GET", "POST"])
        def new_row(request: HttpRequest) -> HttpResponse:
            """Add a row."""
            is_sent = request.method == "POST"
            form = self.new_form(request.POST) if is_sent else self.new_form(initial=self.initial(request))
            if is_sent and form.is_valid():
                try:
                    return redirect(self.page_url(self.create(form, request)))
                except RefusedWrite as error:
                    form.refuse(error.field, error.message, other_url(error))
            return self._form_page(request, form, None)

        return new_row

    def _edit_view(self) -> View:
        @needs(self.permission, within=self.within)
        @edits(self.api_path or self.path, f"{self.name}_id")
        @require_http_methods(["GET", "POST"])
        def edit_row(request: HttpRequest, **named: int) -> HttpResponse:
            """Change a row."""
            row = self._row(named, is_changed=True)
            is_sent = request.method == "POST"
            current = self.change_form.of(row)
            form = self.change_form(request.POST) if is_sent else current
            is_current = form.note_opened(request.POST, current)
            if is_sent and form.is_valid() and is_current:
                try:
                    self.update(row, form)
                    return redirect(self.page_url(row))
                except RefusedWrite as error:
                    form.refuse(error.field, error.message, other_url(error))
            return self._form_page(request, form, row)

        return edit_row

    def _form_page(self, request: HttpRequest, form: PageForm, row: Row | None) -> HttpResponse:
        if row is None:
            context = {"form": form, "title": self.add_title, "back": self.list_url()}
        else:
            context = {"form": form, "title": self.edit_title(row), "back": self.page_url(row)}
        return render(request, self.form_template, context | self.form_context(row), status=form.status)


class PlainPages(_RowPages[Row]):
    """The list of a table's rows where it has a template, the page that asks before one is archived, and undo."""

    # What is asked about, and what is said when it is restored, with {name}.
    noun: StrOrPromise
    restored: StrOrPromise = gettext_lazy("Restored: {name}.")
    # Of the address that undoes archiving.
    undo_query = ""
    list_template = ""
    columns: Sequence[Column] = ()
    sort = "name"
    filters: Sequence[str] = ("q", "archived")

    def matching(self, query: QueryDict) -> QuerySet[Row]:
        """Return the rows that an address of the list means."""
        raise NotImplementedError

    def list_context(self, request: HttpRequest, rows: Sequence[Row]) -> dict[str, Any]:
        """Return what the list's template takes beside the page of rows."""
        return {}

    def losses(self, row: Row) -> list[str]:
        """Say what archiving a row hides, and what it leaves."""
        raise NotImplementedError

    def restored_url(self, row: Row) -> str:
        """Return what is shown when a row was brought back."""
        return self.page_url(row)

    def archive(self, row: Row, by: User) -> bool | None:
        """Archive a row; False where it was archived already."""
        raise NotImplementedError

    def restore(self, row: Row, request: HttpRequest) -> bool | None:
        """Bring a row back, or raise RefusedWrite; False where it wasn't archived."""
        raise NotImplementedError

    def paths(self) -> list[URLPattern]:
        """Return the addresses of these pages."""
        listed = [path(self.path, self._list_view(), name=self.list_name)] if self.list_template else []
        return [
            *listed,
            path(self._row_path("archive"), self._archive_view(), name=f"{self.name}_archive"),
            path(self._row_path("restore"), self._restore_view(), name=f"{self.name}_restore"),
        ]

    def _list_view(self) -> View:
        @needs(Permission.READ)
        @require_GET
        def list_rows(request: HttpRequest) -> HttpResponse:
            """List the rows that the address means."""
            rows = self.matching(request.GET)
            page = listing(request, rows, columns=self.columns, sort=self.sort, filters=self.filters)
            context = {"page": page, "archived": request.GET.get("archived") == "1"}
            return list_page(request, self.list_template, context | self.list_context(request, page.rows))

        return list_rows

    def _archive_view(self) -> View:
        @needs(self.permission, within=self.within)
        @require_http_methods(["GET", "POST"])
        def archive_row(request: HttpRequest, **named: int) -> HttpResponse:
            """Ask, then archive a row."""
            row = self._row(named, is_changed=True)
            return archive_page(
                request,
                title=self.noun.format(name=self.row_name(row)),
                losses=self.losses(row),
                back=self.page_url(row),
                done=self.list_url(),
                undo=reverse(f"web:{self.name}_restore", args=[row.pk]) + self.undo_query,
                act=lambda: self.archive(row, cast(User, request.user)) is not False,
            )

        return archive_row

    def _restore_view(self) -> View:
        @needs(self.permission, within=self.within)
        @require_POST
        def restore_row(request: HttpRequest, **named: int) -> HttpResponse:
            """Bring an archived row back, and say so."""
            row = self._row(named, is_changed=False)
            try:
                if self.restore(row, request) is not False:
                    messages.success(request, self.restored.format(name=self.row_name(row)))
            except RefusedWrite as error:
                messages.error(request, with_link(error.message, other_url(error)))
            return redirect(self.restored_url(row))

        return restore_row


class PlainFormPages(PlainPages[Row], FormPages[Row, NewForm, ChangeForm], Generic[Row, NewForm, ChangeForm]):
    """Plain pages, and the forms that add and change a row."""

    def paths(self) -> list[URLPattern]:
        return [*PlainPages.paths(self), *FormPages.paths(self)]
