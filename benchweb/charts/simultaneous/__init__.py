"""Runs that started together, as one result with its parts."""
