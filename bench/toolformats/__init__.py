"""Benches of reading other tools' outputs."""
