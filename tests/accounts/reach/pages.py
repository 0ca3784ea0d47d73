"""Forms of pages that name what they are about."""

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

IPERF3 = """[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  10.9 GBytes  9.39 Gbits/sec   12             sender
[  5]   0.00-10.04  sec  10.9 GBytes  9.35 Gbits/sec                  receiver
"""
# Drafts: they show what a form as typed comes to, change nothing, and are open to who may send one anywhere.
DRAFTS = {
    *("/pairs/mesh/summary", "/plans/steps", "/plans/preview", "/launch/choice", "/imports/preview"),
    *("/schedules/preview", "/schedules/pairs"),
}


def launched(site: Site, *others: Site) -> Body:
    pairs = [each.pair.pk for each in (site, *others)]
    return {"action": "launch", "plan": site.run.plan_version.plan_id, "pairs": pairs}


def tested(ends: list[int], kind: str = "tcp_stream") -> Body:
    return {"source": ends[0], "sink": ends[1], "kind": kind}


def saved(site: Site, **target: object) -> Body:
    """Return a schedule as its form sends it, with a target as REST has it."""
    ((kind, value),) = target.items()
    fields: Body = {kind: value}
    if isinstance(value, dict):
        fields = {"endpoints": value["endpoints"], "mesh_environment": value.get("environment", "")}
    times = {"repeat": "cron", "cron": "0 3 * * *", "timezone": "UTC", "missed": "skip"}
    more = {"action": "save", "name": "late", "retries": "2", "retry_pause": "60 s"}
    return {"plan": site.run.plan_version.plan_id, "target": kind} | fields | times | more


def meshed(environment: int, ends: list[int]) -> Body:
    return {"shape": "mesh", "endpoints": ends, "environment": environment, "both_directions": "on"}


SCENES = [
    *both_of("/launch", RUN, launched, "a pair of {}"),
    Scene("POST", "/launch", "pairs of lab and field", RUN, ("lab", "field"), launched),
    *both_of("/plans/<int:plan_id>/launch", RUN, launched, "a pair of {}"),
    *both_of("/quick-test", RUN, lambda site: tested(site.ends), "hosts of {} with a pair"),
    Scene(
        "POST",
        "/quick-test",
        "hosts of lab without a pair",
        WRITE,
        ("lab",),
        lambda lab, _: tested(lab.ends[::-1]),
    ),
    Scene(
        "POST",
        "/quick-test",
        "hosts of field without a pair",
        WRITE,
        ("field",),
        lambda _, field: tested(field.ends[::-1]),
    ),
    Scene(
        "POST",
        "/quick-test",
        "a host of lab and one of field",
        WRITE,
        ("any",),
        lambda lab, field: tested([lab.ends[0], field.ends[0]]),
    ),
    Scene(
        "POST",
        "/quick-test",
        "a host of lab and a new one",
        WRITE,
        ("lab", "new hosts"),
        lambda lab, _: tested([lab.ends[0], new_host().pk]),
    ),
    *both_of("/quick-test", WRITE, lambda site: tested([site.ends[0], 0], "memory_bandwidth"), "one host of {}"),
    *both_of("/compare/repeat", RUN, lambda site: {"runs": f"{site.run.pk}"}),
    *both_of("/runs/bulk", RUN, lambda site: {"action": "label", "label": "x", "runs": [site.run.pk]}, "label, of {}"),
    *both_of("/campaigns/label", RUN, lambda site: {"action": "label", "label": "x", "rows": [site.run.campaign_id]}),
    *both_of("/campaigns/cancel", RUN, lambda site: {"confirmed": 1, "rows": [site.run.campaign_id]}),
    *both_of("/imports", RUN, lambda site: {"text": IPERF3, "pair": site.pair.pk}, "a pair of {}"),
    *both_of("/alerts/triage", RUN, lambda site: {"action": "acknowledge", "alert": [site.alert]}),
    Scene(
        "POST",
        "/alerts/<int:alert_id>/move",
        "merge one of lab into one of field",
        RUN,
        ("lab", "field"),
        lambda _, field: {"action": "merge", "into": field.alert},
    ),
    *both_of("/history/notes", RUN, lambda site: note(f"pair:{site.pair.pk}"), "about a pair of {}"),
    *both_of("/history/notes", RUN, lambda site: note(f"environment:{site.environment.pk}"), "about {}"),
    Scene(
        "POST",
        "/history/notes",
        "about a host of lab",
        RUN,
        ("any",),
        lambda lab, _: note(f"host:{lab.pair.source.host_id}"),
    ),
    *of_target("/schedules/new", saved),
    Scene(
        "POST",
        "/schedules/<int:schedule_id>/edit",
        "from lab to pairs of field",
        RUN,
        ("lab", "field"),
        lambda lab, field: saved(lab, pairs=[field.pair.pk]),
    ),
    Scene(
        "POST",
        "/schedules/<int:schedule_id>/edit",
        "from lab to a mesh in lab of hosts of field",
        WRITE,
        ("lab", "hosts of field"),
        lambda lab, field: saved(lab, mesh={"endpoints": field.ends, "environment": lab.environment.pk}),
    ),
    *making_pairs(
        "/pairs/new", lambda environment, ends: {"environment": environment, "source": ends[0], "sink": ends[1]}
    ),
    *making_pairs("/pairs/mesh", meshed),
    Scene(
        "POST",
        "/pairs/mesh",
        "in a new environment, of hosts of lab",
        WRITE,
        ("any",),
        lambda lab, _: meshed(0, lab.ends) | {"environment": "", "new_environment": "theirs"},
    ),
    Scene("POST", "/pairs/<int:pair_id>/edit", "from lab to field", WRITE, ("lab", "field"), moved),
    *both_of("/pairs/archive", WRITE, lambda site: {"confirmed": 1, "rows": [site.pair.pk]}),
    *both_of("/pairs/label", WRITE, lambda site: {"action": "label", "label": "x", "rows": [site.pair.pk]}),
    *restoring("/pairs/restore", lambda pair: {"?rows": pair}),
    *restoring("/pairs/<int:pair_id>/restore", lambda pair: {"<pair_id>": pair}),
]


def note(about: str) -> Body:
    return {"text": "rewired", "at": "2026-03-01T02:00", "about": about}
