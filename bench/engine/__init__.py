"""One daemon of a bench's own: cancels, crowds, long soaks, its verdicts on limits, its counters."""
