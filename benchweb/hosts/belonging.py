"""Which environments a host is in: to make a pair of it takes a role in one of them, beside the pair's own.

Each pair in use is in an environment that both of its hosts are in: so to run it, a role in that one is enough.
"""

from collections.abc import Collection, Iterable, Iterator

from django.db.models import Count, F, Func, Q, Value
from django.utils.translation import gettext as _

from benchweb.accounts.permissions import Access, AnyOf, Permission, Place
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Endpoint, Environment, Host, Pair


def places_paired(environment_id: int | None, endpoint_ids: Iterable[int]) -> Iterator[Place]:
    """Return where a role is needed to pair endpoints in an environment: there, and where each of the hosts is."""
    yield environment_id
    hosts = Host.objects.filter(endpoints__in=list(endpoint_ids)).distinct()
    for pk, environment_ids in hosts.values_list("pk", "environment_ids"):
        yield AnyOf(pk, frozenset(environment_ids))


def places_of_pairs(pair_ids: Collection[int]) -> Iterator[Place]:
    """Return where a role is needed to bring pairs back, as it would be to make them."""
    pairs = Pair.objects.filter(pk__in=pair_ids)
    for source, sink, environment_id in pairs.values_list("source", "sink", "environment"):
        yield from places_paired(environment_id, [source, sink])


def hosts_enter(environment_id: int, endpoint_ids: Iterable[int]) -> None:
    """Have the hosts of endpoints in an environment that a pair of them is in from now on; in a transaction."""
    hosts = Host.objects.filter(pk__in=Endpoint.objects.filter(pk__in=list(endpoint_ids)).values("host"))
    # Whoever takes a host out at this moment waits for the pair, or is waited for.
    locked = [host.pk for host in hosts.order_by("pk").select_for_update(no_key=True)]
    outside = Host.objects.filter(pk__in=locked).exclude(environment_ids__contains=[environment_id])
    outside.update(environment_ids=Func(F("environment_ids"), Value(environment_id), function="array_append"))


def checked_environments(environment_ids: Collection[int], host: Host | None = None) -> list[int]:
    """Return environments that a host can be in, by id; refuse unknown ones, and to leave one that its pairs are in."""
    wanted = set(environment_ids)
    before = set(host.environment_ids) if host else set()
    known = set(Environment.objects.filter(pk__in=wanted - before, archived_at=None).values_list("pk", flat=True))
    if unknown := wanted - before - known:
        raise HostsError("environments", _("There is no environment {number} in use.").format(number=min(unknown)))
    if host and (left := before - wanted):
        _check_unused(host, left)
    return sorted(wanted)


def shared_environment(endpoint_ids: Collection[int], access: Access | None = None) -> Environment | None:
    """Return the environment in use that all hosts of endpoints are in, of several the one with most pairs of them.

    A host that is in none yet is left out of account. With an access, one where it may make pairs goes first.
    """
    hosts = Host.objects.filter(endpoints__in=endpoint_ids).exclude(environment_ids=[])
    inside = [set(ids) for ids in hosts.values_list("environment_ids", flat=True)]
    if not inside:
        return None
    source, sink = (Q((f"pairs__{end}__host__endpoints__in", endpoint_ids)) for end in ("source", "sink"))
    in_use = Q(pairs__archived_at=None)
    between = Count("pairs", filter=in_use & source & sink, distinct=True)
    around = Count("pairs", filter=in_use & (source | sink), distinct=True)
    common = Environment.objects.filter(pk__in=set.intersection(*inside), archived_at=None)
    ranked = list(common.annotate(between=between, around=around).order_by("-between", "-around", "pk"))
    mine = [row for row in ranked if access is None or access.may_in(Permission.WRITE, row.pk)]
    return next(iter([*mine, *ranked]), None)


def _check_unused(host: Host, environment_ids: Collection[int]) -> None:
    ends = Q(source__host=host) | Q(sink__host=host)
    pair = Pair.objects.filter(ends, archived_at=None, environment__in=environment_ids)
    if (first := pair.select_related("environment").first()) is not None:
        message = _("{host} has pairs in {environment}: archive those first.")
        raise HostsError("environments", message.format(host=host, environment=first.environment))
