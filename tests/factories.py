"""Rows for tests, made through the services that the product uses."""

from datetime import datetime
from functools import cache
from itertools import count
from typing import Any

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.utils import timezone

from benchweb.hosts.endpoints.services import endpoint_create
from benchweb.hosts.models import Endpoint, Environment, Pair
from benchweb.hosts.naming import free_names
from benchweb.hosts.services import environment_create, host_create, pair_create
from benchweb.notifications.channels import channel_create
from benchweb.notifications.kinds.kind import ChannelSettings
from benchweb.notifications.models import Channel
from benchweb.plans.models import Plan
from benchweb.plans.services import plan_create
from benchweb.regressions import transitions
from benchweb.regressions.models import LIVE_STATES, Alert, Threshold
from benchweb.regressions.thresholds.rules import ThresholdValues, threshold_create
from benchweb.results.nightly_summaries import night_of
from benchweb.runs.models import Run
from benchweb.runs.queueing.claims import Claimed, begin, claim
from benchweb.runs.services import launch
from benchweb.schedules.models import Schedule
from benchweb.schedules.services import schedule_create

_numbers = count(1)

ONE_TRIAL = [{"kind": "tcp_stream", "params": {"duration_seconds": 1}}]
SIZES: list[dict[str, Any]] = [
    {"kind": "tcp_stream", "params": {"message_size_bytes": [64, 1024, 16384], "duration_seconds": 1}},
    {
        "kind": "tcp_rr",
        "params": {"request_size_bytes": 1, "response_size_bytes": 1, "duration_seconds": 1},
    },
]


def make_user(name: str, password: str) -> User:
    """Make somebody who can log in; the password is hashed once, for that takes longer than most tests."""
    return User.objects.create(username=name, password=_hashed(password))


@cache
def _hashed(password: str) -> str:
    return make_password(password)


def make_endpoint(*, control_address: str = "127.0.0.1:1", **fields: Any) -> Endpoint:
    """Make a host with one endpoint; port 1 answers nobody."""
    host = host_create(name=fields.pop("host_name", f"host-{next(_numbers)}"))
    return endpoint_create(host=host, control_address=control_address, **{"same_machine": True} | fields)


def make_pair(*, source: Endpoint | None = None, sink: Endpoint | None = None, environment: str = "lab") -> Pair:
    """Make a pair, with endpoints of its own unless given, in an environment of its own."""
    return pair_create(
        source=source or make_endpoint(),
        sink=sink or make_endpoint(),
        environment=make_environment(environment),
    )


def make_environment(name: str = "lab") -> Environment:
    """Make an environment, with a number behind a name that is in use."""
    (free,) = free_names(Environment, [name])
    return environment_create(name=free)


def make_plan(**fields: Any) -> Plan:
    """Make a plan of one short trial unless told otherwise."""
    values: dict[str, Any] = {"name": "sizes", "steps": ONE_TRIAL, "repetitions": 1, "order": "interleaved"} | fields
    return plan_create(**values)


def make_run(*, pair: Pair | None = None, **plan_fields: Any) -> Run:
    """Launch a plan on a pair and give its pending run."""
    campaign = launch(plan=make_plan(**plan_fields), pairs=[pair or make_pair()], user=None)
    return campaign.runs.get()


def make_schedule(**fields: Any) -> Schedule:
    """Make a schedule of a short plan on one pair, at 02:00 UTC every night unless told otherwise."""
    values = {"name": "nightly"} | fields
    values.setdefault("plan", make_plan())
    values.setdefault("target", {"pairs": [make_pair().pk]})
    if "every" not in values:
        values.setdefault("cron", "0 2 * * *")
    return schedule_create(**values)


def make_channel(name: str = "team") -> Channel:
    """Make a channel that mails one person."""
    return channel_create(name=name, settings=ChannelSettings("email", to=["ann@example.org"]))


def make_alert(state: str = Alert.State.OPEN, *, pair: Pair | None = None, at: datetime | None = None) -> Alert:
    """Make an alert of runs that finished with nothing received."""
    begun_at = at or timezone.now()
    return transitions.begin(
        Alert(
            kind=Alert.Kind.ABSENCE,
            state=state,
            code="nothing",
            params={"runs": 2},
            pair=pair or make_pair(),
            begun_at=begun_at,
            night=night_of(begun_at),
            segment_key=f"test-{next(_numbers)}",
            ended_at=None if state in LIVE_STATES else begun_at,
        )
    )


def make_threshold(name: str = "floor", **values: Any) -> Threshold:
    """Make a threshold: throughput of TCP streams below 800 Mbit/s."""
    fields: dict[str, Any] = {"kind": "tcp_stream", "metric": "throughput_bps", "relation": "below", "limit": 0.8e9}
    return threshold_create(ThresholdValues(**{"name": name} | fields | values), by=None)


def claim_surely(run: Run, owner: str) -> Claimed:
    """Claim a run that is to be had."""
    claimed = claim(run_id=run.pk, owner=owner)
    assert claimed is not None
    return claimed


def begun(run: Run, owner: str) -> Claimed | None:
    """Claim a run and begin it, as a worker does once both engines have answered; None when it isn't to be had."""
    claimed = claim(run_id=run.pk, owner=owner)
    if claimed is not None and not claimed.taken_over:
        assert begin(claimed=claimed)
    return claimed
