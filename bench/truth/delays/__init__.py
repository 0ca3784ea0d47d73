"""Proofs of delays and round trips."""
