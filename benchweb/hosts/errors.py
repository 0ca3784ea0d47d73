"""Refusals of writes to hosts, endpoints, environments and pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchweb.hosts.models import Archivable


class HostsError(ValueError):
    """A refused write: `field` names the field at fault, or is empty; `other` is the row that it clashes with.

    `insist` names the field that, when true, has the write done anyway.
    """

    def __init__(self, field: str, message: str, other: Archivable | None = None, insist: str = "") -> None:
        super().__init__(message)
        self.field = field
        self.message = message
        self.other = other
        self.insist = insist
