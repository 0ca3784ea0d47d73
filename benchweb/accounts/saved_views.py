"""Save, rename, order and remove a user's views; each only touches that user's own.

What everybody has in the menu is an operator's word: nobody else offers a view, and what they rename is theirs alone.
"""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from benchweb.accounts.models import SavedView
from benchweb.accounts.permissions import Permission, access_of
from benchweb.common.names import stored_name, text_fault

# More would be no menu any more.
MOST_VIEWS = 100
LONGEST_PATH = 2000


class SavedViewError(ValueError):
    """A view that can't be saved; `message` says why and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def is_own_path(path: str) -> bool:
    """Tell whether an address leads to a page of this dashboard."""
    return path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None)


@transaction.atomic
def view_save(*, user: User, name: str, path: str) -> SavedView:
    """Save a view at the end of the user's list; the same address again takes the new name."""
    name = _checked_name(name)
    if not is_own_path(path) or len(path) > LONGEST_PATH:
        raise SavedViewError(_("Only a page of this dashboard can be saved as a view."))
    # Two that save at once must not both be the hundredth, nor share a position.
    User.objects.select_for_update().get(pk=user.pk)
    known = SavedView.objects.filter(user=user)
    if (same := known.filter(path=path).first()) is not None:
        view_rename(user=user, view_id=same.pk, name=name)
        same.refresh_from_db()
        return same
    if known.count() >= MOST_VIEWS:
        raise SavedViewError(
            _("There are {most_views} saved views already: remove one first.").format(most_views=MOST_VIEWS)
        )
    last = known.aggregate(last=Max("position"))["last"]
    return SavedView.objects.create(user=user, name=name, path=path, position=0 if last is None else last + 1)


def view_rename(*, user: User, view_id: int, name: str) -> bool:
    """Rename a view; False when the user has none such."""
    kept = {} if may_offer(user) else {"is_team": False}
    return bool(SavedView.objects.filter(user=user, pk=view_id).update(name=_checked_name(name), **kept))


def view_offer(*, user: User, view_id: int, is_team: bool) -> bool:
    """Offer a view to everybody, or keep it to oneself again; False when the user has none such.

    Raise Refused where who offers it is no operator.
    """
    if is_team:
        access_of(user).demand(Permission.RUN, ())
    return bool(SavedView.objects.filter(user=user, pk=view_id).update(is_team=is_team))


def may_offer(user: User) -> bool:
    """Tell whether a user may offer views to everybody."""
    return access_of(user).may(Permission.RUN)


def view_withdraw(*, view_id: int) -> bool:
    """Take a view from everybody's menu, whoever offers it; it stays its user's own. False when none offers it."""
    return bool(SavedView.objects.filter(pk=view_id, is_team=True).update(is_team=False))


def team_views(user: User) -> "QuerySet[SavedView, SavedView]":
    """Return the views that others offer, by name."""
    return SavedView.objects.filter(is_team=True).exclude(user=user).select_related("user").order_by("name", "pk")


def view_remove(*, user: User, view_id: int) -> SavedView | None:
    """Remove a view and return it as it was; None when the user has none such."""
    view = SavedView.objects.filter(user=user, pk=view_id).first()
    removed, _ = SavedView.objects.filter(user=user, pk=view_id).delete()
    return view if removed else None


@transaction.atomic
def view_move_up(*, user: User, view_id: int) -> bool:
    """Change places with the view before; False when there is none before it."""
    views = list(SavedView.objects.select_for_update().filter(user=user))
    index = next((index for index, view in enumerate(views) if view.pk == view_id), 0)
    if index == 0:
        return False
    views[index - 1], views[index] = views[index], views[index - 1]
    for position, view in enumerate(views):
        view.position = position
    SavedView.objects.bulk_update(views, ["position"])
    return True


def _checked_name(name: str) -> str:
    if fault := text_fault(" ".join(name.split())):
        raise SavedViewError(fault)
    name = stored_name(name)
    if not 1 <= len(name) <= 100:
        raise SavedViewError(_("A view's name has 1 to 100 characters."))
    return name
