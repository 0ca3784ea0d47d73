"""Faults thrown at a running benchweb, and the scenes they are thrown into."""
