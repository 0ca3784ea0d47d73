"""What the engine's documents call their figures and how they explain a verdict, as texts to translate.

The engine speaks English alone: its sentences become patterns that benchweb/phrasebook.py finds again, its figures'
names labels as charts.trial_detail puts them together. A name that is missing here is shown as it is.
"""

from django.utils.translation import gettext_noop

LABELS = (
    *(gettext_noop("Background CPU"), gettext_noop("Background look back"), gettext_noop("Background rx")),
    *(gettext_noop("Background rx packets"), gettext_noop("Background tx"), gettext_noop("Background tx packets")),
    *(gettext_noop("Busy"), gettext_noop("Clock step"), gettext_noop("Interrupt"), gettext_noop("MTU")),
    *(gettext_noop("Other sessions"), gettext_noop("Process CPU"), gettext_noop("Window")),
    gettext_noop("CPU of other programs"),
    *(gettext_noop("Rx"), gettext_noop("Rx dropped"), gettext_noop("Rx packets")),
    *(gettext_noop("Tx"), gettext_noop("Tx dropped"), gettext_noop("Tx packets")),
    *(gettext_noop("Softirq"), gettext_noop("Steal"), gettext_noop("System"), gettext_noop("User")),
    *(gettext_noop("Test retransmitted"), gettext_noop("Test rx at most"), gettext_noop("Test tx at most")),
    *(gettext_noop("Sink rcvbuf"), gettext_noop("Sink sndbuf")),
    *(gettext_noop("Source rcvbuf"), gettext_noop("Source sndbuf")),
    *(gettext_noop("Source busy"), gettext_noop("Source congestion window"), gettext_noop("Source delivery rate")),
    *(gettext_noop("Source minimum RTT"), gettext_noop("Source RTT"), gettext_noop("Source RTT variation")),
    *(gettext_noop("Source receiver limited"), gettext_noop("Source send buffer limited")),
    *(gettext_noop("Source retransmits"), gettext_noop("Source retransmitted"), gettext_noop("Source segments sent")),
    *(gettext_noop("Sink busy"), gettext_noop("Sink congestion window"), gettext_noop("Sink delivery rate")),
    *(gettext_noop("Sink minimum RTT"), gettext_noop("Sink RTT"), gettext_noop("Sink RTT variation")),
    *(gettext_noop("Sink receiver limited"), gettext_noop("Sink send buffer limited")),
    *(gettext_noop("Sink retransmits"), gettext_noop("Sink retransmitted"), gettext_noop("Sink segments sent")),
    *(gettext_noop("Received"), gettext_noop("Received in reverse")),
)
EVIDENCE = (
    *(gettext_noop("sending thread running or waiting for a CPU"), gettext_noop("sending thread on a CPU")),
    *(gettext_noop("sending threads running or waiting for a CPU"), gettext_noop("sending threads on a CPU")),
    *(gettext_noop("receiving thread running or waiting for a CPU"), gettext_noop("receiving thread on a CPU")),
    *(gettext_noop("receiving threads running or waiting for a CPU"), gettext_noop("receiving threads on a CPU")),
    *(gettext_noop("all cores of that host busy"), gettext_noop("busiest core in interrupts")),
    *(gettext_noop("all cores of the sending host busy"), gettext_noop("all cores of the receiving host busy")),
    *(gettext_noop("CPUs that the test's process used"), gettext_noop("congestion window")),
    *(gettext_noop("datagrams lost"), gettext_noop("lost datagrams that found the receiving socket full")),
    *(gettext_noop("segments sent again"), gettext_noop("smoothed round trip"), gettext_noop("least round trip")),
    *(
        gettext_noop("sender busy"),
        gettext_noop("sender out of receive window"),
        gettext_noop("sender out of send buffer"),
    ),
    *(gettext_noop("in flight per send buffer"), gettext_noop("in flight per congestion window")),
    *(gettext_noop("mean latency"), gettext_noop("rate × mean latency per transaction in flight")),
    *(gettext_noop("throughput per rate asked for"), gettext_noop("rate per rate asked for")),
    *(gettext_noop("throughput per payload ceiling"), gettext_noop("payload ceiling")),
    *(gettext_noop("all traffic on the interface per link rate"), gettext_noop("probe interval")),
    *(gettext_noop("CPU quota of its control group"), gettext_noop("CPUs in the cpuset of its control group")),
    *(gettext_noop("time spent on lost transactions"), gettext_noop("transactions lost")),
    gettext_noop("sent without anything arriving"),
)
SENTENCES = (
    gettext_noop("The sending thread was awake {awake} of its time, {part} of it on a CPU: that end could do no more."),
    gettext_noop(
        "The receiving thread was awake {awake} of its time, {part} of it on a CPU: that end could do no more."
    ),
    gettext_noop(
        "The sending threads were awake {awake} of their time, {part} of it on a CPU: that end could do no more."
    ),
    gettext_noop(
        "The receiving threads were awake {awake} of their time, {part} of it on a CPU: that end could do no more."
    ),
    gettext_noop(
        "A core of the receiving host spent {part} of its time in interrupts: it took packets as fast as it could."
    ),
    gettext_noop("The sending end used {used} of the {limit} CPUs that the quota of its control group allows."),
    gettext_noop("The receiving end used {used} of the {limit} CPUs that the quota of its control group allows."),
    gettext_noop("The sending end used {used} of the {limit} CPUs that the cpuset of its control group has."),
    gettext_noop("The receiving end used {used} of the {limit} CPUs that the cpuset of its control group has."),
    gettext_noop("All cores of the sending host were busy, {part} of their time."),
    gettext_noop("All cores of the receiving host were busy, {part} of their time."),
    gettext_noop("No figure stands out: neither end's CPU, nor a window or buffer, nor loss or a queue."),
    gettext_noop("No figure stands out: neither end's CPU nor the round trip."),
    gettext_noop("{part} of the {rate} asked for arrived."),
    gettext_noop("{part} of the {rate} asked for were answered."),
    gettext_noop("{part} of the {rate} of payload that the link can carry arrived."),
    gettext_noop("The link was {part} full with all traffic on it."),
    gettext_noop("{part} of the datagrams were lost."),
    gettext_noop(
        "{lost} of the datagrams were lost, and the receiving thread had time: it was awake only {awake} of it."
    ),
    gettext_noop(
        "{lost} of the datagrams were lost, {part} of them in the receiving socket: "
        "its buffer was full because the receiver took them too slowly."
    ),
    gettext_noop(
        "The receiving thread was awake {awake} of its time and the receive window closed {part} of it: "
        "the receiver could take no more."
    ),
    gettext_noop(
        "The sender had no receive window left {part} of the time, while the receiving thread had time: "
        "the receive buffer is too small for this path."
    ),
    gettext_noop(
        "The send buffer held all that was in flight {part} of the time, with room in both windows: "
        "it is too small for this path."
    ),
    gettext_noop(
        "Each flow had {in_flight} B in flight, {part} of its congestion window, with a send buffer of {buffer} B: "
        "the buffer is too small for this path."
    ),
    gettext_noop(
        "The sending host's queue was full: the sending thread was awake only {awake} of its time, "
        "waiting for room in it, and {lost} of the datagrams were lost."
    ),
    gettext_noop("The congestion window held the sender back: {why}."),
    gettext_noop("{lost} of the segments were sent again and the round trip grew from {least} to {time}"),
    gettext_noop("{lost} of the segments were sent again"),
    gettext_noop("a queue made the round trip grow from {least} to {time}"),
    gettext_noop("the other end closed the link"),
    gettext_noop("Nothing arrived of what was sent."),
    gettext_noop("Nothing arrived of all {packets} that were sent."),
    gettext_noop("nothing arrived: {how}"),
    gettext_noop("nothing arrived from source to sink: {how}"),
    gettext_noop("nothing arrived from sink to source: {how}"),
    gettext_noop("of {count} datagrams sent none was received"),
    gettext_noop("no byte of the stream was received"),
    gettext_noop("none of the {count} probes was answered"),
    gettext_noop("no response was received, and {count} errors were counted"),
    gettext_noop("no transaction was completed, and {count} were lost"),
    gettext_noop("no transaction was completed within the test's time"),
    gettext_noop("see whether a firewall is between"),
    gettext_noop("see whether a firewall is between and whether packets fit"),
    gettext_noop(
        "the MTU is {bytes} bytes at {interface} of the source and {bytes_2} bytes at {interface_2} of the sink"
    ),
    gettext_noop("the MTU is {bytes} bytes at {interface} of the source"),
    gettext_noop("the MTU is {bytes} bytes at {interface} of the sink"),
    gettext_noop("One probe was sent each {interval}, as asked for."),
    gettext_noop("{lost} of the transactions were lost, and {part} of the time went by waiting for them."),
    gettext_noop("Each transaction waited for an answer: {count} in flight, each {time} long, make {rate}."),
)
# Why a trial failed, part by part: they are joined with others.
FAILURES = (
    gettext_noop("the other end says"),
    gettext_noop("the controller was silent for longer than its lease"),
    gettext_noop("see whether its worker runs and reaches this engine"),
    gettext_noop("the engine was stopped"),
    gettext_noop("the engine was restarted while this session ran"),
    gettext_noop("run the test again"),
    gettext_noop("The engine of {name} ({address}) says: {why}"),
    gettext_noop("The engine of {name} ({address}) answers."),
)
