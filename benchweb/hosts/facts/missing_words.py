"""What the engine's facts say of what a host does not tell, as patterns that benchweb/phrasebook.py finds again.

The engine speaks English alone. What the kernel says of a file that can't be read stays as it is.
"""

from django.utils.translation import gettext_noop

LINES = (
    gettext_noop("speed of {interface}: the driver tells none"),
    gettext_noop("speed of {interface}: the one that the driver tells bounds nothing"),
    gettext_noop("speed of {interface}: a virtual interface has none, and no physical one is seen beneath it"),
    gettext_noop("speed of {interface}: the physical interfaces beneath it tell none together"),
    gettext_noop("memory: /proc/meminfo has no MemTotal"),
    gettext_noop("cpu model: /proc/cpuinfo names none"),
    gettext_noop(
        "icmp_probes: no ICMP probes: let the engine's group in by sysctl net.ipv4.ping_group_range, "
        "or give it CAP_NET_RAW"
    ),
    gettext_noop('udp_segmentation: no send mode "segmentation": UDP_SEGMENT came with Linux 4.18'),
    gettext_noop('udp_receive_offload: no send mode "segmentation": UDP_GRO came with Linux 5.0'),
    gettext_noop('tcp_zerocopy: no send mode "zerocopy": MSG_ZEROCOPY came with Linux 4.14'),
    gettext_noop(
        "tcp_limited_times: busy and limited times and the delivery rate of TCP flows are missing: "
        "they came with Linux 4.10"
    ),
    gettext_noop("bound_device: no test traffic bound to a device: that needs CAP_NET_RAW before Linux 5.7"),
)
