"""Proofs of rates: payload, shapers, pacing, and netperf beside the engine."""
