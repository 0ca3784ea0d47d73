"""What a schedule or a campaign runs on, as bodies name it: exactly one of pairs, environment, label and mesh."""

from typing import Annotated, Any

from pydantic import Field

from benchweb.api.problems import invalid
from benchweb.api.schemas import Body, Identifier

# The mesh of 200 hosts has 39,800.
MAXIMUM_CHOICES = 40_000
TARGETS = ("pairs", "environment", "label", "mesh")
Identifiers = Annotated[list[Identifier], Field(max_length=MAXIMUM_CHOICES, fail_fast=True)]
Modes = Annotated[list[Annotated[str, Field(min_length=1, max_length=40)]], Field(max_length=40)]


class MeshTarget(Body):
    """Every ordered pair of these endpoints, or of every source mode with every sink mode in an environment."""

    endpoints: Identifiers | None = None
    source_modes: Modes | None = None
    sink_modes: Modes | None = None
    environment: Identifier | None = None


class TargetBody(Body):
    """The fields of a body that choose pairs."""

    pairs: Identifiers | None = None
    environment: Identifier | None = None
    label: Annotated[str, Field(max_length=60)] | None = None
    mesh: MeshTarget | None = None


def names_target(body: TargetBody) -> bool:
    """Tell whether the body chooses anything: a PATCH may leave that as it is."""
    return any(getattr(body, name) is not None for name in TARGETS)


def target_of(body: TargetBody) -> dict[str, Any]:
    """Return the target as benchweb.schedules.targets has it; refuse none, and more than one."""
    given = {name: value for name in TARGETS if (value := getattr(body, name)) is not None}
    if not given:
        raise invalid("pairs", "Choose what to run on: `pairs`, `mesh`, `environment` or `label`.")
    if len(given) > 1:
        first, second, *_ = given
        raise invalid(second, f"There is `{first}` already: give one of {', '.join(TARGETS)}.")
    if body.mesh is not None:
        given["mesh"] = body.mesh.model_dump(exclude_none=True)
    return given
