"""What a launch by REST names: a plan or a test of its own, a pair or two endpoints."""

from typing import Annotated

from django.contrib.auth.models import User
from pydantic import Field

from benchweb.api.problems import invalid
from benchweb.api.resources.planning.plans import PreviewBody
from benchweb.api.rows import row_named
from benchweb.api.schemas import Body, Identifier, Name
from benchweb.catalog import catalog
from benchweb.hosts.models import Pair
from benchweb.hosts.pairs import pair_between, pair_of_host
from benchweb.hosts.selectors import endpoints_usable
from benchweb.plans.models import Plan, PlanVersion
from benchweb.plans.services import one_off_version
from benchweb.plans.templates import quick_test
from benchweb.runs.services import launchable_version


class OneOffBody(PreviewBody):
    """A test as a plan has it, for a single launch: no list of plans has it until it is kept."""

    name: Name = "one-off"


class RunBody(Body):
    """What to run: `plan`, `test`, or a `kind` with its defaults; where: `pair`, two endpoints, or one host's."""

    plan: Identifier | None = None
    test: OneOffBody | None = None
    kind: Annotated[str, Field(max_length=60)] | None = None
    pair: Identifier | None = None
    source: Identifier | None = None
    sink: Identifier | None = None
    # Of one host alone, for tests that have no sink.
    endpoint: Identifier | None = None


def version_of(body: RunBody) -> PlanVersion:
    """Return the plan version that a body names, one of its own for what no plan has."""
    _one_of(body, "plan", "test", "kind")
    if body.test is not None:
        return one_off_version(**body.test.model_dump())
    if body.kind is not None:
        if body.kind not in catalog().tests:
            raise invalid("kind", f"There is no test kind {body.kind!r}: GET /catalog has them.")
        return one_off_version(**quick_test(catalog().tests[body.kind]))
    plan = row_named(Plan.objects.all(), body.plan or 0, "plan")
    return launchable_version(plan)


def pair_of(body: RunBody, user: User) -> Pair:
    """Return the pair that a body names, made where its two endpoints have none and the user may make it."""
    if body.endpoint is not None:
        _one_of(body, "endpoint", "pair", "source", "sink")
        return pair_of_host(row_named(endpoints_usable(), body.endpoint, "endpoint"), user)
    if body.source is None and body.sink is None:
        _one_of(body, "pair", "source", "endpoint")
        pairs = Pair.objects.select_related("source__host", "sink__host", "environment")
        return row_named(pairs, body.pair or 0, "pair")
    _one_of(body, "pair", "source" if body.sink is None else "sink")
    source, sink = (row_named(endpoints_usable(), getattr(body, end) or 0, end) for end in ("source", "sink"))
    if source == sink:
        raise invalid("sink", "The sink is the source: a test goes from one endpoint to another.")
    return pair_between(source, sink, user)


def _one_of(body: RunBody, *names: str) -> None:
    given = [name for name in names if getattr(body, name) is not None]
    if not given:
        raise invalid(names[0], f"Give one of {', '.join(names)}.")
    if len(given) > 1:
        raise invalid(given[1], f"There is `{given[0]}` already: give one of {', '.join(names)}.")
