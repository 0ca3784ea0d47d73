"""Hosts, endpoints, pairs, a plan and launches of a bench: run inside the rig's environment, JSON in, JSON out.

`python -m bench.rig.rows` reads {"engines": [{"control", "fingerprint", "token", "data"?}], "pairs": [[0, 1]], "steps":
[...], "repetitions", "api_token"} and gives {"pairs": [ID], "plan": ID, "hosts": [ID]}; {"launch": {"plan", "pairs"}}
gives {"campaigns": [ID], "seconds"}.
"""

import json
import sys
import time
from typing import Any

import django

django.setup()

from benchweb.accounts.services import token_create  # noqa: E402  (needs the settings)
from benchweb.hosts.models import Endpoint, Environment, Host, Pair  # noqa: E402
from benchweb.plans.models import Plan  # noqa: E402
from benchweb.plans.services import plan_create  # noqa: E402
from benchweb.runs import services  # noqa: E402
from benchweb.site.secrets import encrypted  # noqa: E402

BATCH = 2_000


def made(requested: dict[str, Any]) -> dict[str, Any]:
    """Make the rows in bulk: the services would check each engine, which is no part of what is measured."""
    from django.contrib.auth.models import User

    user = User.objects.create_user("bench", is_staff=True, is_superuser=True)
    token_create(user=user, name="bench", secret=requested["api_token"])
    environment = Environment.objects.create(name="simulated")
    engines = requested["engines"]
    hosts = Host.objects.bulk_create(Host(name=f"host-{number:04}") for number in range(len(engines)))
    endpoints = Endpoint.objects.bulk_create(
        Endpoint(
            host=host,
            control_address=engine["control"],
            data_address=engine.get("data") or engine["control"].rsplit(":", 1)[0],
            fingerprint=engine["fingerprint"],
            token_encrypted=encrypted(engine["token"]),
        )
        for host, engine in zip(hosts, engines, strict=True)
    )
    pairs = Pair.objects.bulk_create(
        (
            Pair(source=endpoints[one], sink=endpoints[other], environment=environment)
            for one, other in requested["pairs"]
        ),
        batch_size=BATCH,
    )
    plan = plan_create(
        name="bench", steps=requested["steps"], repetitions=requested.get("repetitions", 1), order="interleaved"
    )
    return {"pairs": [pair.pk for pair in pairs], "plan": plan.pk, "hosts": [host.pk for host in hosts]}


def launched(requested: dict[str, Any]) -> dict[str, Any]:
    """Launch a plan on pairs, in as few campaigns as the product takes."""
    plan = Plan.objects.get(pk=requested["plan"])
    pairs = list(
        Pair.objects.filter(pk__in=requested["pairs"])
        .select_related("source__host", "sink__host", "environment")
        .order_by("pk")
    )
    started = time.perf_counter()
    step = getattr(services, "MAXIMUM_PAIRS", len(pairs))
    campaigns = [
        services.launch(plan=plan, pairs=pairs[first : first + step], user=None).pk
        for first in range(0, len(pairs), step)
    ]
    return {"campaigns": campaigns, "seconds": time.perf_counter() - started}


def main() -> None:
    requested = json.load(sys.stdin)
    print(json.dumps(launched(requested["launch"]) if "launch" in requested else made(requested)))


if __name__ == "__main__":
    main()
