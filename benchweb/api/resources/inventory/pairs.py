"""Pairs: source endpoint to sink endpoint in an environment."""

from datetime import datetime
from typing import Annotated, Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import FailFast, Field

from benchweb.accounts.permissions import Permission, access_of
from benchweb.api.authentication import READ, RUN, WRITE, caller
from benchweb.api.paging import ArchivableQuery, Page, page
from benchweb.api.problems import invalid
from benchweb.api.resources.inventory.endpoints import Accepted
from benchweb.api.rows import row_named, row_or_404, rows_named
from benchweb.api.schemas import Body, Identifier, Item, Labels, given
from benchweb.catalog.reasons import reason_items
from benchweb.hosts import services
from benchweb.hosts.belonging import places_of_pairs, places_paired
from benchweb.hosts.meshes import MAXIMUM_ENDPOINTS, mesh_make, mesh_of
from benchweb.hosts.models import Endpoint, Environment, Pair
from benchweb.hosts.path_checks import PathFound, path_check, path_found
from benchweb.hosts.selectors import environments_of_pair
from benchweb.labels import with_label

router = Router(tags=["pairs"])


class PairBody(Body):
    source: Identifier
    # Left out for one host alone: what tests of a host without a peer run on.
    sink: Identifier | None = None
    environment: Identifier
    labels: Labels = []


class PairChange(Body):
    # What is left out stays.
    environment: Identifier | None = None
    labels: Labels = []


class MeshBody(Body):
    endpoints: Annotated[list[Identifier], Field(max_length=MAXIMUM_ENDPOINTS), FailFast()]
    environment: Identifier
    # Makes it a hub with the endpoints as its spokes.
    hub: Identifier | None = None
    # Of a hub: from each spoke to the hub too.
    both_directions: bool = True


class MeshItem(Item):
    # The environment's.
    id: int
    # All that are in use, by id.
    pairs: list[int]
    created: int
    existing: int
    archived: int
    within_hosts: int


class PairQuery(ArchivableQuery):
    source: Identifier | None = None
    sink: Identifier | None = None
    environment: Identifier | None = None
    host: Identifier | None = None
    path_status: Pair.Path | None = None
    label: Annotated[str, Field(max_length=100)] = ""


class PairItem(Item):
    id: int
    name: str
    source: int
    source_name: str
    source_host: int
    sink: int
    sink_name: str
    sink_host: int
    # One host alone: its sink is its source, and no traffic goes anywhere.
    is_one_host: bool
    environment: int
    environment_name: str
    labels: list[str]
    # What the last check of the data path found.
    path_status: str
    path_reason: str
    path_reason_code: str | None
    path_reason_params: dict[str, Any] | None
    path_checked_at: datetime | None
    path: PathFound | None
    created_at: datetime
    archived_at: datetime | None


@router.get("/pairs", response=Page[PairItem], auth=READ)
def pair_list(request: HttpRequest, query: Query[PairQuery]) -> Page[PairItem]:
    """List pairs by id; `host` finds those with it at either end."""
    rows = _pairs().filter(archived_at__isnull=not query.archived)
    wanted = {"source": query.source, "sink": query.sink, "environment": query.environment}
    rows = rows.filter(**{field: value for field, value in wanted.items() if value is not None})
    if query.path_status is not None:
        rows = rows.filter(path_status=query.path_status)
    if query.host is not None:
        rows = rows.filter(Q(source__host=query.host) | Q(sink__host=query.host))
    if query.label:
        rows = with_label(rows, query.label)
    return page(request, query, rows, _item)


@router.post("/pairs", response={201: PairItem}, auth=WRITE.checked_by_view())
def pair_create(request: HttpRequest, body: PairBody) -> Status[PairItem]:
    """Create a pair; an equal one that isn't archived is refused."""
    endpoints = Endpoint.objects.select_related("host")
    ends = [body.source, body.source if body.sink is None else body.sink]
    access_of(caller(request)).demand(Permission.WRITE, places_paired(body.environment, ends))
    pair = services.pair_create(
        source=row_named(endpoints, body.source, "source"),
        sink=None if body.sink is None else row_named(endpoints, body.sink, "sink"),
        environment=row_named(Environment.objects.all(), body.environment, "environment"),
        labels=body.labels,
    )
    return Status(201, _item(pair))


@router.post("/pairs/mesh", response={201: MeshItem}, auth=WRITE.checked_by_view())
def pair_mesh(request: HttpRequest, body: MeshBody) -> Status[MeshItem]:
    """Make the pairs of a mesh: from each endpoint to each other, or between a `hub` and each of them.

    Pairs that exist are left as they are, archived ones too; pairs within one host are left out.
    """
    ends = [*body.endpoints, *([body.hub] if body.hub is not None else [])]
    access_of(caller(request)).demand(Permission.WRITE, places_paired(body.environment, ends))
    endpoints = Endpoint.objects.select_related("host")
    mesh = mesh_of(
        endpoints=rows_named(endpoints, body.endpoints, "endpoints"),
        environment=row_named(Environment.objects.filter(archived_at=None), body.environment, "environment"),
        hub=None if body.hub is None else row_named(endpoints, body.hub, "hub"),
        both=body.both_directions,
    )
    pairs = mesh_make(mesh)
    return Status(
        201,
        MeshItem(
            id=body.environment,
            pairs=[pair.pk for pair in pairs],
            created=len(mesh.missing),
            existing=len(mesh.pairs),
            archived=len(mesh.archived),
            within_hosts=mesh.within_hosts,
        ),
    )


@router.get("/pairs/{pair_id}", response=PairItem, auth=READ)
def pair_detail(request: HttpRequest, pair_id: Identifier) -> PairItem:
    """Show a pair, archived or not."""
    return _item(row_or_404(_pairs(), pair_id))


@router.patch("/pairs/{pair_id}", response=PairItem, auth=WRITE.within(environments_of_pair))
def pair_update(request: HttpRequest, pair_id: Identifier, body: PairChange) -> PairItem:
    """Label a pair anew, or move it to another environment; its ends stay, for its history belongs to them."""
    pair = row_or_404(_pairs(), pair_id)
    changed = given(body)
    if not changed or changed.get("environment", pair.environment_id) is None:
        raise invalid("environment", "Give an environment's id to move the pair there, or labels.")
    environment = pair.environment
    if body.environment is not None:
        places = places_paired(body.environment, [pair.source_id, pair.sink_id])
        access_of(caller(request)).demand(Permission.WRITE, places)
        environment = row_named(Environment.objects.all(), body.environment, "environment")
    services.pair_update(pair=pair, environment=environment, labels=changed.get("labels", pair.labels))
    return _item(row_or_404(_pairs(), pair_id))


@router.delete("/pairs/{pair_id}", response={204: None}, auth=WRITE.within(environments_of_pair))
def pair_archive(request: HttpRequest, pair_id: Identifier) -> Status[None]:
    """Archive a pair; what was measured stays."""
    services.archive(row=row_or_404(_pairs(), pair_id))
    return Status(204, None)


@router.post("/pairs/{pair_id}/restore", response=PairItem, auth=WRITE.within(environments_of_pair))
def pair_restore(request: HttpRequest, pair_id: Identifier) -> PairItem:
    """Bring an archived pair back."""
    pair = row_or_404(_pairs(), pair_id)
    access_of(caller(request)).demand(Permission.WRITE, places_of_pairs([pair.pk]))
    services.restore(row=pair)
    return _item(row_or_404(_pairs(), pair_id))


@router.post("/pairs/{pair_id}/check", response={202: Accepted}, auth=RUN.within(environments_of_pair))
def pair_check(request: HttpRequest, pair_id: Identifier) -> Status[Accepted]:
    """Ask a worker to check the data path from source to sink; `path_checked_at` changes when it has."""
    pair = row_or_404(_pairs(), pair_id)
    path_check(pair=pair)
    return Status(202, Accepted(id=pair.pk, status=pair.path_status))


def _pairs() -> "QuerySet[Pair, Pair]":
    return Pair.objects.select_related("source__host", "sink__host", "environment")


def _item(pair: Pair) -> PairItem:
    return PairItem(
        id=pair.pk,
        name=str(pair),
        source=pair.source_id,
        source_name=str(pair.source),
        source_host=pair.source.host_id,
        sink=pair.sink_id,
        sink_name=str(pair.sink),
        sink_host=pair.sink.host_id,
        is_one_host=pair.is_one_host,
        environment=pair.environment_id,
        environment_name=pair.environment.name,
        labels=pair.labels,
        path_status=pair.path_status,
        **reason_items("path_reason", pair.path_why),
        path_checked_at=pair.path_checked_at,
        path=path_found(pair),
        created_at=pair.created_at,
        archived_at=pair.archived_at,
    )
