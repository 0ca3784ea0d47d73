"""Every name that a text of a run may tell, today's and those of before, with the pseudonym that hides it."""

from collections.abc import Iterable

from benchweb.documents.hidden import tagged
from benchweb.hosts.addresses import AddressError, control_address
from benchweb.hosts.models import Endpoint, Facts, FormerName, Host
from benchweb.runs.models import Run
from benchweb.sharing.frozen import RunContent
from benchweb.sharing.pseudonyms import url_hosts


def real_names(content: RunContent) -> dict[str, str]:
    """Map names to pseudonyms; four queries. Whose name one was when the run was made comes before whose it is now."""
    before, since = _former_names(content.run)
    names: dict[str, str] = {}
    for part in (before, _names_of_run(content), _names_of_all(), since):
        # Names differ by their case too, and are found whatever it is: the last said is the last in order.
        names = {name: pseudonym for name, pseudonym in names.items() if name not in part} | part
    return names


def host_pseudonym(host_id: int) -> str:
    """Call a host the same in every share."""
    return tagged("host", str(host_id))


def _names_of_all() -> dict[str, str]:
    names: dict[str, str] = {}
    for endpoint in Endpoint.objects.values_list("host_id", "control_address", "data_address", named=True):
        addresses = (endpoint.control_address, endpoint.data_address)
        names |= dict.fromkeys(_host_names(addresses), host_pseudonym(endpoint.host_id))
    for host in Host.objects.values_list("pk", "name", "uplink", named=True):
        names |= dict.fromkeys(_with_short(host.name), host_pseudonym(host.pk))
        if host.uplink:
            names[host.uplink] = tagged("uplink", host.uplink)
    return names


def _former_names(run: Run) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names that were given up before the run was made, and those given up since, the earliest last."""
    before: dict[str, str] = {}
    since: dict[str, str] = {}
    modes = {end.host_id: end.network_mode for end in (run.pair.source, run.pair.sink)}
    for former in FormerName.objects.order_by("-until", "-pk"):
        host_id, text = former.host_id, former.text
        names = before if former.until < run.created_at else since
        match former.what:
            case FormerName.What.ADDRESS:
                names |= dict.fromkeys(_host_names([text]), host_pseudonym(host_id))
            case FormerName.What.ENDPOINT if text == modes.get(host_id, text):
                # As of today's endpoints: only the run's own tell theirs, and a mode's name is no name of a host.
                continue
            case FormerName.What.UPLINK:
                names[text] = tagged("uplink", text)
            case _:
                names |= dict.fromkeys(_with_short(text), host_pseudonym(host_id))
    return before, since


def _names_of_run(content: RunContent) -> dict[str, str]:
    """Name what only this run's own ends tell: their endpoints' names, and what the machines ever called themselves."""
    names: dict[str, str] = {}
    ends = (content.run.pair.source, content.run.pair.sink)
    for endpoint in ends:
        if endpoint.name and endpoint.name != endpoint.network_mode:
            names[endpoint.name] = host_pseudonym(endpoint.host_id)
    facts = Facts.objects.filter(endpoint__host__in={endpoint.host_id for endpoint in ends}).order_by("last_seen_at")
    called: dict[str, set[int]] = {}
    for row in facts.values("endpoint__host_id", "document__hostname"):
        if hostname := row["document__hostname"]:
            called.setdefault(str(hostname), set()).add(row["endpoint__host_id"])
    for hostname, hosts in called.items():
        # Two hosts on one machine: as one of them it would be the other's in its column.
        pseudonym = host_pseudonym(min(hosts)) if len(hosts) == 1 else tagged("machine", hostname)
        names |= dict.fromkeys(_with_short(hostname), pseudonym)
    # The servers that its tests ask are told of in reasons too, there without the URL around them.
    for host in {host for row in content.trials for host in url_hosts(row.params)}:
        names.setdefault(host, tagged("host", host.lower()))
    return names


def _host_names(addresses: Iterable[str]) -> list[str]:
    """Return the addresses that are names; numbers are found in any text by their form."""
    names: list[str] = []
    for text in filter(None, addresses):
        try:
            host = control_address(text)[0]
        except AddressError:
            host = text
        if any(character.isalpha() for character in host) and ":" not in host:
            names += _with_short(host)
    return names


def _with_short(host: str) -> list[str]:
    """Return a name, and of alder.lab.example alder too: where the domain goes without saying nobody says it."""
    return [host] if " " in host else [host.partition(".")[0], host]
