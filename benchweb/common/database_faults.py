"""Tell a database that is in trouble from one that refuses what it was given; imports no room."""

from django.db import DatabaseError, DataError, IntegrityError, InterfaceError, NotSupportedError, OperationalError

# "Program limit exceeded": a value too large for an index, a document too deep. It will be so next time too.
_LIMIT_EXCEEDED = "54"
# "Query canceled": by `statement_timeout`.
_CANCELED = "57014"
# "Lock not available": by `lock_timeout`.
_LOCKED = "55P03"


def may_pass(error: BaseException) -> bool:
    """Tell whether the same statement may succeed later: after a restart, a deadlock, a full disk."""
    return isinstance(error, OperationalError | InterfaceError) and not _state(error).startswith(_LIMIT_EXCEEDED)


def refuses_data(error: BaseException) -> bool:
    """Tell whether the database refused what it was given, and would the next time too."""
    if isinstance(error, OperationalError):
        return _state(error).startswith(_LIMIT_EXCEEDED)
    return isinstance(error, DataError | IntegrityError | NotSupportedError)


def took_too_long(error: BaseException) -> bool:
    """Tell whether a statement was stopped by the time limit of pages and API."""
    return isinstance(error, DatabaseError) and _state(error) == _CANCELED


def waited_too_long(error: BaseException) -> bool:
    """Tell whether a statement gave up waiting for what another transaction holds."""
    return isinstance(error, DatabaseError) and _state(error) == _LOCKED


def _state(error: BaseException) -> str:
    """Return the SQLSTATE that PostgreSQL gave, or nothing where it gave none."""
    return getattr(error.__cause__, "sqlstate", None) or ""
