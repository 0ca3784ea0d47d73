"""Network interfaces of containers and virtual machines, which come and go by themselves: no change of a host."""

import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from benchweb.hosts.models import Endpoint

# By the names that kernels, container runtimes, CNI plugins and hypervisors give. A pod's own eth0 is none of them.
_VIRTUAL = re.compile(
    r"veth|tap|macvtap|vnet|cali|lxc|lxdbr|cni|flannel|cilium_|weave|vxlan|geneve|genev_sys|eni[0-9a-f]{11}$|azv|gke"
    r"|nodelocaldns|kube-|docker|podman|virbr|br-[0-9a-f]{12}$|br-int$|ovs-|ovn-k8s|antrea-|dummy|ifb|tunl|ip6tnl|sit"
    r"|gretap|erspan|vmnet|vboxnet|ipvl_"
)


def is_virtual(name: str) -> bool:
    """Return whether an interface of this name belongs to containers or virtual machines."""
    return _VIRTUAL.match(name) is not None


def used_by(endpoint: Endpoint) -> frozenset[str]:
    """Return the addresses and the device that an endpoint's traffic uses."""
    return traffic_of(endpoint.data_address, endpoint.control_address, endpoint.bind_device)


def traffic_of(data_address: str, control_address: str, bind_device: str) -> frozenset[str]:
    """Return what names an interface of the test traffic: its address, or the device that it is bound to."""
    address = data_address or control_address.rpartition(":")[0].strip("[]")
    return frozenset({address, bind_device} - {""})


def compared(document: Mapping[str, Any], used: frozenset[str]) -> list[Mapping[str, Any]]:
    """Return the interfaces whose changes are a host's own: all but virtual ones that no test traffic uses."""
    interfaces = [interface for interface in document.get("interfaces") or [] if isinstance(interface, Mapping)]
    return [
        interface for interface in interfaces if not is_virtual(str(interface.get("name"))) or used & _names(interface)
    ]


def lasting(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts without the ends of containers' interfaces on the host, which have no address for traffic."""
    interfaces = document.get("interfaces")
    if not isinstance(interfaces, list):
        return dict(document)
    # An engine of another make may report what is no interface: it stays as it is.
    left = [interface for interface in interfaces if not isinstance(interface, Mapping) or _lasts(interface)]
    return {**document, "interfaces": left}


def _lasts(interface: Mapping[str, Any]) -> bool:
    return not is_virtual(str(interface.get("name"))) or _is_addressed(interface)


def _names(interface: Mapping[str, Any]) -> set[str]:
    return {str(interface.get("name")), *_addresses(interface)}


def _is_addressed(interface: Mapping[str, Any]) -> bool:
    return any(not _is_link_local(address) for address in _addresses(interface))


def _addresses(interface: Mapping[str, Any]) -> set[str]:
    # With the length of its prefix behind it, or without.
    return {str(address).partition("/")[0] for address in interface.get("addresses") or []}


def _is_link_local(address: str) -> bool:
    try:
        return ip_address(address).is_link_local
    except ValueError:
        return False
