"""Have a run's engines measure their hosts alone while the run holds them: once a night, and no run fails by it."""

import logging
import threading
import time
from collections.abc import Collection
from dataclasses import asdict

from django.utils import timezone

from benchweb.catalog.reasons import Reason, joined
from benchweb.hosts import canaries
from benchweb.hosts.models import Endpoint
from benchweb.runs.events import event_add
from benchweb.runs.queueing.claims import Claimed
from benchweb.runs.queueing.occupancy import occupancy
from benchweb.schedules.models import Slot
from workers.engine_client import EngineClient, EngineError, EngineRefused
from workers.engines.connections import let_database_go
from workers.engines.ends import Ends

_log = logging.getLogger(__name__)


def canaries_take(claimed: Claimed, ends: Ends) -> None:
    """Measure a scheduled run's hosts whose turn it is, both at once; whatever goes wrong, the run goes on.

    Only a run that holds its hosts for itself leaves them quiet, and only a schedule's may take a second longer.
    """
    try:
        due = _due_ends(claimed, ends)
        if due:
            _take(claimed.run.pk, due)
    except Exception:
        _log.exception("The hosts of run %s could not be measured alone", claimed.run.pk)
    finally:
        let_database_go()


def _due_ends(claimed: Claimed, ends: Ends) -> list[tuple[Endpoint, EngineClient]]:
    run = claimed.run
    if not occupancy(run.plan_version_id).is_exclusive:
        return []
    clients = {run.pair.sink_id: ends.sink, run.pair.source_id: ends.source}
    due = canaries.canaries_due([run.pair.sink, run.pair.source])
    if not due or not Slot.objects.filter(campaign=run.campaign_id, is_extra=False).exists():
        return []
    # Of two that are due on one machine the sink's turn is at a later run.
    alone = {endpoint.host.machine_key: endpoint for endpoint in due}.values()
    return [(end, clients[end.pk]) for end in alone if canaries.canary_claim(endpoint_id=end.pk)]


def _take(run_id: int, due: Collection[tuple[Endpoint, EngineClient]]) -> None:
    begun = time.monotonic()
    taken: list[str] = []
    threads = [threading.Thread(target=_taken, args=(*end, taken), daemon=True) for end in due]
    let_database_go()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if taken:
        seconds = f"{time.monotonic() - begun:.1f}"
        event_add(run_id=run_id, text=Reason("event_canary", hosts=joined(sorted(taken), ", "), seconds=seconds))


def _taken(endpoint: Endpoint, client: EngineClient, taken: list[str]) -> None:
    at = timezone.now()
    try:
        figures = [canaries.CanaryPasses(**asdict(figure)) for figure in client.canary()]
        if canaries.canary_record(endpoint_id=endpoint.pk, at=at, figures=figures):
            taken.append(str(endpoint))
    except EngineError as error:
        # One of before this call, or whose operator forbids it, is asked again the next night.
        if not isinstance(error, EngineRefused) or error.may_pass:
            canaries.canary_put_off(endpoint_id=endpoint.pk)
        _log.info("%s", error)
    except Exception:
        _log.exception("What the host of endpoint %s measured alone could not be kept", endpoint.pk)
    finally:
        let_database_go()
