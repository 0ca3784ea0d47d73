"""The demo: a user, two engines on this machine, pairs, a plan and a first run."""

import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from benchweb.accounts.demo_account import USERNAME
from benchweb.accounts.models import ApiToken
from benchweb.accounts.services import token_create, token_digest
from benchweb.catalog.reasons import Reason, reason_fields
from benchweb.hosts import services as hosts
from benchweb.hosts.endpoints import services as endpoint_services
from benchweb.hosts.models import Endpoint, Environment, FormerName, Host
from benchweb.hosts.naming import free_names
from benchweb.ops.running import engines
from benchweb.ops.running.home import Home
from benchweb.plans import services as plans
from benchweb.runs import services as runs
from benchweb.runs.models import Run, State
from benchweb.runs.queueing import dispatch
from benchweb.runs.queueing.reservations import resources_of_run
from benchweb.runs.selectors import runs_named
from benchweb.site.installation import is_copy

STAMP = "demo"
TOKEN_FILE = "demo-token"  # noqa: S105  (a file's name)
TOKEN_NAME = "demo"  # noqa: S105
ENVIRONMENT = "this machine"
PLAN = "message sizes"
# A minute with all repetitions: enough of them that two runs can be compared, and short enough to watch to the end.
REPETITIONS = 5
TRIAL_SECONDS = 1.0
STEPS: list[Mapping[str, Any]] = [
    {
        "kind": "tcp_stream",
        "params": {"message_size_bytes": [64, 256, 1024, 4096, 16384, 65536], "duration_seconds": TRIAL_SECONDS},
    },
    {
        "kind": "udp_stream",
        # At a rate that any machine receives: without one the sender is faster than the sink, and most is lost.
        "params": {
            "message_size_bytes": [64, 1400, 8192],
            "rate_bps": 20_000_000,
            "duration_seconds": TRIAL_SECONDS,
        },
    },
    {
        "kind": "tcp_rr",
        "params": {"request_size_bytes": 1, "response_size_bytes": [1, 1024], "duration_seconds": TRIAL_SECONDS},
    },
]
# The first run begins when somebody looks, or after so long: whoever opens the pages is to see it from its begin.
AWAITS_READER = timedelta(seconds=20)
_AWAITS_CODE = "awaits_reader"
_SHOWN_AFTER_END = timedelta(minutes=30)
# An arbitrary number of ours for PostgreSQL's advisory locks: two fillings at once take turns.
LOCK_KEY = 7_410_741_1


class DemoError(Exception):
    """The demo can't be filled; the message says why."""


def fill(home: Home) -> str:
    """Create what is missing, all of it or nothing; return one line that says what was done."""
    with transaction.atomic():
        user = account_open(home)
        return _update_addresses(home) if _is_filled() else _create(home, user)


@transaction.atomic
def account_open(home: Home) -> User:
    """Let the demo's user in, whether the engines are there yet or not."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(%s)", [LOCK_KEY])
    user, is_new = User.objects.get_or_create(username=USERNAME, defaults={"is_staff": True, "is_superuser": True})
    if is_new:
        # No password in the database: `demo` logs in through the demo's own backend only.
        user.set_unusable_password()
        user.save(update_fields=["password"])
    # Disabled while the demo was off.
    User.objects.filter(pk=user.pk, is_active=False).update(is_active=True)
    _ensure_token(user, os.environ.get("BENCHWEB_DEMO_TOKEN") or home.secret(TOKEN_FILE))
    return user


def _is_filled() -> bool:
    """Tell whether the demo's endpoints were made once, whatever became of them: former names are kept."""
    name = f"demo-{engines.NAMES[0]}"
    was_renamed = FormerName.objects.filter(what=FormerName.What.ENDPOINT, text=name)
    return Endpoint.objects.filter(name=name).exists() or was_renamed.exists()


def disable() -> bool:
    """Disable the demo's user, and by that their sessions and tokens; tell whether there was one enabled."""
    return bool(User.objects.filter(username=USERNAME, is_active=True).update(is_active=False))


def _create(home: Home, user: User) -> str:
    engine_token = home.secret(engines.TOKEN_FILE)
    # A database that was filled before may have them already.
    (name,) = free_names(Environment, [ENVIRONMENT])
    environment = hosts.environment_create(name=name, description="Both engines on one machine, over loopback.")
    source, sink = (_endpoint(home, name, engine_token) for name in engines.NAMES)
    forward = hosts.pair_create(source=source, sink=sink, environment=environment)
    hosts.pair_create(source=sink, sink=source, environment=environment)
    plan = plans.plan_create(name=PLAN, steps=STEPS, repetitions=REPETITIONS, order="interleaved")
    if is_copy():
        return "The demo's data is there; this is a copy, so that nothing is measured."
    campaign = runs.launch(plan=plan, pairs=[forward], user=user)
    # Within the launch's transaction: no worker has heard of it.
    campaign.runs.update(not_before=Now() + AWAITS_READER, **reason_fields("waiting_for", Reason(_AWAITS_CODE)))
    return "The demo's data is there; its first run begins when a page is opened, or in a moment."


def first_run() -> Run | None:
    """Return the demo's first run while it is to be watched: until some time after its end; one query."""
    source, sink = (f"demo-{name}" for name in engines.NAMES)
    its = runs_named().filter(pair__source__name=source, pair__sink__name=sink)
    run = its.order_by("pk").first() if settings.DEMO else None
    is_over = run is not None and run.finished_at is not None and run.finished_at < timezone.now() - _SHOWN_AFTER_END
    return None if is_over else run


def is_awaited(home: Home) -> bool:
    """Tell whether the demo's data is still to come: its engines start, or are being built."""
    return settings.DEMO and not home.stamp(STAMP)


def begin(run: Run) -> None:
    """Let the first run begin, for somebody looks."""
    if (run.waiting_for_data or {}).get("code") != _AWAITS_CODE:
        return
    held = Run.objects.filter(pk=run.pk, state=State.PENDING, lease_owner="", waiting_for_data__code=_AWAITS_CODE)
    if held.update(not_before=None, waiting_for="", waiting_for_data=None):
        dispatch.wake(resources_of_run(run.pk))


def _endpoint(home: Home, name: str, token: str) -> Endpoint:
    listening = _listening(home, name)
    (called,) = free_names(Host, [f"demo-{name}"])
    host = hosts.host_create(name=called, description="An engine of the demo, on this machine.")
    return endpoint_services.endpoint_create(
        host=host,
        name=f"demo-{name}",
        control_address=listening.control,
        data_address=engines.LOOPBACK,
        token=token,
        fingerprint=listening.fingerprint,
        same_machine=True,
    )


def _update_addresses(home: Home) -> str:
    """Follow engines that had to take other ports; what a user archived or renamed is left alone."""
    moved = 0
    for name in engines.NAMES:
        listening = _listening(home, name)
        is_same = Q(control_address=listening.control, fingerprint=listening.fingerprint)
        is_same &= Q(data_port=None) | Q(data_port=listening.data_port)
        for endpoint in Endpoint.objects.filter(~is_same, name=f"demo-{name}", archived_at=None):
            endpoint_services.endpoint_update(
                endpoint=endpoint,
                name=endpoint.name,
                control_address=listening.control,
                data_address=endpoint.data_address,
                network_mode=endpoint.network_mode,
                bind_device=endpoint.bind_device,
                # A new certificate is trusted with the token only by whoever knows the token.
                token=home.secret(engines.TOKEN_FILE),
                fingerprint=listening.fingerprint,
            )
            moved += 1
    return f"The demo's data was there; {moved} endpoint(s) have a new address."


def _listening(home: Home, name: str) -> engines.Listening:
    engine = engines.listening(home, name)
    if engine is None:
        raise DemoError(f"The demo's engine {name} has not said where it listens: see logs/engine-{name}.log.")
    return engine


def _ensure_token(user: User, secret: str) -> None:
    # One that somebody revoked stays so.
    if not ApiToken.objects.filter(digest=token_digest(secret)).exists():
        token_create(user=user, name=TOKEN_NAME, secret=secret)
