"""Refusals of writes to hosts, endpoints, environments and pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchweb.common.refusals import RefusedWrite

if TYPE_CHECKING:
    from benchweb.hosts.models import Archivable


class HostsError(RefusedWrite):
    """A refused write: `field` names the field at fault, or is empty; `other` is the row that it clashes with.

    `insist` names the field that, when true, has the write done anyway.
    """

    def __init__(self, field: str, message: str, other: Archivable | None = None, insist: str = "") -> None:
        super().__init__(field, message)
        self.other = other
        self.insist = insist
