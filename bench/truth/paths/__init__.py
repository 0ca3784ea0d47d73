"""Proofs on long, thin, cut and marked paths."""
