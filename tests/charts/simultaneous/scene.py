"""Campaigns of sources that tested one sink together, with results taken in as the worker does."""

from collections.abc import Sequence
from typing import Any

from benchweb.catalog.parts import SOURCES
from benchweb.results.ingest import SINK_STARTED_AT, ingest, parsed_result, with_others
from benchweb.runs.models import Campaign, Run, State, Trial
from benchweb.runs.services import launch
from tests.factories import make_endpoint, make_pair, make_plan

# Of each packet on the wire: 1,448 bytes of payload in Ethernet, IPv4, and TCP with time stamps.
PAYLOAD, HEADERS = 1448, 14 + 20 + 32
SECONDS = 4
STREAM = [{"kind": "tcp_stream", "params": {"duration_seconds": SECONDS}}]


def incast(rates: Sequence[float], *, sink: str = "sink", repetitions: int = 1, steps: Any = STREAM) -> Campaign:
    """Launch so many sources to one sink; their results are to come."""
    end = make_endpoint(host_name=sink)
    pairs = [make_pair(source=make_endpoint(host_name=f"{sink}-source-{n}"), sink=end) for n in range(len(rates))]
    plan = make_plan(steps=steps, repetitions=repetitions)
    return launch(plan=plan, pairs=pairs, user=None, arrangement="together")


def measured(
    campaign: Campaign, rates: Sequence[float | None], *, index: int = 1, late: float = 0.25, others: float = 0
) -> None:
    """Give each source a trial's result, each a bit later than the one before; those with None have failed.

    The sink's interface counts what `others` send, too.
    """
    arrived = sum(rate or 0 for rate in rates) + others
    for number, (run, rate) in enumerate(zip(runs_of(campaign), rates, strict=True)):
        trial = run.trials.get(index=index)
        if rate is None:
            Trial.objects.filter(pk=trial.pk).update(state=State.FAILED, reason="its engine is gone")
            continue
        began = f"2026-11-01T02:00:{10 + number * late:09.6f}Z"
        document = {"kind": trial.kind, "metrics": {"throughput_bps": rate}, "intervals": _intervals(rate, arrived)}
        document["addresses"] = {"family": "ipv4", "source": "192.0.2.1", "sink": "192.0.2.9"}
        beside = {SOURCES.name: len(rates), SINK_STARTED_AT: began}
        result = with_others(parsed_result(trial.kind, document), beside)
        assert ingest(trial=trial, result=result, state=State.FINISHED)


def runs_of(campaign: Campaign) -> list[Run]:
    return list(campaign.runs.order_by("pk"))


def _intervals(rate: float, arrived: float) -> list[dict[str, Any]]:
    """Return intervals of a second after one of warm-up; the sink's interface counts what all sources send."""
    packets = round(arrived / 8 / PAYLOAD)
    counted = {"name": "eth0", "rx_packets": packets, "tx_packets": 0, "rx_bytes": packets * (PAYLOAD + HEADERS)}
    return [
        {
            "start_seconds": float(second),
            "end_seconds": second + 1.0,
            "warmup": second == 0,
            "metrics": {"throughput_bps": 9 * rate if second == 0 else rate},
            "interfaces": {"sink": {**counted, "tx_bytes": 0}},
        }
        for second in range(SECONDS + 1)
    ]
