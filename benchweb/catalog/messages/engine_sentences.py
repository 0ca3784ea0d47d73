"""What engines say in their documents: they speak English alone, and each sentence is found again by its pattern."""

_AT_ONE_END = "that end could do no more."

MESSAGES = {
    # Why a trial failed; parts are joined with others.
    "says_other_end": "the other end says",
    "says_lease_ran_out": "the controller was silent for longer than its lease",
    "says_look_at_worker": "see whether its worker runs and reaches this engine",
    "says_stopped": "the engine was stopped",
    "says_restarted": "the engine was restarted while this session ran",
    "says_run_again": "run the test again",
    "says_link_closed": "the other end closed the link",
    "says_nothing_arrived": "nothing arrived: {how}",
    "says_nothing_arrived_forward": "nothing arrived from source to sink: {how}",
    "says_nothing_arrived_reverse": "nothing arrived from sink to source: {how}",
    "says_no_datagram": "of {count} datagrams sent none was received",
    "says_no_byte": "no byte of the stream was received",
    "says_no_probe_answered": "none of the {count} probes was answered",
    "says_no_response": "no response was received, and {count} errors were counted",
    "says_no_transaction": "no transaction was completed, and {count} were lost",
    "says_no_transaction_in_time": "no transaction was completed within the test's time",
    "says_look_at_firewall": "see whether a firewall is between",
    "says_look_at_firewall_and_mtu": "see whether a firewall is between and whether packets fit",
    "says_mtus": (
        "the MTU is {bytes} bytes at {interface} of the source and {bytes_2} bytes at {interface_2} of the sink"
    ),
    "says_mtu_of_source": "the MTU is {bytes} bytes at {interface} of the source",
    "says_mtu_of_sink": "the MTU is {bytes} bytes at {interface} of the sink",
    # Why a token or a certificate is not replaced.
    "renewal_token_known": "this engine has this token already",
    "renewal_too_many_tokens": "this engine has {count} tokens, its limit",
    "renewal_not_first_token": (
        "only the first token of the engine's token file may replace its certificate, which all controllers pin"
    ),
    "renewal_unwritable": ("{what} can't be written to the engine's state folder ({error}), so nothing was changed"),
    "renewal_new_token": "the new token",
    "renewal_new_certificate": "the new certificate",
    # Why a host alone could not be measured.
    "host_no_disk_allowed": (
        "this engine may measure no disk in {directory}: its operator allowed none; "
        "start it with --disk-dir {directory} to allow it"
    ),
    "host_other_disk_allowed": (
        "this engine may measure no disk in {directory}: its operator allowed {directories}; "
        "start it with --disk-dir {directory} to allow it"
    ),
    "host_no_fio": "fio isn't installed on this host; install it (apt install fio), or set method to native",
    "host_old_fio": "{program} is fio {version}; 3.1 or newer is needed, or set method to native",
    "host_device_held": (
        "the device {device} can't be used: it is mounted, or a volume, swap or another program holds it"
    ),
    "host_device_refused": "the device {device} can't be used: {why}",
    "host_no_disk": (
        "{directory} is on {filesystem}, which is no disk; name another folder, or start the engine with "
        "--disk-dir {directory},any-filesystem"
    ),
    "host_file_too_large": "a file of {asked} MiB is asked for; in {directory} {most} MiB are allowed",
    "host_no_space": (
        "a file of {asked} MiB needs {needed} MiB free in {directory}, and there are {free}; ask for a smaller file"
    ),
    "host_layout_slow": ("{done} of the test file's {size} MiB were written in {seconds} s; ask for a smaller file"),
    "host_no_direct": (
        "no test file can be made in {directory}: {why}; {filesystem} knows no direct access: set direct to false"
    ),
    "host_no_test_file": "no test file can be made in {directory}: {why}",
    "host_block_not_direct": "block_size_bytes is {bytes}; with direct it is a multiple of {bytes_2}",
    "host_file_too_small": "the file is smaller than a block of each job; make it larger",
    "host_too_deep": ("{asked} operations in flight are asked for; without fio the engine has {most} at most"),
    "host_operation_failed": "{bytes} bytes at {offset} could not be {done}: {why}",
    "host_fio_without_result": "fio ended without a result ({status}): {why}",
    "host_fio_error": "fio ended with an error of its job: {why}",
    "host_fio_idle": "fio did no operation within the test's time",
    "host_cpu_missing": ("cpus names CPU {number}, which this host doesn't have, or the engine may not use"),
    "host_too_few_cores": "{asked} cores are asked for, and there are {number} to choose from",
    # What limited a test.
    "limit_sending_thread": (
        f"The sending thread was awake {{awake}} of its time, {{part}} of it on a CPU: {_AT_ONE_END}"
    ),
    "limit_receiving_thread": (
        f"The receiving thread was awake {{awake}} of its time, {{part}} of it on a CPU: {_AT_ONE_END}"
    ),
    "limit_sending_threads": (
        f"The sending threads were awake {{awake}} of their time, {{part}} of it on a CPU: {_AT_ONE_END}"
    ),
    "limit_receiving_threads": (
        f"The receiving threads were awake {{awake}} of their time, {{part}} of it on a CPU: {_AT_ONE_END}"
    ),
    "limit_interrupts": (
        "A core of the receiving host spent {part} of its time in interrupts: it took packets as fast as it could."
    ),
    "limit_sender_quota": "The sending end used {used} of the {limit} CPUs that the quota of its control group allows.",
    "limit_receiver_quota": (
        "The receiving end used {used} of the {limit} CPUs that the quota of its control group allows."
    ),
    "limit_sender_cpuset": "The sending end used {used} of the {limit} CPUs that the cpuset of its control group has.",
    "limit_receiver_cpuset": (
        "The receiving end used {used} of the {limit} CPUs that the cpuset of its control group has."
    ),
    "limit_sender_cores": "All cores of the sending host were busy, {part} of their time.",
    "limit_receiver_cores": "All cores of the receiving host were busy, {part} of their time.",
    "limit_none_of_throughput": "No figure stands out: neither end's CPU, nor a window or buffer, nor loss or a queue.",
    "limit_none_of_rate": "No figure stands out: neither end's CPU nor the round trip.",
    "limit_rate_arrived": "{part} of the {rate} asked for arrived.",
    "limit_rate_answered": "{part} of the {rate} asked for were answered.",
    "limit_payload_arrived": "{part} of the {rate} of payload that the link can carry arrived.",
    "limit_link_full": "The link was {part} full with all traffic on it.",
    "limit_datagrams_lost": "{part} of the datagrams were lost.",
    "limit_lost_on_the_way": (
        "{lost} of the datagrams were lost, and the receiving thread had time: it was awake only {awake} of it."
    ),
    "limit_lost_in_socket": (
        "{lost} of the datagrams were lost, {part} of them in the receiving socket: "
        "its buffer was full because the receiver took them too slowly."
    ),
    "limit_receiver_window_closed": (
        "The receiving thread was awake {awake} of its time and the receive window closed {part} of it: "
        "the receiver could take no more."
    ),
    "limit_receive_buffer": (
        "The sender had no receive window left {part} of the time, while the receiving thread had time: "
        "the receive buffer is too small for this path."
    ),
    "limit_send_buffer": (
        "The send buffer held all that was in flight {part} of the time, with room in both windows: "
        "it is too small for this path."
    ),
    "limit_send_buffer_of_flows": (
        "Each flow had {in_flight} B in flight, {part} of its congestion window, with a send buffer of {buffer} B: "
        "the buffer is too small for this path."
    ),
    "limit_queue_of_sender": (
        "The sending host's queue was full: the sending thread was awake only {awake} of its time, "
        "waiting for room in it, and {lost} of the datagrams were lost."
    ),
    "limit_congestion": "The congestion window held the sender back: {why}.",
    "limit_loss_and_queue": "{lost} of the segments were sent again and the round trip grew from {least} to {time}",
    "limit_loss": "{lost} of the segments were sent again",
    "limit_queue": "a queue made the round trip grow from {least} to {time}",
    "limit_nothing_arrived": "Nothing arrived of what was sent.",
    "limit_no_packet_arrived": "Nothing arrived of all {packets} that were sent.",
    "limit_probe_interval": "One probe was sent each {interval}, as asked for.",
    "limit_lost_transactions": "{lost} of the transactions were lost, and {part} of the time went by waiting for them.",
    "limit_round_trip": "Each transaction waited for an answer: {count} in flight, each {time} long, make {rate}.",
    # What a host does not tell; what its kernel says of a file that can't be read stays as it is.
    "missing_speed": "speed of {interface}: the driver tells none",
    "missing_speed_bound": "speed of {interface}: the one that the driver tells bounds nothing",
    "missing_speed_virtual": (
        "speed of {interface}: a virtual interface has none, and no physical one is seen beneath it"
    ),
    "missing_speed_beneath": "speed of {interface}: the physical interfaces beneath it tell none together",
    "missing_memory": "memory: /proc/meminfo has no MemTotal",
    "missing_cpu_model": "cpu model: /proc/cpuinfo names none",
    "missing_icmp_probes": (
        "icmp_probes: no ICMP probes: let the engine's group in by sysctl net.ipv4.ping_group_range, "
        "or give it CAP_NET_RAW"
    ),
    "missing_udp_segmentation": 'udp_segmentation: no send mode "segmentation": UDP_SEGMENT came with Linux 4.18',
    "missing_udp_receive_offload": 'udp_receive_offload: no send mode "segmentation": UDP_GRO came with Linux 5.0',
    "missing_tcp_zerocopy": 'tcp_zerocopy: no send mode "zerocopy": MSG_ZEROCOPY came with Linux 4.14',
    "missing_tcp_times": (
        "tcp_limited_times: busy and limited times and the delivery rate of TCP flows are missing: "
        "they came with Linux 4.10"
    ),
    "missing_bound_device": "bound_device: no test traffic bound to a device: that needs CAP_NET_RAW before Linux 5.7",
}
