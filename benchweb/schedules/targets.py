"""Find what a schedule runs on: pairs one by one, an environment's, a label's, a mesh; as pairs at the slot's time."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.accounts.permissions import Permission, access_of
from benchweb.catalog.reasons import Reason, joined
from benchweb.catalog.translation import reason_text
from benchweb.common.names import kind_word, stored_name
from benchweb.hosts.models import Endpoint, Environment, Pair
from benchweb.schedules.errors import ScheduleError
from benchweb.schedules.mesh import mesh_pairs, places_lacked

MAXIMUM_ENDPOINTS = 500
MAXIMUM_PAIRS = 40_000
_FORMS = gettext_noop("pairs, environment, label or mesh")


@dataclass(frozen=True)
class Resolved:
    """The pairs that can run now, and in words which were left out and why."""

    pairs: list[Pair]
    left_out: list[str]


def checked(target: Mapping[str, Any]) -> dict[str, Any]:
    """Return the target in its one spelling, each id known and not archived; raise ScheduleError."""
    return checked_and_counted(target)[0]


def checked_and_counted(target: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """Return the target in its one spelling, and how many pairs it has now; raise ScheduleError."""
    given = {key: value for key, value in target.items() if value not in (None, "", [], {})}
    if len(given) != 1 or not given.keys() <= _CHECKS.keys():
        raise ScheduleError("pairs", _("Say what to run on by exactly one of {forms}.").format(forms=_(_FORMS)))
    ((form, value),) = given.items()
    checked_target: dict[str, Any] = {form: _CHECKS[form](value)}
    # Pairs one by one have just been looked at, all of them.
    count = len(checked_target["pairs"]) if form == "pairs" else len(resolved_target(checked_target).pairs)
    if not count:
        raise ScheduleError(form, _(_EMPTY[form]))
    return checked_target, count


def pairs_of(target: Mapping[str, Any]) -> list[Pair]:
    """Return the pairs that can run now, a mesh's missing ones made; by id."""
    return resolved_target(target, make=True).pairs


def resolved_target(target: Mapping[str, Any], *, make: bool = False) -> Resolved:
    """Return the pairs with their hosts; a mesh's missing ones are made, or only spoken of (unsaved) unless `make`."""
    ((form, value),) = target.items()
    if form == "pairs":
        return _usable_pairs(_named_pairs(Pair.objects.filter(pk__in=value)))
    if form == "environment":
        return _usable_pairs(_named_pairs(Pair.objects.filter(environment=value, archived_at=None)))
    if form == "label":
        both = Q(source__host__labels__contains=[value], sink__host__labels__contains=[value])
        return _usable_pairs(_named_pairs(Pair.objects.filter(both, archived_at=None)))
    return _usable_pairs(mesh_pairs(value, make=make))


def environments_of_target(target: Mapping[str, Any]) -> Iterable[int | None]:
    """Return the environments whose pairs a target may have; None where they can be of any, now or later."""
    for form, value in target.items():
        if form == "pairs":
            yield from Pair.objects.filter(pk__in=value).values_list("environment_id", flat=True).distinct()
        elif form == "environment":
            yield value
        else:
            yield value.get("environment") if isinstance(value, Mapping) else None


def target_demand(target: Mapping[str, Any], user: User, before: Mapping[str, Any] | None = None) -> None:
    """Raise Refused unless the user may run the target's pairs, and make those that a mesh lacks.

    What schedules do later is not asked again: they go on when the role is taken away. A target as it was `before`
    makes no more than somebody else allowed.
    """
    access = access_of(user)
    access.demand(Permission.RUN, environments_of_target(target))
    if "mesh" not in target or access.may(Permission.WRITE):
        return
    wanted = checked(target)
    places = [] if wanted == before else list(places_lacked(wanted["mesh"]))
    if places:
        access.demand(Permission.WRITE, places)


def archived_part(pair: Pair) -> str:
    """Say what of a pair is archived, or nothing."""
    rows = (pair, pair.source, pair.sink, pair.source.host, pair.sink.host, pair.environment)
    archived = next((row for row in rows if row.archived_at is not None), None)
    if archived is None:
        return ""
    return Reason("part_archived", kind=Reason(f"kind_{type(archived).__name__.lower()}"), archived=str(archived))


def _named_pairs(pairs: QuerySet[Pair]) -> list[Pair]:
    """Return pairs by id with all that names them; each endpoint is read once, not once a pair."""
    rows = list(pairs.order_by("pk"))
    end_ids = {end_id for pair in rows for end_id in (pair.source_id, pair.sink_id)}
    ends = Endpoint.objects.select_related("host").in_bulk(end_ids)
    environments = Environment.objects.in_bulk({pair.environment_id for pair in rows})
    for pair in rows:
        pair.source, pair.sink = ends[pair.source_id], ends[pair.sink_id]
        pair.environment = environments[pair.environment_id]
    return rows


def _usable_pairs(pairs: Iterable[Pair]) -> Resolved:
    usable, left_out = [], []
    for pair in pairs:
        if fault := archived_part(pair):
            left_out.append(joined([str(pair), fault], ": "))
        else:
            usable.append(pair)
    return Resolved(usable, left_out)


def _checked_pairs(value: Any) -> list[int]:
    ids = _ids("pairs", value, MAXIMUM_PAIRS)
    known = {pair.pk: pair for pair in _named_pairs(Pair.objects.filter(pk__in=ids))}
    _all_known("pairs", "pair", ids, known)
    for pair in known.values():
        if fault := archived_part(pair):
            raise ScheduleError(
                "pairs",
                _("{pair} can't run: {fault}. Restore it first, or leave the pair out.").format(
                    pair=pair, fault=reason_text(fault)
                ),
            )
    return ids


def _checked_environment(value: Any) -> int:
    (environment,) = _ids("environment", [value], 1)
    row = Environment.objects.filter(pk=environment).first()
    if row is None or row.archived_at is not None:
        what = (
            _("Environment {row} is archived: restore it, or choose another").format(row=row)
            if row
            else _("No environment {value}").format(value=value)
        )
        raise ScheduleError("environment", f"{what}.")
    return environment


def _checked_label(value: Any) -> str:
    if not isinstance(value, str) or not 1 <= len(value.strip()) <= 60:
        raise ScheduleError("label", _("A label is a word of up to 60 characters that hosts bear."))
    return stored_name(value)


def _checked_mesh(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ScheduleError("mesh", _('A mesh is {"endpoints": […]}, or modes in an environment.'))
    given = {key: item for key, item in value.items() if item not in (None, "", [], {})}
    mesh: dict[str, Any] = {}
    if "environment" in given:
        mesh["environment"] = _checked_environment(given["environment"])
    if given.keys() - {"environment"} == {"endpoints"}:
        return {"endpoints": _mesh_endpoints(given["endpoints"]), **mesh}
    if given.keys() == {"environment", "source_modes", "sink_modes"}:
        return {key: _modes(given[key]) for key in ("source_modes", "sink_modes")} | mesh
    raise ScheduleError("mesh", _("A mesh has `endpoints`, or `source_modes`, `sink_modes` and `environment`."))


def _mesh_endpoints(value: Any) -> list[int]:
    ids = _ids("mesh", value, MAXIMUM_ENDPOINTS)
    known = {row.pk: row for row in Endpoint.objects.filter(pk__in=ids).select_related("host")}
    _all_known("mesh", "endpoint", ids, known)
    for endpoint in known.values():
        archived = next((row for row in (endpoint, endpoint.host) if row.archived_at is not None), None)
        if archived is not None:
            what = kind_word(archived)
            raise ScheduleError(
                "mesh",
                _("The {what} {archived} is archived: restore it, or leave it out.").format(
                    what=what, archived=archived
                ),
            )
    if len(ids) < 2:
        raise ScheduleError("mesh", _("A mesh has at least two endpoints."))
    return ids


def _modes(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(mode, str) for mode in value):
        raise ScheduleError("mesh", _("Modes are a list of words such as host and terway."))
    return list(dict.fromkeys(map(stored_name, value)))


def _ids(field: str, value: Any, most: int) -> list[int]:
    if not isinstance(value, list) or not all(type(item) is int and 0 < item < 2**63 for item in value):
        raise ScheduleError(field, _("Give a list of ids."))
    ids = list(dict.fromkeys(value))
    if len(ids) > most:
        raise ScheduleError(
            field, _("{ids} are too many; at most {most} are possible.").format(ids=f"{len(ids):,}", most=f"{most:,}")
        )
    return ids


def _all_known(field: str, what: str, ids: Iterable[int], known: Mapping[int, Any]) -> None:
    unknown = [str(pk) for pk in ids if pk not in known]
    if unknown:
        raise ScheduleError(
            field, _("There is no {what} {unknown}.").format(what=_(what), unknown=", ".join(unknown[:5]))
        )


_CHECKS = {"pairs": _checked_pairs, "environment": _checked_environment, "label": _checked_label, "mesh": _checked_mesh}
_EMPTY = {
    "pairs": gettext_noop("Choose at least one pair."),
    "environment": gettext_noop("The environment has no pair that could run."),
    "label": gettext_noop("No pair that could run has hosts with this label at both ends."),
    "mesh": gettext_noop(
        "The mesh has no pair that could run: its modes meet on no two hosts, or its pairs are archived."
    ),
}
