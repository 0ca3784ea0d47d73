"""Checks of what the project is made from: licences, sources, hashes, known faults, secrets; docs/dependencies.md."""
