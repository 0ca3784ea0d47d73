"""The Celery application: threads pool, tasks that only carry ids."""

import os
import threading
from contextlib import suppress
from typing import Any

from celery import Celery
from celery.signals import worker_init, worker_shutting_down
from kombu import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchweb.settings")

import django
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError

django.setup()

from benchweb.common.celery_client import QUEUE, TICK_QUEUE, TRANSPORT_OPTIONS, broker_url  # noqa: E402  (needs the settings)
from benchweb.common.followed import follow_all  # noqa: E402
from benchweb.site.installation import installation_note  # noqa: E402  (needs the settings)
from workers.heartbeat import WorkerHeartbeat, WritableBroker  # noqa: E402  (needs the settings)
from workers.schedule import BEAT  # noqa: E402

# No statement of a worker's waits for long behind a migration, or behind somebody's open transaction: it fails as when
# the database is away, and is done again. Before the first connection is made.
LOCK_SECONDS = 15
_database = settings.DATABASES[DEFAULT_DB_ALIAS]["OPTIONS"]
_database["options"] += f" -c lock_timeout={LOCK_SECONDS}s"
_database["application_name"] = "benchweb worker"

app = Celery("benchweb", broker=broker_url(settings.REDIS_URL), include=["workers.tasks"])
app.conf.update(
    BEAT,
    task_ignore_result=True,
    task_default_queue=QUEUE,
    task_queues=[Queue(name, routing_key=name) for name in (QUEUE, TICK_QUEUE)],
    worker_pool="threads",
    # No task waits on the network: runs, checks and probes have threads of their own.
    worker_concurrency=4,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    broker_transport_options=TRANSPORT_OPTIONS,
)
app.steps["worker"].add(WorkerHeartbeat)
app.steps["consumer"].add(WritableBroker)


@worker_init.connect
def _follow_values(**_: Any) -> None:
    # Before the first tick: it has to know whether this is a copy. Where the database is away, the next start does it.
    with suppress(DatabaseError):
        installation_note()
    follow_all()


@worker_shutting_down.connect
def _hand_over(**_: Any) -> None:
    """Let the next worker have this one's runs; in a thread, for a signal interrupted this one."""
    from workers.runner import hand_over

    threading.Thread(target=hand_over, name="hand-over").start()
