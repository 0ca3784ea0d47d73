"""Results that other systems push: of the catalog's kinds, or of kinds that they define themselves."""

from typing import Annotated, Literal

from django.http import HttpRequest
from ninja import Router, Status
from pydantic import AfterValidator, Field, FiniteFloat

from benchweb.api.authentication import RUN, caller
from benchweb.api.problems import Problem, invalid
from benchweb.api.rows import row_named
from benchweb.api.schemas import Body, Created, Identifier, MomentText, Name, run_url
from benchweb.common.names import MAXIMUM_UNIT_LENGTH, unit_fault
from benchweb.hosts.models import Pair
from benchweb.imports.own_kinds import MOST_PARAMETERS, MetricDefinition
from benchweb.imports.pushes import Push, PushedMetric, PushRefused, content_of, push_result

router = Router(tags=["results"])
MOST_VALUES, MOST_METRICS = 1_000, 20


def _one_tool(name: str) -> str:
    if name == "benchweb":
        raise ValueError("benchweb is the engine's own: name the tool that measured.")
    return name


def _unit(text: str) -> str:
    if fault := unit_fault(text):
        raise ValueError(fault)
    return text


Word = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=50)]
Tool = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$", max_length=20), AfterValidator(_one_tool)]
Label = Annotated[Name, Field(max_length=100)]
ParamValue = bool | int | float | Annotated[Name, Field(max_length=200)]


class PushedMetricBody(Body):
    """One metric; `unit` and `better` are needed the first time that a metric of your own is named."""

    name: Word
    values: Annotated[list[FiniteFloat | int], Field(min_length=1, max_length=MOST_VALUES)]
    unit: Annotated[str, Field(max_length=MAXIMUM_UNIT_LENGTH), AfterValidator(_unit)] | None = None
    better: Literal["higher", "lower", "neutral"] | None = None
    label: Label | Literal[""] = ""


class ResultBody(Body):
    """One result: metrics with a value for each repetition. `kind` is the catalog's, or a name of your own."""

    key: Annotated[Name, Field(min_length=1, max_length=200)]
    tool: Tool
    pair: Identifier
    kind: Word
    metrics: Annotated[list[PushedMetricBody], Field(min_length=1, max_length=MOST_METRICS)]
    params: Annotated[dict[Word, ParamValue], Field(max_length=MOST_PARAMETERS)] = {}
    label: Label | Literal[""] = ""
    at: MomentText | None = None
    is_judged: bool = True


class ResultCreated(Created):
    """The import of the result, and the run that it became; `kind` is the name of its series."""

    run: int
    url: str
    kind: str


@router.post("/results", response={200: ResultCreated, 201: ResultCreated}, auth=RUN.checked_by_view())
def result_create(request: HttpRequest, body: ResultBody) -> Status[ResultCreated]:
    """Push a result on a pair as a finished run. The same key and result again is 200 with the run of before.

    Another result under the same key is a 409. What is new, a kind, metric or parameter, takes the role editor.
    """
    pair = row_named(Pair.objects.all(), body.pair, "pair")
    try:
        made, is_new = push_result(_push(body), pair=pair, user=caller(request))
    except PushRefused as error:
        if error.existing:
            raise Problem(409, str(error), other_id=error.existing.pk) from error
        raise invalid(error.field, str(error)) from error
    kind = made.run.trials.values_list("kind", flat=True)[0]
    created = ResultCreated(id=made.pk, run=made.run_id, url=run_url(request, made.run_id), kind=kind)
    return Status(201 if is_new else 200, created)


def _push(body: ResultBody) -> Push:
    return Push(
        key=body.key,
        tool=body.tool,
        kind=body.kind,
        params=body.params,
        metrics=[
            PushedMetric(MetricDefinition(metric.name, metric.unit, metric.better, metric.label), metric.values)
            for metric in body.metrics
        ],
        content=content_of(body.model_dump(mode="json")),
        label=body.label,
        at=body.at,
        is_judged=body.is_judged,
    )
