"""The rows that synthetic history hangs on: environments, hosts, endpoints, pairs, their facts, a plan, a schedule."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from benchweb.hosts.belonging import hosts_enter
from benchweb.hosts.models import AvailabilitySpan, Endpoint, Environment, Facts, Host, Pair, ProbeHour
from benchweb.hosts.naming import free_names
from benchweb.ops.synthetic.scene import End, host_name
from benchweb.ops.synthetic.script import Script
from benchweb.ops.synthetic.shapes import LINK_BPS
from benchweb.ops.synthetic.stories import HostStory, StagedChange
from benchweb.plans.models import Plan, PlanVersion
from benchweb.schedules.models import Schedule

DESCRIPTION = "Sample data: made up, nobody measured this. It is removed on the page of site settings."
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


def make_inventory(script: Script, *, repetitions: int, until: datetime) -> Inventory:
    """Write everything but the history; some twenty queries and one an endpoint."""
    planned, stories, nights = script.planned, script.stories, script.nights
    marks = {"description": DESCRIPTION, "is_synthetic": True}
    names = list(dict.fromkeys(pair.environment for pair in planned))
    free = free_names(Environment, names)
    made = Environment.objects.bulk_create(Environment(name=name, **marks) for name in free)
    environments = dict(zip(names, made, strict=True))
    hosts = Host.objects.bulk_create(
        Host(name=name, labels=[script.name.lower()], **marks)
        for name in free_names(Host, [host_name(number, script.name) for number in range(len(stories))])
    )
    endpoints = _make_endpoints(script, hosts, until)
    pairs = Pair.objects.bulk_create(
        Pair(source=endpoints[pair.source], sink=endpoints[pair.sink], environment=environments[pair.environment])
        for pair in planned
    )
    for environment in made:
        of_it = [pair for pair in pairs if pair.environment_id == environment.pk]
        hosts_enter(environment.pk, {end for pair in of_it for end in (pair.source_id, pair.sink_id)})
    plan = Plan.objects.create(name=f"{script.name} nightly", is_synthetic=True)
    version = PlanVersion.objects.create(
        plan=plan, number=1, repetitions=repetitions, order=PlanVersion.Order.INTERLEAVED, steps=script.steps
    )
    schedule = Schedule.objects.create(
        name=f"{script.name} nightly",
        plan=plan,
        target={"pairs": [pair.pk for pair in pairs]},
        cron=f"0 {nights[-1].hour} * * *",
        starts_at=nights[0],
        # It has no next time: nothing is launched towards hosts that don't exist.
        paused_at=until,
    )
    write_probes({endpoint.pk: stories[end.host] for end, endpoint in endpoints.items()}, nights, until)
    facts = {
        endpoint.pk: _make_facts(endpoint, stories[end.host], nights, until) for end, endpoint in endpoints.items()
    }
    return Inventory(hosts, pairs, version, schedule, facts)


def _make_endpoints(script: Script, hosts: Sequence[Host], until: datetime) -> dict[End, Endpoint]:
    ends = list(dict.fromkeys(end for pair in script.planned for end in (pair.source, pair.sink)))
    rows = Endpoint.objects.bulk_create(
        Endpoint(
            host=hosts[end.host],
            name="" if end.mode == "host" else end.mode,
            control_address=_CONTROL_ADDRESS.format(name=host_name(end.host, script.name)),
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


def _facts_document(endpoint: Endpoint, change: StagedChange) -> dict[str, Any]:
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


_DAYS_WITH_HOURS = 30
_PROBES_AN_HOUR = 60
_ROWS_AT_ONCE = 5_000


def write_probes(stories: Mapping[int, HostStory], nights: Sequence[datetime], until: datetime) -> None:
    """Write each endpoint's spans and hours; `stories` are those of the endpoints' hosts, by endpoint id."""
    spans = (span for endpoint, story in stories.items() for span in _spans(endpoint, story, nights, until))
    AvailabilitySpan.objects.bulk_create(spans, batch_size=_ROWS_AT_ONCE)
    hours = (hour for endpoint, story in stories.items() for hour in _hours(endpoint, story, nights, until))
    ProbeHour.objects.bulk_create(hours, batch_size=_ROWS_AT_ONCE)


def _spans(endpoint: int, story: HostStory, nights: Sequence[datetime], until: datetime) -> Iterator[AvailabilitySpan]:
    """Return a span per change; a host that is away in a night is away until the next one."""
    since, away = nights[0], story.is_away(0)
    for night, at in enumerate([*nights[1:], until], start=1):
        if night < len(nights) and story.is_away(night) == away:
            continue
        state = AvailabilitySpan.State.ENGINE_DOWN if away else AvailabilitySpan.State.ANSWERED
        reason = "Nothing listens at the engine's port." if away else ""
        yield AvailabilitySpan(endpoint_id=endpoint, state=state, reason=reason, since=since, until=at)
        since, away = at, not away


def _hours(endpoint: int, story: HostStory, nights: Sequence[datetime], until: datetime) -> Iterator[ProbeHour]:
    source = Random(endpoint)  # noqa: S311  (not a secret)
    first = max(0, len(nights) - _DAYS_WITH_HOURS)
    for night, begin in enumerate(nights[first:], start=first):
        for number in range(24):
            hour = begin.replace(minute=0) + timedelta(hours=number)
            if hour + timedelta(hours=1) <= until:
                yield _hour(endpoint, hour, story.is_away(night), source)


def _hour(endpoint: int, hour: datetime, is_away: bool, source: Random) -> ProbeHour:
    """Return an hour of sixty probes: of an engine that is down they tell nothing but that."""
    if is_away:
        return ProbeHour(endpoint_id=endpoint, hour=hour, probes=_PROBES_AN_HOUR)
    # Tests run from two to six; by day something else does.
    busy = 0.45 if 2 <= hour.hour < 6 else 0.12 if 8 <= hour.hour < 19 else 0.03
    cpu, used_bps = busy * source.uniform(0.7, 1.2), busy * LINK_BPS * source.uniform(0.5, 1.1)
    round_trip = source.uniform(0.0007, 0.0011)
    return ProbeHour(
        endpoint_id=endpoint,
        hour=hour,
        probes=_PROBES_AN_HOUR,
        answered=_PROBES_AN_HOUR,
        round_trip_least_seconds=round_trip * 0.8,
        round_trip_most_seconds=round_trip * source.uniform(1.5, 6),
        round_trip_sum_seconds=round_trip * _PROBES_AN_HOUR,
        utilised=_PROBES_AN_HOUR,
        cpu_ratio_sum=cpu * _PROBES_AN_HOUR,
        cpu_ratio_most=min(1.0, cpu * 1.8),
        metered=_PROBES_AN_HOUR,
        received_bps_sum=used_bps * _PROBES_AN_HOUR,
        received_bps_most=min(LINK_BPS, used_bps * 1.7),
        sent_bps_sum=used_bps * 0.9 * _PROBES_AN_HOUR,
        sent_bps_most=min(LINK_BPS, used_bps * 1.6),
        link_bps=LINK_BPS,
    )
