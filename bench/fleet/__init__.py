"""Simulated engines: one process that speaks docs/reference/engine-protocol.md for a thousand hosts."""
