"""The beat: sends the tick, and nothing else.

It reads the settings as a plain module: with DJANGO_SETTINGS_MODULE set, Celery would load every room into it.
"""

from celery import Celery

from benchweb.common.celery_client import QUEUE, TRANSPORT_OPTIONS, broker_url
from benchweb.settings import REDIS_URL
from workers.schedule import BEAT

app = Celery("benchweb-beat", broker=broker_url(REDIS_URL))
app.conf.update(
    BEAT,
    task_ignore_result=True,
    task_default_queue=QUEUE,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    broker_transport_options=TRANSPORT_OPTIONS,
)
