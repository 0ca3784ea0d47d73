"""How long pages, charts, log-ins and ingest take."""
