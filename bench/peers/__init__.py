"""The engine beside netperf, iperf3 and a bare loop of system calls."""
