"""Calls of the API that name in their bodies what they are about."""

from collections.abc import Callable

from tests.accounts.reach.pages import IPERF3
from tests.accounts.reach.scenery import Site, new_host
from tests.accounts.reach.scenes import (
    RUN,
    WRITE,
    Body,
    Scene,
    both_of,
    making_pairs,
    moved,
    of_target,
    restoring,
)

# What changes nothing, and is open to who may send it anywhere.
DRAFTS = {"/api/v1/plans/preview"}
_RESULT = {"tool": "qperf", "kind": "tcp_stream", "key": "1", "metrics": [{"name": "throughput_bps", "values": [1e9]}]}
_V1 = "/api/v1"


def launched(site: Site, **where: object) -> Body:
    return {"plan": site.run.plan_version.plan_id} | where


def scheduled(site: Site, **target: object) -> Body:
    return launched(site, **target) | {"name": "late", "cron": "0 3 * * *"}


def tested(ends: list[int]) -> Body:
    return {"kind": "tcp_stream", "source": ends[0], "sink": ends[1]}


def making(path: str, about: str, places: tuple[str, ...], body: Callable[[Site, Site], Body]) -> Scene:
    return Scene("POST", f"{_V1}{path}", about, WRITE, places, body)


SCENES = [
    *both_of(f"{_V1}/runs", RUN, lambda site: launched(site, pair=site.pair.pk), "a pair of {}"),
    *both_of(f"{_V1}/runs", RUN, lambda site: tested(site.ends), "hosts of {} with a pair"),
    *both_of(f"{_V1}/runs", WRITE, lambda site: tested(site.ends[::-1]), "hosts of {} without a pair"),
    *both_of(
        f"{_V1}/runs", WRITE, lambda site: {"kind": "memory_bandwidth", "endpoint": site.ends[0]}, "one host of {}"
    ),
    making(
        "/runs",
        "a host of lab and one of field",
        ("any",),
        lambda lab, field: tested([lab.ends[0], field.ends[0]]),
    ),
    making(
        "/runs",
        "a host of lab and a new one",
        ("lab", "new hosts"),
        lambda lab, _: tested([lab.ends[0], new_host().pk]),
    ),
    *of_target(f"{_V1}/campaigns", launched),
    *of_target(f"{_V1}/schedules", scheduled),
    Scene(
        "PATCH",
        f"{_V1}/schedules/<schedule_id>",
        "from lab to pairs of field",
        RUN,
        ("lab", "field"),
        lambda _, field: {"pairs": [field.pair.pk]},
    ),
    Scene(
        "PATCH",
        f"{_V1}/schedules/<schedule_id>",
        "from lab to a mesh in lab of hosts of field",
        WRITE,
        ("lab", "hosts of field"),
        lambda lab, field: {"mesh": {"endpoints": field.ends, "environment": lab.environment.pk}},
    ),
    *making_pairs(
        f"{_V1}/pairs", lambda environment, ends: {"environment": environment, "source": ends[0], "sink": ends[1]}
    ),
    *making_pairs(f"{_V1}/pairs/mesh", lambda environment, ends: {"environment": environment, "endpoints": ends}),
    making(
        "/pairs/mesh",
        "in lab, of its hosts to a hub of field",
        ("lab", "hosts of field"),
        lambda lab, field: {"environment": lab.environment.pk, "endpoints": lab.ends, "hub": field.ends[0]},
    ),
    Scene("PATCH", f"{_V1}/pairs/<pair_id>", "from lab to field", WRITE, ("lab", "field"), moved),
    *restoring(f"{_V1}/pairs/<pair_id>/restore", lambda pair: {"<pair_id>": pair}),
    *both_of(f"{_V1}/results", RUN, lambda site: _RESULT | {"pair": site.pair.pk}, "a pair of {}"),
    *both_of(f"{_V1}/imports", RUN, lambda site: {"text": IPERF3, "pair": site.pair.pk}, "a pair of {}"),
    *both_of(f"{_V1}/shares", RUN, lambda site: {"run": site.run.pk}, "a run of {}"),
    Scene("POST", f"{_V1}/shares", "a page", RUN, ("any",), lambda *_: {"path": "/history"}),
    Scene(
        "POST",
        f"{_V1}/alerts/<alert_id>/merge",
        "one of lab into one of field",
        RUN,
        ("lab", "field"),
        lambda _, field: {"into": field.alert},
    ),
]
