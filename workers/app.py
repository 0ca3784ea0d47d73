"""The Celery application: threads pool, tasks that only carry ids."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchweb.settings")

import django
from django.conf import settings

django.setup()

from benchweb.queue import QUEUE, TRANSPORT_OPTIONS, broker_url  # noqa: E402  (needs the settings)
from workers.heartbeat import WorkerHeartbeat  # noqa: E402  (needs the settings)
from workers.schedule import BEAT  # noqa: E402

app = Celery("benchweb", broker=broker_url(settings.REDIS_URL), include=["workers.tasks"])
app.conf.update(
    BEAT,
    task_ignore_result=True,
    task_default_queue=QUEUE,
    worker_pool="threads",
    worker_concurrency=int(os.environ.get("BENCHWEB_WORKER_THREADS", "32")),
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    broker_transport_options=TRANSPORT_OPTIONS,
)
app.steps["worker"].add(WorkerHeartbeat)
