"""One run of each tool: what it is asked for, and which figure of its output counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from bench.peers.lab import BARE_LOOP, BARE_PORT, CONTROL_PORT, ENGINE, IPERF_PORT, NETSERVER_PORT, Lab


@dataclass(frozen=True)
class Case:
    """One comparison: a kind of the engine's, the size of a message, and the CPUs of source and sink."""

    name: str
    kind: str
    unit: str
    bytes: int = 1
    cpus: tuple[int, int] = (0, 1)
    # Of UDP streams: whether what was sent counts, or what was received.
    counts_sent: bool = False
    # How the engine sends; of the others' modes, netperf's and iperf3's sendfile() has a counterpart.
    send_mode: str = "send"

    @property
    def is_stream(self) -> bool:
        return self.kind.endswith("_stream")


@dataclass(frozen=True)
class Sample:
    """A rate in the case's unit, and for streams the CPU seconds of both ends per gigabyte received."""

    rate: float
    cpu_seconds_per_gigabyte: float | None = None


Tool = Callable[[Lab, Case], Sample | None]


def sample(rate: float, case: Case, cpu_seconds: float, received_bytes: float) -> Sample:
    cost = cpu_seconds / (received_bytes / 1e9) if case.is_stream and received_bytes else None
    return Sample(rate, cost)


def netperf_test(case: Case) -> list[str]:
    """Name the test as netperf does; what TCP_SENDFILE sends it reads from a file of its own choice."""
    return ["-t", "TCP_SENDFILE"] if case.send_mode == "sendfile" else ["-t", case.kind.upper()]


def netperf_figures(output: str) -> dict[str, float]:
    """Read `-k`'s lines, or TCP_SENDFILE's row, which knows no keys: three sizes, seconds, and 10^6 bit/s."""
    if "=" not in output:
        *_, seconds, throughput = output.split()
        return {"ELAPSED_TIME": float(seconds), "THROUGHPUT": float(throughput)}
    return {key: float(value) for key, _, value in (line.partition("=") for line in output.splitlines()) if value}


def netperf(lab: Lab, case: Case) -> Sample:
    keys = "THROUGHPUT,ELAPSED_TIME,LOCAL_SEND_CALLS,REMOTE_RECV_CALLS"
    source, sink = case.cpus
    options = ["-m", str(case.bytes)] if case.is_stream else ["-r", f"{case.bytes},{case.bytes}"]
    # Without -R netperf's datagrams go only where no route is needed.
    options += ["-R", "1"] if case.kind == "udp_stream" else []
    output, cpu = lab.run(
        "netperf", "netperf", "-H", lab.sink_address, "-p", str(NETSERVER_PORT), "-P", "0", "-T", f"{source},{sink}",
        "-l", f"{lab.seconds:.0f}", *netperf_test(case), "--", *options, "-k", keys,
    )  # fmt: skip
    figures = netperf_figures(output)
    seconds = figures["ELAPSED_TIME"]
    if case.kind == "udp_stream":
        received = figures["REMOTE_RECV_CALLS"]
        calls = figures["LOCAL_SEND_CALLS"] if case.counts_sent else received
        return sample(calls / seconds, case, cpu, received * case.bytes)
    rate = figures["THROUGHPUT"] * (1e6 if case.is_stream else 1)
    return sample(rate, case, cpu, rate * seconds / 8)


def iperf3(lab: Lab, case: Case) -> Sample | None:
    if not case.is_stream or (case.kind == "udp_stream" and case.bytes < 16):
        return None
    source, sink = case.cpus
    options = ["-u", "-b", "0"] if case.kind == "udp_stream" else []
    options += ["-Z"] if case.send_mode == "sendfile" else []
    output, cpu = lab.run(
        "iperf3", "iperf3", "-c", lab.sink_address, "-p", str(IPERF_PORT), "-J", "-t", f"{lab.seconds:.0f}",
        "-A", f"{source},{sink}", "-l", str(case.bytes), *options,
    )  # fmt: skip
    end = json.loads(output)["end"]
    if case.kind == "tcp_stream":
        received = end["sum_received"]
        return sample(received["bits_per_second"], case, cpu, received["bytes"])
    sent, lost, seconds = end["sum"]["packets"], end["sum"]["lost_packets"], end["sum"]["seconds"]
    arrived = sent - lost
    return sample((sent if case.counts_sent else arrived) / seconds, case, cpu, arrived * case.bytes)


def engine(lab: Lab, case: Case) -> Sample:
    settings = [f"duration_seconds={lab.seconds:.0f}", f"source_cpus={case.cpus[0]}", f"sink_cpus={case.cpus[1]}"]
    if case.is_stream:
        settings.append(f"message_size_bytes={case.bytes}")
        settings.append(f"send_mode={case.send_mode}")
    options = [word for setting in settings for word in ("--set", setting)]
    output, cpu = lab.run(
        "engine", str(ENGINE), "run", case.kind, "--peer", f"{lab.sink_address}:{CONTROL_PORT}",
        "--token-file", str(lab.token), "--json", *options,
    )  # fmt: skip
    result = json.loads(output)
    if case.kind == "tcp_stream":
        metric = "throughput_bps"
    elif case.kind == "udp_stream":
        metric = "send_packets_per_second" if case.counts_sent else "packets_per_second"
    else:
        metric = "transactions_per_second"
    return sample(result["metrics"][metric], case, cpu, result["window"]["bytes"])


def bare_loop(lab: Lab, case: Case) -> Sample:
    address = f"{lab.sink_address}:{BARE_PORT}"
    source, sink = (str(cpu) for cpu in case.cpus)
    with lab.sink_process("bare", str(BARE_LOOP), "sink", case.kind, address, sink, str(case.bytes)):
        output, cpu = lab.run(
            "bare", str(BARE_LOOP), "source", case.kind, address, source, str(case.bytes), f"{lab.seconds:.0f}"
        )
    figures = json.loads(output)
    if case.kind == "tcp_stream":
        return sample(figures["rate"] * 8, case, cpu, figures["rate"] * lab.seconds)
    received = figures["rate"] * lab.seconds * case.bytes
    return sample(figures["sent_rate"] if case.counts_sent else figures["rate"], case, cpu, received)
