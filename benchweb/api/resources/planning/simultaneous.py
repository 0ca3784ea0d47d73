"""What sources that started together gave: each trial as one result with its parts."""

from typing import Annotated, Any

from django.http import HttpRequest
from pydantic import Field

from benchweb.api.paging import Page, PageQuery, page_of
from benchweb.api.schemas import Item
from benchweb.charts.simultaneous.results import SinkCounted, SourcePart, TogetherTrial, together_results
from benchweb.runs.models import Campaign, Trial

# Each trial is as many documents as there are sources.
MAXIMUM_TRIALS = 50


class TogetherQuery(PageQuery):
    limit: Annotated[int, Field(ge=1, le=MAXIMUM_TRIALS)] = 20


class SourceItem(Item):
    run: int
    state: str
    # Of the trial's `metric`, in the common window; null where the source gave none, and `reason` says why.
    value: float | None
    share_ratio: float | None
    reason: str


class SinkCountedItem(Item):
    """What the sink's interfaces counted in the common window; `payload_bps` is without the headers of all packets."""

    interfaces: list[str]
    bits_per_second: float
    packets_per_second: float
    payload_bps: float


class TogetherItem(Item):
    index: int
    kind: str
    params: dict[str, Any]
    repetition: int
    metric: str
    # Null while a source is missing; `sum` is of those that are there, null for what doesn't add up.
    total: float | None
    sum: float | None
    # Jain's index of those that are there.
    fairness: float | None
    window_seconds: float | None
    window_held: bool
    sink_counted: SinkCountedItem | None
    # Null where a source was lost in the trial: the counters have what it sent.
    sum_per_counted: float | None
    # Whether the two are at most 1 % apart.
    counters_agree: bool | None
    sources: list[SourceItem]


def page_of_campaign(request: HttpRequest, query: TogetherQuery, campaign: Campaign) -> Page[TogetherItem]:
    """Return one page of the trials that all sources of a campaign have, by those of its first run."""
    is_together = campaign.arrangement == Campaign.Arrangement.TOGETHER
    first = campaign.runs.order_by("pk").values("pk")[: 1 if is_together else 0]
    return page_of(request, query, Trial.objects.filter(run__in=first), lambda trials: _items(campaign, trials))


def _items(campaign: Campaign, trials: list[Trial]) -> list[TogetherItem]:
    if not trials:
        return []
    before, last = trials[0].index - 1, trials[-1].index
    return [_item(result) for result in together_results(campaign.pk, after=before, count=last - before)]


def _item(result: TogetherTrial) -> TogetherItem:
    trial = result.trial
    return TogetherItem(
        index=result.index,
        kind=result.kind.name,
        params=trial.params,
        repetition=trial.repetition,
        metric=result.metric.key,
        total=result.total,
        sum=result.sum,
        fairness=result.fairness,
        window_seconds=result.window and result.window.seconds,
        window_held=result.is_window_held,
        sink_counted=_sink(result.sink) if result.sink else None,
        sum_per_counted=result.sum_per_counted,
        counters_agree=result.is_counted,
        sources=[_source(part) for part in result.parts],
    )


def _sink(counted: SinkCounted) -> SinkCountedItem:
    return SinkCountedItem(
        interfaces=counted.interfaces,
        bits_per_second=counted.bits_per_second,
        packets_per_second=counted.packets_per_second,
        payload_bps=counted.payload_bps,
    )


def _source(part: SourcePart) -> SourceItem:
    return SourceItem(
        run=part.run, state=part.trial.state, value=part.value, share_ratio=part.share, reason=part.trial.why
    )
