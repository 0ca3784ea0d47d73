"""Checks of dependencies (licences, sources, hashes, known faults) and secrets; docs/how-to/dependencies.md."""
