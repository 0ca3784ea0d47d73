"""Outputs of tools that measure one host: disks and memory."""
