"""Say at a page or a call what it needs; whoever lets requests in reads it there, and refuses what says nothing."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

from benchweb.accounts.audit.actors import READ_METHODS
from benchweb.accounts.permissions import Access, Permission, Refused

View = TypeVar("View", bound=Callable[..., Any])
# From all that an address names, such as run_id=7, to the ids of the environments that this concerns.
Environments = Callable[..., Iterable[int | None]]
_NEEDS = "needs"


@dataclass(frozen=True)
class Needs:
    """The permission to read, and the one to change something; in the environments that the address concerns.

    Without `within` it is needed everywhere. With `checked_by_view` it is enough to have it in some environment: the
    view itself demands it for what a form or a body names.
    """

    read: Permission
    write: Permission
    within: Environments | None = None
    checked_by_view: bool = False
    # A stranger is sent to log in; else refused, for what no person reads.
    redirects: bool = True

    def demand(self, access: Access, method: str, arguments: Mapping[str, Any]) -> None:
        """Raise Refused unless somebody with this access may send such a request."""
        permission = self.of(method)
        if self.within is not None:
            access.demand(permission, self.within(**arguments))
        elif not (access.may_somewhere(permission) if self.checked_by_view else access.may(permission)):
            raise Refused(permission)

    def allows(self, access: Access, method: str, arguments: Mapping[str, Any]) -> bool:
        """Tell whether somebody with this access may send such a request."""
        try:
            self.demand(access, method, arguments)
        except Refused:
            return False
        return True

    def of(self, method: str) -> Permission:
        """Return the permission that a method needs."""
        return self.read if method in READ_METHODS else self.write


@dataclass(frozen=True)
class ByMethod:
    """The needs of each method of a path of the API; its operations see to it themselves, token first."""

    methods: Mapping[str, Needs | None]


@dataclass(frozen=True)
class OpenToAll:
    """A page or a call that strangers may open, or that checks by itself who asks; and why."""

    why: str


def needs(
    permission: Permission,
    *,
    post: Permission | None = None,
    within: Environments | None = None,
    checked_by_view: bool = False,
    redirects: bool = True,
) -> Callable[[View], View]:
    """Say what a view needs, and what more to post to it."""
    return _marked(Needs(permission, post or permission, within, checked_by_view, redirects))


def open_to_all(why: str) -> Callable[[View], View]:
    """Say that a view lets strangers in, and why that does no harm."""
    return _marked(OpenToAll(why))


def needs_by_method(methods: Mapping[str, Needs | None]) -> Callable[[View], View]:
    """Say what each method of a path of the API needs."""
    return _marked(ByMethod(methods))


def needs_of(view: object) -> Needs | ByMethod | OpenToAll | None:
    """Return what a view says that it needs; None when it says nothing."""
    stated = getattr(view, _NEEDS, None)
    return stated if isinstance(stated, Needs | ByMethod | OpenToAll) else None


def _marked(stated: Needs | ByMethod | OpenToAll) -> Callable[[View], View]:
    def mark(view: View) -> View:
        # A function of its own, for one of Django's may be somebody else's too.
        @wraps(view)
        def marked(*arguments: Any, **named: Any) -> Any:
            return view(*arguments, **named)

        setattr(marked, _NEEDS, stated)
        return marked  # type: ignore[return-value]

    return mark
