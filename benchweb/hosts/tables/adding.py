"""Add the hosts of a table: all of its lines or none, and before that try what would become of each."""

import re
import secrets
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from benchweb.common.names import name_key
from benchweb.hosts import services
from benchweb.hosts.endpoints import services as endpoint_services
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Endpoint, Host
from benchweb.hosts.tables.reading import HostTable, LineFault, TableLine

# By what a service calls a field.
_COLUMN_OF = {"control_address": "address", "data_address": "data address", "network_mode": "network mode"}
_COLUMN_OF |= {"bind_device": "device"}
_BETWEEN_LABELS = re.compile(r"[,;|]")


@dataclass(frozen=True)
class AddedLine:
    """What a line makes: a host with its first endpoint, or one more endpoint of a host of an earlier line."""

    number: int
    host: Host
    endpoint: Endpoint
    is_new_host: bool


@dataclass(frozen=True)
class TableOutcome:
    """What the lines make, and what is wrong; nothing was kept where anything is."""

    added: list[AddedLine]
    faults: list[LineFault]

    @property
    def host_count(self) -> int:
        return sum(line.is_new_host for line in self.added)


def hosts_add(table: HostTable, *, keep: bool) -> TableOutcome:
    """Add the table's hosts if all of its lines are right; without `keep` nothing is added in any case.

    Each line is tried for real and undone, so that a preview says what adding would. Some queries for each.
    """
    added: list[AddedLine] = []
    faults = list(table.faults)
    hosts: dict[str, Host] = {}
    with transaction.atomic():
        for line in table.lines:
            try:
                with transaction.atomic():
                    added.append(_added(line, hosts))
            except HostsError as error:
                column = _COLUMN_OF.get(error.field, error.field)
                faults.append(LineFault(line.number, column, error.message))
        if faults or not keep:
            transaction.set_rollback(True)
    return TableOutcome(added, sorted(faults, key=lambda fault: fault.number))


def _added(line: TableLine, hosts: dict[str, Host]) -> AddedLine:
    cells = line.cells
    known = hosts.get(name_key(cells["name"]))
    host = known or services.host_create(
        name=cells["name"],
        description=cells.get("description", ""),
        labels=[label.strip() for label in _BETWEEN_LABELS.split(cells.get("labels", "")) if label.strip()],
        uplink=cells.get("uplink", ""),
    )
    endpoint = endpoint_services.endpoint_create(host=host, **_endpoint_values(cells))
    # Not before: of a line that is refused no host is left.
    hosts[name_key(host.name)] = host
    return AddedLine(line.number, host, endpoint, known is None)


def _endpoint_values(cells: dict[str, str]) -> dict[str, Any]:
    return {
        "control_address": cells["address"],
        "name": cells.get("endpoint", ""),
        "data_address": cells.get("data address", ""),
        "network_mode": cells.get("network mode", "host"),
        "bind_device": cells.get("device", ""),
        # As the page of one host does: a token of its own for each engine.
        "token": cells.get("token") or secrets.token_urlsafe(32),
        "fingerprint": cells.get("fingerprint", ""),
    }
