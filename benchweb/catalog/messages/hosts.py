"""Why an endpoint or the path of a pair can't be used, as their checks find it."""

MESSAGES = {
    "check_broke_off": "The check broke off: {name}: {error}",
    "probe_broke_off": "The probe broke off: {name}: {error}",
    "probe_endless": "The engine's answer came to no end.",
    "path_unchecked": "An engine of this pair doesn't answer, so that its data path can't be checked.",
    "path_wrong_listener": (
        "What accepts TCP {port} at {address} is not the engine of {sink}, or a firewall cuts connections to it: "
        "correct the address for test traffic, or let the connections through."
    ),
    "path_refused": (
        "TCP and UDP {port} of {sink} are refused at {address}: is the engine's data port there, and does a firewall "
        "of it reject {source}?"
    ),
    "path_blocked": (
        "Neither TCP nor UDP passes from {source} to {address}: open TCP and UDP {port} of {sink} for {source} in "
        "every firewall between them."
    ),
    "path_tcp_blocked": "UDP passes, TCP doesn't: open TCP {port} of {sink} at {address} for {source}.",
    "path_udp_blocked": "TCP passes, UDP doesn't: open UDP {port} of {sink} at {address} for {source}.",
    "path_udp_one_way": (
        "TCP passes, UDP only one way: {udp_arrived} datagrams reached {sink}, and none of its answers came back. Let "
        "UDP from port {port} of {sink} through to {source}."
    ),
    "path_mtu": (
        "Packets over {mtu_bytes:,} bytes from {begin} to {end} vanish without a word: let ICMP through, or set the "
        "MTU of both interfaces to {mtu_bytes:,}."
    ),
    "rotation_overtaken": "{endpoint} was changed meanwhile, so that nothing was replaced.",
    "rotation_broke_off": "The replacement broke off: {name}: {error}. What was valid before still is.",
    "secret_key_changed": "The engine's token can't be read: the secret key has changed. Enter the token again.",
}
