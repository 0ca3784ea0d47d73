"""What admins delete: a run, or a host with all it has; in batches, by the tick."""
