"""What the engine's documents call their figures, as texts to translate.

They become labels as charts.run.figures puts them together; a name that is missing here is shown as it is.
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
