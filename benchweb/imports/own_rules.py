"""Say who may define a kind or a metric and add to it, where it holds, and what its names and units may be."""

import re
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from benchweb.accounts.permissions import Access, Permission, Refused, access_of
from benchweb.common.names import text_fault, unit_fault
from benchweb.hosts.models import Environment
from benchweb.imports.models import OwnDefinition

# As the API has them, and what tools and parameters of imported texts are called.
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,49}")
_METRIC = re.compile(r"[a-z][a-z0-9_]{0,59}")
_PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}")


class DefinitionRefused(ValueError):
    """A definition that contradicts an earlier one, or is one too many: `field` is the place in the body."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class DefinitionForbidden(Refused):
    """A definition by somebody who may push results, but not define what they are; `message` says who may."""

    def __init__(self, environment_id: int | None, message: str) -> None:
        super().__init__(Permission.WRITE, environment_id, message)


@dataclass(frozen=True)
class Definer:
    """Whose result it is, and in which environment; without a user it comes from the console."""

    user: User | None
    environment: Environment

    @property
    def new_environment(self) -> Environment | None:
        """Return where something new holds: everywhere if it comes from an editor of all, else here."""
        return None if self._access is None or self._access.may(Permission.WRITE) else self.environment

    def demand(self, what: str, *, within: int | None) -> None:
        """Raise DefinitionForbidden unless an editor of the environment, of all for None, adds `what`."""
        access = self._access
        if access is None or access.may(Permission.WRITE):
            return
        if within is not None and access.may_in(Permission.WRITE, within):
            return
        message = (
            _("{what} isn't defined yet: that takes the role editor in {environment}. Ask an editor to push it once.")
            if within
            else _("{what} isn't defined yet, and would be for all environments: that takes the role editor in all.")
        )
        raise DefinitionForbidden(within, message.format(what=what, environment=self.environment.name))

    def check_use(self, row: OwnDefinition, field: str) -> None:
        """Raise DefinitionRefused for what belongs to another environment, or is retired."""
        if row.environment_id not in (None, self.environment.pk):
            message = _("{name} belongs to the environment {other}: use another name, or have an admin open it to all.")
            raise DefinitionRefused(field, message.format(name=row, other=row.environment))
        if row.retired_at is not None:
            message = _("{name} is retired and takes no results: use another name, or ask an admin to restore it.")
            raise DefinitionRefused(field, message.format(name=row))

    @property
    def _access(self) -> Access | None:
        return None if self.user is None else access_of(self.user)


def check_kind_name(name: str, label: str) -> None:
    """Raise DefinitionRefused for a name or a label that no kind may have."""
    if not _NAME.fullmatch(name):
        raise DefinitionRefused(
            "kind", _("{name} can't name a kind: use a-z, 0-9, _ . -, at most 50.").format(name=name)
        )
    if fault := text_fault(label):
        raise DefinitionRefused("label", fault)


def check_metric_names(key: str, unit: str | None, label: str, where: str) -> None:
    """Raise DefinitionRefused for a name, unit or label that no metric may have."""
    if not _METRIC.fullmatch(key):
        message = _("{name} can't name a metric: use a-z, 0-9 and _, at most 60.")
        raise DefinitionRefused(f"{where}.name", message.format(name=key))
    for field, fault in (("unit", unit_fault(unit or "")), ("label", text_fault(label))):
        if fault:
            raise DefinitionRefused(f"{where}.{field}", fault)


def check_parameter_name(name: str) -> None:
    """Raise DefinitionRefused for what no parameter may be called."""
    if not _PARAMETER.fullmatch(name):
        message = _("{name} can't name a parameter: use letters, digits, _ . -, at most 60.")
        raise DefinitionRefused(f"params.{name[:60]}", message.format(name=name[:60]))
