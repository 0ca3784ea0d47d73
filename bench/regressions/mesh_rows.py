"""What the proof of regressions needs in the database: run inside the rig's environment, JSON in, JSON out.

Reads {"meshes": [{"name", "engines": [{"control", "data", "fingerprint", "token"}]}], "steps", "repetitions",
"slots": {NAME: N}, "floor_ratio", "webhook": {"url", "secret"}, "mail"}; a schedule without a number in `slots` goes on
for ever.
"""

import json
import sys
from itertools import permutations
from typing import Any

import django

django.setup()

from bench.regressions.chain_rows import tell_everybody  # noqa: E402  (needs the settings)
from benchweb.hosts.models import Endpoint, Environment, Host, Pair  # noqa: E402
from benchweb.plans.services import plan_create  # noqa: E402
from benchweb.regressions.thresholds.sensitivities import SensitivityScope, sensitivity_create  # noqa: E402
from benchweb.schedules.services import schedule_create  # noqa: E402
from benchweb.site.secrets import encrypted  # noqa: E402


def main() -> None:
    """Make the rows."""
    wanted = json.load(sys.stdin)
    plan = plan_create(name="every slot", steps=wanted["steps"], repetitions=wanted["repetitions"], order="interleaved")
    environments = {mesh["name"]: _environment(mesh) for mesh in wanted["meshes"]}
    tell_everybody(wanted)
    if wanted["floor_ratio"] is not None:
        sensitivity_create(SensitivityScope(plan=plan), floor_ratio=wanted["floor_ratio"], noise_times=None)
    for name, environment in environments.items():
        target, most = {"environment": environment.pk}, wanted["slots"].get(name)
        schedule_create(name=name, plan=plan, target=target, cron=wanted["cron"], max_runs=most)


def _environment(mesh: dict[str, Any]) -> Environment:
    """Make a mesh's hosts and all of its pairs; the services would check each engine first."""
    environment = Environment.objects.create(name=mesh["name"])
    endpoints = [
        Endpoint.objects.create(
            host=Host.objects.create(name=f"{mesh['name']}-{number}"),
            control_address=engine["control"],
            data_address=engine["data"],
            fingerprint=engine["fingerprint"],
            token_encrypted=encrypted(engine["token"]),
        )
        for number, engine in enumerate(mesh["engines"], start=1)
    ]
    Pair.objects.bulk_create(
        Pair(source=source, sink=sink, environment=environment) for source, sink in permutations(endpoints, 2)
    )
    return environment


if __name__ == "__main__":
    main()
