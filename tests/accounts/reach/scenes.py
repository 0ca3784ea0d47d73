"""Requests whose bodies name what they are about: what each is to need, and where."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchweb.accounts.permissions import Permission
from tests.accounts.reach.scenery import Site, archived_pair, both_ways, new_host

RUN, WRITE = Permission.RUN, Permission.WRITE
Body = dict[str, Any]


@dataclass(frozen=True)
class Scene:
    """A request to a route, in words what it is about, and what it needs in all of the places.

    `body` makes what is sent, and what has to be there before, from the sites lab and field. The rows that the address
    names are lab's, or field's with `of_field`, or in the body as "<pair_id>"; a query is there as "?rows".
    """

    method: str
    path: str
    about: str
    permission: Permission
    places: tuple[str, ...]
    body: Callable[[Site, Site], Body]
    of_field: bool = False


def both_of(
    path: str, permission: Permission, body: Callable[[Site], Body], about: str = "of {}", method: str = "POST"
) -> list[Scene]:
    """Return the scenes of one request about lab's rows, and about field's."""
    return [
        Scene(method, path, about.format("lab"), permission, ("lab",), lambda lab, field: body(lab)),
        Scene(method, path, about.format("field"), permission, ("field",), lambda lab, field: body(field), True),
    ]


def complete(lab: Site, body: Body) -> Body:
    both_ways(lab)
    return body


def of_target(path: str, whole: Callable[..., Body], extra: str = "") -> list[Scene]:
    """Return the scenes of what is launched by REST on whatever a target names."""

    def scene(about: str, permission: Permission, places: tuple[str, ...], body: Callable[[Site, Site], Body]) -> Scene:
        return Scene("POST", path, about, permission, places, body)

    def mesh(lab: Site, *ends: int, **where: int) -> Body:
        return whole(lab, mesh={"endpoints": list(ends), **where})

    return [
        *both_of(path, RUN, lambda site: whole(site, pairs=[site.pair.pk]), "pairs of {}"),
        *both_of(path, RUN, lambda site: whole(site, environment=site.environment.pk), "the environment {}"),
        scene(
            "pairs of lab and field",
            RUN,
            ("lab", "field"),
            lambda lab, field: whole(lab, pairs=[lab.pair.pk, field.pair.pk]),
        ),
        scene(
            "a mesh in lab that has its pairs",
            RUN,
            ("lab",),
            lambda lab, _: complete(lab, mesh(lab, *lab.ends, environment=lab.environment.pk)),
        ),
        scene(
            "a mesh in lab that lacks pairs",
            WRITE,
            ("lab",),
            lambda lab, _: mesh(lab, *lab.ends, environment=lab.environment.pk),
        ),
        scene(
            "a mesh in lab of hosts of field",
            WRITE,
            ("lab", "hosts of field"),
            lambda lab, field: mesh(lab, *field.ends, environment=lab.environment.pk),
        ),
        scene(
            "a mesh in lab of new hosts",
            WRITE,
            ("lab", "new hosts"),
            lambda lab, _: mesh(lab, new_host().pk, new_host().pk, environment=lab.environment.pk),
        ),
        scene(
            "a mesh in field of hosts of lab",
            WRITE,
            ("field",),
            lambda lab, field: mesh(lab, *lab.ends, environment=field.environment.pk),
        ),
        scene("a mesh without an environment", WRITE, ("any",), lambda lab, _: mesh(lab, *lab.ends)),
    ]


def making_pairs(path: str, body: Callable[[int, list[int]], Body]) -> list[Scene]:
    """Return the scenes of making pairs of two endpoints in an environment."""

    def scene(about: str, places: tuple[str, ...], made: Callable[[Site, Site], Body]) -> Scene:
        return Scene("POST", path, about, WRITE, places, made)

    return [
        scene("in lab, of its hosts", ("lab",), lambda lab, _: body(lab.environment.pk, lab.ends[::-1])),
        scene("in field, of its hosts", ("field",), lambda _, field: body(field.environment.pk, field.ends[::-1])),
        scene(
            "in lab, of hosts of field",
            ("lab", "hosts of field"),
            lambda lab, field: body(lab.environment.pk, field.ends),
        ),
        scene(
            "in lab, of a host of lab and one of field",
            ("lab", "hosts of field"),
            lambda lab, field: body(lab.environment.pk, [lab.ends[0], field.ends[0]]),
        ),
        scene(
            "in lab, of new hosts",
            ("lab", "new hosts"),
            lambda lab, _: body(lab.environment.pk, [new_host().pk, new_host().pk]),
        ),
        scene("in field, of hosts of lab", ("field",), lambda lab, field: body(field.environment.pk, lab.ends)),
    ]


def moved(lab: Site, field: Site) -> Body:
    return {"environment": field.environment.pk}


def restored(lab: Site, *, of: Site, hosts_leave: bool) -> int:
    """Archive a pair in lab of a site's hosts, who leave lab or stay; return its id."""
    return archived_pair(lab, [of.pair.sink, of.pair.source], hosts_leave=hosts_leave).pk


def restoring(path: str, body: Callable[[int], Body]) -> list[Scene]:
    """Return the scenes of bringing back a pair that was archived in lab."""
    return [
        Scene(
            "POST",
            path,
            "of lab",
            WRITE,
            ("lab",),
            lambda lab, _: body(restored(lab, of=lab, hosts_leave=False)),
        ),
        Scene(
            "POST",
            path,
            "in lab, of hosts of field",
            WRITE,
            ("lab", "hosts of field"),
            lambda lab, field: body(restored(lab, of=field, hosts_leave=True)),
        ),
    ]
