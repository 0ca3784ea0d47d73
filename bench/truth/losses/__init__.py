"""Proofs of loss, duplicates and order."""
