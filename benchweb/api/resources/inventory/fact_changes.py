"""Changes of hosts' facts: kernel, driver, MTU, offloads, settings, engine version."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router
from pydantic import AfterValidator, BaseModel, Field

from benchweb.api.authentication import READ
from benchweb.api.paging import MAXIMUM_LIMIT, Page, refuse_unknown
from benchweb.api.point_cursors import cursor_of, numbered_point_of
from benchweb.api.schemas import Item, RequestedIdentifier, RequestedMoment
from benchweb.hosts.facts.differences import FACTS
from benchweb.hosts.facts.fleet import ChangePlace, ChangesWanted, EndpointFactsChange, changes_page

router = Router(tags=["hosts"])


def _known_fact(fact: str) -> str:
    if fact and fact not in FACTS:
        raise ValueError(f"There is no such fact here; there are: {', '.join(FACTS)}.")
    return fact


class FactChangesQuery(BaseModel):
    host: RequestedIdentifier = None
    environment: RequestedIdentifier = None
    fact: Annotated[str, Field(max_length=60, examples=["kernel"]), AfterValidator(_known_fact)] = ""
    from_time: Annotated[RequestedMoment, Field(alias="from")] = None
    to_time: Annotated[RequestedMoment, Field(alias="to")] = None
    cursor: Annotated[str, Field(max_length=200)] = ""
    limit: Annotated[int, Field(ge=1, le=MAXIMUM_LIMIT)] = 100


class FactDifferenceItem(Item):
    """A fact's values as the engine reported them; null for a reboot and for an interface that came or went."""

    fact: str
    key: str
    interface: str
    before: Any
    after: Any
    text: str


class FactChangeItem(Item):
    """`at` is when the new facts were first seen."""

    at: datetime
    host: int
    host_name: str
    endpoint: int
    changes: list[FactDifferenceItem]


@router.get("/fact-changes", response=Page[FactChangeItem], auth=READ)
def fact_change_list(request: HttpRequest, query: Query[FactChangesQuery]) -> Page[FactChangeItem]:
    """List changes of the facts of hosts in use, newest first, from `from` on and before `to`.

    Interfaces of containers and virtual machines count only where an endpoint uses them. A page may have fewer items
    than `limit`, even none, and be followed by others.
    """
    refuse_unknown(request, FactChangesQuery)
    wanted = ChangesWanted(query.host, query.environment, query.fact, query.from_time, query.to_time)
    after = ChangePlace(*numbered_point_of(query.cursor)) if query.cursor else None
    page = changes_page(wanted, after=after, most=query.limit)
    following = cursor_of(*page.following) if page.following else None
    return Page(items=[_item(change) for change in page.changes], next=following)


def _item(change: EndpointFactsChange) -> FactChangeItem:
    endpoint = change.endpoint
    return FactChangeItem(
        at=change.place.at,
        host=endpoint.host_id,
        host_name=endpoint.host.name,
        endpoint=endpoint.pk,
        changes=[
            FactDifferenceItem(
                fact=difference.fact,
                key=difference.key,
                interface=difference.interface,
                before=difference.before,
                after=difference.after,
                text=difference.words,
            )
            for difference in change.differences
        ],
    )
