"""Bound connections, bodies and requests at once, between the network and Django."""
