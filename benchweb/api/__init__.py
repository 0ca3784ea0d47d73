"""REST under /api/v1: bearer tokens, problem documents, one file per resource."""
