"""The rows that synthetic history hangs on: environments, hosts, endpoints, pairs, their facts, a plan, a schedule."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from benchweb.hosts.models import Endpoint, Environment, Facts, Host, Pair
from benchweb.hosts.naming import free_names
from benchweb.ops.synthetic.probing import write_probes
from benchweb.ops.synthetic.scene import NAME, End, Planned, host_name
from benchweb.ops.synthetic.script import Script
from benchweb.ops.synthetic.shapes import LINK_BPS
from benchweb.ops.synthetic.stories import Change, HostStory
from benchweb.plans.models import Plan, PlanVersion
from benchweb.schedules.models import Schedule

DESCRIPTION = "Made up by generate_history: nobody measured this. Remove it with `manage.py generate_history --remove`."
# Nobody answers there, and nobody ever will: RFC 2606 and RFC 5737.
_CONTROL_ADDRESS = "{name}.invalid:7410"
_DATA_ADDRESS = "198.51.100.{number}"


@dataclass(frozen=True)
class Inventory:
    """The rows made; `facts` has each endpoint's as (night from which on, id), in order."""

    hosts: list[Host]
    pairs: list[Pair]
    plan_version: PlanVersion
    schedule: Schedule
    facts: dict[int, list[tuple[int, int]]]

    def facts_at(self, endpoint_id: int, night: int) -> int:
        return next(pk for begin, pk in reversed(self.facts[endpoint_id]) if begin <= night)


def make_inventory(script: Script, *, steps: list[dict[str, Any]], repetitions: int, until: datetime) -> Inventory:
    """Write everything but the history; some twenty queries and one an endpoint."""
    planned, stories, nights = script.planned, script.stories, script.nights
    marks = {"description": DESCRIPTION, "is_synthetic": True}
    names = list(dict.fromkeys(pair.environment for pair in planned))
    free = free_names(Environment, names)
    made = Environment.objects.bulk_create(Environment(name=name, **marks) for name in free)
    environments = dict(zip(names, made, strict=True))
    hosts = Host.objects.bulk_create(
        Host(name=name, labels=["synthetic"], **marks) for name in free_names(Host, map(host_name, range(len(stories))))
    )
    endpoints = _make_endpoints(planned, hosts, until)
    pairs = Pair.objects.bulk_create(
        Pair(source=endpoints[each.source], sink=endpoints[each.sink], environment=environments[each.environment])
        for each in planned
    )
    plan = Plan.objects.create(name=f"{NAME} nightly", is_synthetic=True)
    version = PlanVersion.objects.create(
        plan=plan, number=1, repetitions=repetitions, order=PlanVersion.Order.INTERLEAVED, steps=steps
    )
    schedule = Schedule.objects.create(
        name=f"{NAME} nightly",
        plan=plan,
        target={"pairs": [pair.pk for pair in pairs]},
        cron="0 2 * * *",
        starts_at=nights[0],
        # It has no next time: nothing is launched towards hosts that don't exist.
        paused_at=until,
    )
    write_probes({endpoint.pk: stories[end.host] for end, endpoint in endpoints.items()}, nights, until)
    facts = {
        endpoint.pk: _make_facts(endpoint, stories[end.host], nights, until) for end, endpoint in endpoints.items()
    }
    return Inventory(hosts, pairs, version, schedule, facts)


def _make_endpoints(planned: Sequence[Planned], hosts: Sequence[Host], until: datetime) -> dict[End, Endpoint]:
    ends = list(dict.fromkeys(end for pair in planned for end in (pair.source, pair.sink)))
    rows = Endpoint.objects.bulk_create(
        Endpoint(
            host=hosts[end.host],
            name="" if end.mode == "host" else end.mode,
            control_address=_CONTROL_ADDRESS.format(name=host_name(end.host)),
            data_address=_DATA_ADDRESS.format(number=end.host % 254 + 1),
            network_mode=end.mode,
            status=Endpoint.Status.NEVER_CHECKED,
            checked_at=until,
        )
        for end in ends
    )
    return dict(zip(ends, rows, strict=True))


def _make_facts(
    endpoint: Endpoint, story: HostStory, nights: Sequence[datetime], until: datetime
) -> list[tuple[int, int]]:
    ends = [*(nights[change.night] - timedelta(hours=12) for change in story.changes[1:]), until]
    rows = Facts.objects.bulk_create(
        Facts(
            endpoint=endpoint,
            document=document,
            digest=hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest(),
            first_seen_at=nights[change.night],
            last_seen_at=end,
        )
        for change, end in zip(story.changes, ends, strict=True)
        for document in [_facts_document(endpoint, change)]
    )
    return [(change.night, row.pk) for change, row in zip(story.changes, rows, strict=True)]


def _facts_document(endpoint: Endpoint, change: Change) -> dict[str, Any]:
    offloads = dict.fromkeys(("gro", "gso", "rx_checksum", "scatter_gather", "tso", "tx_checksum"), True)
    return {
        "hostname": endpoint.host.name,
        "kernel": change.kernel,
        "architecture": "x86_64",
        "operating_system": "Synthetic Linux",
        "boot_id": f"00000000-0000-4000-8000-{endpoint.host_id:06d}{change.boot:06d}",
        "virtualisation": "kvm",
        "cpu": {"model": "Synthetic CPU", "logical": 16, "governor": "performance"},
        "memory_bytes": 64 * 2**30,
        "clock_source": "tsc",
        "congestion_control": "cubic",
        "congestion_controls_available": ["reno", "cubic", "bbr"],
        "sysctls": {"net.core.rmem_max": "212992", "net.core.wmem_max": "212992"},
        "interfaces": [
            {
                "name": "eth0",
                "driver": "synthetic",
                "mtu": change.mtu,
                "speed_bps": int(LINK_BPS),
                "offloads": offloads | {"lro": False},
                "addresses": [endpoint.data_address],
            }
        ],
        "engine_version": "0.1.0",
        "missing": [],
    }
