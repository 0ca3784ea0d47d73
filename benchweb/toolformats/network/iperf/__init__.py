"""iperf 2 and iperf3, its text and its JSON."""
