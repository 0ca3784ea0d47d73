"""Pages: what changed or is missing, and what people do about it."""
