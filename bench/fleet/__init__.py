"""Simulated engines: one process that speaks the control protocol of docs/engine-protocol.md for a thousand hosts."""
