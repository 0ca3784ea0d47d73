"""The sides of a comparison: each a query such as `environment=3&kernel=6.1.0-28&from=-7d`, read and named."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.db.models import Model
from django.utils.dateparse import parse_date
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from benchweb.charts.history.query import FIRST_YEAR, LAST_YEAR, moment
from benchweb.common.rows import row_id
from benchweb.documents.references import (
    Label,
    environment_ref,
    free_text,
    host_ref,
    joined_label,
    numbered_ref,
    pair_ref,
    plan_ref,
    run_ref,
    worded,
)
from benchweb.hosts.facts.values import FACTS
from benchweb.hosts.models import Environment, Host, Pair
from benchweb.plans.models import Plan
from benchweb.results.run_sets.sets import RunSet

# More columns than that nobody reads beside each other, and there are eight colours.
MOST_SIDES = 8
LONGEST_SIDE = 500
_IDS = ("run", "campaign", "pair", "environment", "host", "plan")
_TIMES = ("from", "to")
FIELDS = (*_IDS, "label", "tool", *_TIMES, *FACTS)
_AGO = re.compile(r"-(\d{1,5})d", re.ASCII)

FACT_LABELS: Mapping[str, Any] = {
    "kernel": _lazy("Kernel"),
    "engine_version": _lazy("Engine version"),
    "operating_system": _lazy("Operating system"),
    "congestion_control": _lazy("Congestion control"),
    "governor": _lazy("Governor"),
    "cpu": _lazy("CPU"),
    "virtualisation": _lazy("Virtualisation"),
}


class SideError(ValueError):
    """A side that can't be read; `message` says what is wrong and what to write."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True)
class Side:
    """A side: as it stands in an address, which runs it means, and what it is called.

    `parts` are the words for each of its conditions, by the condition's name.
    """

    text: str
    wanted: RunSet
    parts: Mapping[str, str]

    @property
    def words(self) -> str:
        """Say all of it."""
        return joined_label(self.parts.values())


def side_text(fields: Mapping[str, str] | Iterable[tuple[str, str]]) -> str:
    """Write the conditions of a side in their one order, empty ones left out."""
    given = dict(fields)
    return urlencode([(name, given[name].strip()) for name in FIELDS if given.get(name, "").strip()], safe=":,/")


def sides_query(*sides: Mapping[str, str]) -> str:
    """Write the query string that compares sides, the baseline first."""
    return urlencode([("side", side_text(side)) for side in sides])


def read_side(text: str, *, now: datetime, zone: tzinfo = UTC) -> Side:
    """Read one side, without its names; raise SideError."""
    fields = dict(parse_qsl(text[: LONGEST_SIDE + 1]))
    if len(text) > LONGEST_SIDE:
        raise SideError(_("A side has at most %(most)s characters.") % {"most": LONGEST_SIDE})
    if unknown := [name for name in fields if name not in FIELDS]:
        words = {"name": unknown[0][:40], "names": ", ".join(FIELDS)}
        raise SideError(_("A side can't be chosen by “%(name)s”, only by: %(names)s.") % words)
    facts = [name for name in FACTS if name in fields]
    if len(facts) > 1:
        raise SideError(_("A side can be chosen by one fact: %(facts)s are several.") % {"facts": ", ".join(facts)})
    wanted = RunSet(
        **{name: _id(name, fields[name]) for name in _IDS if name in fields},
        label=fields.get("label", ""),
        tool=fields.get("tool", ""),
        first=_time("from", fields.get("from", ""), now, zone),
        last=_time("to", fields.get("to", ""), now, zone),
        fact=facts[0] if facts else "",
        fact_value=fields[facts[0]] if facts else "",
    )
    if not wanted.narrows:
        raise SideError(
            _("A side needs a run, a campaign, a pair, an environment, a host, a label, a plan, a tool or a fact.")
        )
    if wanted.first and wanted.last and wanted.first >= wanted.last:
        raise SideError(_("“from” must be before “to”."))
    return Side(side_text(fields), wanted, _plain_parts(wanted, zone))


def named_sides(sides: Sequence[Side]) -> tuple[list[Side], list[str]]:
    """Name what sides mean by ids, and say which of them there is none of; at most four queries."""
    names = {name: _names(name, [getattr(side.wanted, name) for side in sides]) for name in _NAMED}
    missing = [
        str(_MISSING[name]) % {"id": pk}
        for name in _NAMED
        for pk in dict.fromkeys(getattr(side.wanted, name) for side in sides)
        if pk is not None and pk not in names[name]
    ]
    return [replace(side, parts=_named_parts(side, names)) for side in sides], missing


def side_labels(sides: Sequence[Side]) -> list[str]:
    """Call each side by what sets it apart from the others, else by all that it says."""
    keys = list(dict.fromkeys(key for side in sides for key in side.parts))
    apart = [key for key in keys if len({side.parts.get(key, "") for side in sides}) > 1]
    return [
        joined_label(side.parts[key] for key in apart if key in side.parts) or side.words or _("all runs")
        for side in sides
    ]


_NAMED: dict[str, type[Model]] = {"environment": Environment, "host": Host, "pair": Pair, "plan": Plan}
_MISSING = {
    "environment": _lazy("There is no environment %(id)s."),
    "host": _lazy("There is no host %(id)s."),
    "pair": _lazy("There is no pair %(id)s."),
    "plan": _lazy("There is no plan %(id)s."),
}


def _names(name: str, ids: Sequence[int | None]) -> dict[int, Label]:
    wanted = sorted({pk for pk in ids if pk is not None})
    if not wanted:
        return {}
    rows: Any = _NAMED[name]._default_manager
    if name == "pair":
        rows = rows.select_related("source__host", "sink__host")
    return {pk: _named_row(row) for pk, row in rows.in_bulk(wanted).items()}


def _named_row(row: Environment | Host | Pair | Plan) -> Label:
    match row:
        case Environment():
            return environment_ref(row.name)
        case Host():
            return host_ref(row.pk, row.name)
        case Pair():
            return pair_ref(row)
    return plan_ref(row.name)


def _named_parts(side: Side, names: Mapping[str, Mapping[int, Label]]) -> dict[str, str]:
    named: dict[str, str] = {
        name: names[name].get(pk, str(pk)) for name in _NAMED if (pk := getattr(side.wanted, name)) is not None
    }
    return named | dict(side.parts)


def _plain_parts(wanted: RunSet, zone: tzinfo) -> dict[str, str]:
    parts: dict[str, str] = {}
    if wanted.run is not None:
        parts["run"] = worded(_("Run %(id)s"), id=run_ref(wanted.run))
    if wanted.campaign is not None:
        parts["campaign"] = worded(_("Campaign %(id)s"), id=numbered_ref("campaign", wanted.campaign))
    if wanted.label:
        parts["label"] = worded(_("label %(label)s"), label=free_text(wanted.label))
    if wanted.tool:
        parts["tool"] = worded(_("measured by %(tool)s"), tool=free_text(wanted.tool))
    if wanted.fact:
        parts["fact"] = Label(str(FACT_LABELS[wanted.fact]), " ", free_text(wanted.fact_value))
    if wanted.first or wanted.last:
        first, last = (_local_text(at, zone) if at else "" for at in (wanted.first, wanted.last))
        form = _("%(first)s – %(last)s") if first and last else _("since %(first)s") if first else _("before %(last)s")
        parts["period"] = form % {"first": first, "last": last}
    return parts


def _local_text(at: datetime, zone: tzinfo) -> str:
    local = at.astimezone(zone)
    return f"{local:%Y-%m-%d}" if local.time() == time.min else f"{local:%Y-%m-%d %H:%M}"


def _id(name: str, text: str) -> int:
    pk = row_id(text)
    if pk is None:
        raise SideError(_("“%(name)s” takes a number, not “%(text)s”.") % {"name": name, "text": text[:40]})
    return pk


def _time(name: str, text: str, now: datetime, zone: tzinfo) -> datetime | None:
    """Read a day in the reader's zone, a time, or days ago such as -7d."""
    if not text:
        return None
    ago = _AGO.fullmatch(text)
    if ago and int(ago[1]) <= 36_500:
        return now - timedelta(days=int(ago[1]))
    try:
        day = parse_date(text)
    except ValueError:
        day = None
    at = datetime.combine(day, time.min, zone) if day and FIRST_YEAR <= day.year <= LAST_YEAR else moment(text)
    if at is None:
        words = {"name": name, "text": text[:40]}
        raise SideError(_("“%(name)s” takes a day such as 2026-11-20, a time, or -7d, not “%(text)s”.") % words)
    return at.astimezone(UTC)
