"""Channels, rules, maintenance windows and the outbox of what is told to people outside."""
