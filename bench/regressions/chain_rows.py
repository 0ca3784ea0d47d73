"""What bench/regressions/killed_chain.py needs of the database: run in the rig's environment, JSON lines in and out.

The first line is {"engines": [CONTROL], "fingerprint", "token", "steps", "webhook": {"url", "secret"}, "mail"}: every
two engines become a pair in an environment of its own with a schedule of its own; the answer is their ids. Every
further line is a list of schedules to run now; the answer is their number.
"""

import json
import sys
from typing import Any

import django

django.setup()

from benchweb.hosts.models import Endpoint, Environment, Host, Pair  # noqa: E402  (needs the settings)
from benchweb.notifications.channels import channel_create  # noqa: E402
from benchweb.notifications.kinds.kind import ChannelSettings  # noqa: E402
from benchweb.notifications.services import RuleValues, rule_create  # noqa: E402
from benchweb.plans.models import Plan  # noqa: E402
from benchweb.plans.services import plan_create  # noqa: E402
from benchweb.schedules.models import Schedule  # noqa: E402
from benchweb.schedules.services import run_now, schedule_create  # noqa: E402
from benchweb.site.secrets import encrypted  # noqa: E402

# No time of it comes while the proof runs.
NEVER_NOW = "0 0 29 2 *"


def main() -> None:
    """Make the rows, then run what is named."""
    _answer(_made(json.loads(sys.stdin.readline())))
    for line in sys.stdin:
        slots = [run_now(schedule) for schedule in Schedule.objects.filter(pk__in=json.loads(line))]
        _answer(len(slots))


def tell_everybody(wanted: dict[str, Any]) -> None:
    """Have all alerts sent to a webhook and by mail."""
    channels = {
        "webhook": ChannelSettings("webhook", **wanted["webhook"]),
        "mail": ChannelSettings("email", to=[wanted["mail"]]),
    }
    for name, settings in channels.items():
        rule_create(RuleValues(name=name, channel=channel_create(name=name, settings=settings)))


def _made(wanted: dict[str, Any]) -> list[int]:
    plan = plan_create(name="chain", steps=wanted["steps"], repetitions=1, order="interleaved")
    tell_everybody(wanted)
    ends = [_endpoint(wanted, number) for number in range(len(wanted["engines"]))]
    return [_schedule(plan, number, *ends[number : number + 2]) for number in range(0, len(ends), 2)]


def _endpoint(wanted: dict[str, Any], number: int) -> Endpoint:
    control = wanted["engines"][number]
    return Endpoint.objects.create(
        host=Host.objects.create(name=f"host-{number:02}"),
        control_address=control,
        data_address=control.rsplit(":", 1)[0],
        fingerprint=wanted["fingerprint"],
        token_encrypted=encrypted(wanted["token"]),
    )


def _schedule(plan: Plan, number: int, source: Endpoint, sink: Endpoint) -> int:
    environment = Environment.objects.create(name=f"chain-{number:02}")
    Pair.objects.create(source=source, sink=sink, environment=environment)
    target = {"environment": environment.pk}
    return schedule_create(name=environment.name, plan=plan, target=target, cron=NEVER_NOW).pk


def _answer(value: Any) -> None:
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    main()
