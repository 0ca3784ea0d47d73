"""Read-only queries to chart specs, verdicts, exports and the commands that reproduce a trial."""
