"""Fill a running dashboard with hosts that don't exist, to look at its pages; their addresses are of 198.18.0.0/15.

    BENCHWEB_HOME=FOLDER .venv/bin/python -m bench.fill_hosts 1000 [--user NAME --password WORD]

Most answer, a few don't. Each host is paired with its next two in its zone; a plan and a nightly schedule go with
them. With `--user` it makes that user, for a dashboard started by `up --no-demo`.
"""

import argparse
import os
from datetime import timedelta
from typing import Any

ZONES = ("zone A", "zone B", "A to B", "pods, same zone", "pods, A to B")
MODES = ("host", "terway", "terway-eni")
KERNELS = ("6.1.0-18-amd64", "6.1.0-21-amd64", "6.6.30-generic")
# Of so many hosts one doesn't answer, and one has never been asked.
_SILENT, _UNKNOWN = 37, 41
STEPS = [
    {"kind": "tcp_stream", "params": {"message_size_bytes": [64, 1024, 16384], "duration_seconds": 10}},
    {"kind": "tcp_rr", "params": {"duration_seconds": 10}},
]


def main() -> None:
    """Fill as the arguments ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hosts", type=int)
    parser.add_argument("--user")
    parser.add_argument("--password", default="demo")
    arguments = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchweb.settings")
    import django

    django.setup()
    if arguments.user:
        from django.contrib.auth.models import User

        user, _ = User.objects.get_or_create(username=arguments.user, defaults={"is_staff": True, "is_superuser": True})
        user.set_password(arguments.password)
        user.save()
    if arguments.hosts:
        _fill(arguments.hosts)
    print(f"{arguments.hosts} hosts.")


def _fill(count: int) -> None:
    from benchweb.hosts.models import Endpoint, Environment, Facts, Host, Pair
    from benchweb.plans.services import plan_create
    from benchweb.schedules.services import schedule_create

    zones = [Environment.objects.create(name=name, description="Machines that don't exist.") for name in ZONES]
    hosts = Host.objects.bulk_create(
        Host(name=f"node-{number:04}.example", labels=[f"rack-{number // 40}", "nightly"], uplink=_uplink(number))
        for number in range(count)
    )
    endpoints = Endpoint.objects.bulk_create(Endpoint(host=host, **_endpoint(n)) for n, host in enumerate(hosts))
    now = _now()
    # They were there when their first facts were read.
    since = {"created_at": now - timedelta(days=61)}
    Host.objects.filter(pk__in=[host.pk for host in hosts]).update(**since)
    Endpoint.objects.filter(pk__in=[endpoint.pk for endpoint in endpoints]).update(**since)
    Facts.objects.bulk_create(
        Facts(
            endpoint=endpoint,
            digest=f"{number}-{age}",
            document=_facts(number, age),
            first_seen_at=now - timedelta(days=30 * age + 1),
            last_seen_at=now - timedelta(days=30 * (age - 1) + 2) if age else now,
        )
        for number, endpoint in enumerate(endpoints)
        for age in (2, 1, 0)
    )
    pairs = [
        Pair(source=endpoints[number], sink=endpoints[(number + step) % count], environment=zones[number % len(zones)])
        for number in range(count)
        for step in (1, 2)
        if count > step
    ]
    Pair.objects.bulk_create(pairs)
    plan = plan_create(name="sizes and latency", steps=STEPS, repetitions=3, order="interleaved")
    if pairs:
        target = {"environment": zones[0].pk}
        schedule_create(name="every night", plan=plan, target=target, cron="0 2 * * *", timezone="Europe/Berlin")


def _endpoint(number: int) -> dict[str, Any]:
    from benchweb.hosts.models import Endpoint

    status, reason = Endpoint.Status.ANSWERED, ""
    if number % _SILENT == _SILENT - 1:
        status, reason = Endpoint.Status.UNREACHABLE, "no answer within 5 s: is the engine running, and its port open?"
    checked_at = None if number % _UNKNOWN == _UNKNOWN - 1 else _now() - timedelta(seconds=number % 60)
    return {
        "control_address": f"198.18.{number // 250}.{number % 250 + 1}:7410",
        "data_address": f"198.19.{number // 250}.{number % 250 + 1}",
        "network_mode": MODES[number % len(MODES)],
        "status": status if checked_at else Endpoint.Status.UNKNOWN,
        "status_reason": reason,
        "checked_at": checked_at,
        "engine_version": "0.1.0",
        # Nobody is there to be asked.
        "probe_due_at": _now() + timedelta(days=365),
    }


def _facts(number: int, age: int) -> dict[str, Any]:
    return {
        "hostname": f"node-{number:04}.example",
        "kernel": KERNELS[max(0, len(KERNELS) - 1 - age)],
        "operating_system": "Debian GNU/Linux 12 (bookworm)",
        "architecture": "x86_64",
        "boot_id": f"boot-{number}-{age}",
        "cpu": {"model": "AMD EPYC 9354", "logical": 64, "governor": "performance"},
        "congestion_control": "cubic",
        "interfaces": [{"name": "eth0", "driver": "ena", "mtu": 1500 if age else 9001, "speed_bps": 25_000_000_000}],
    }


def _uplink(number: int) -> str:
    return f"spine-{number // 200}" if number % 5 == 2 else ""


def _now() -> Any:
    from django.utils import timezone

    return timezone.now()


if __name__ == "__main__":
    main()
