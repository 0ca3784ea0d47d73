"""Keep what admins set for the whole installation on a page, beside its environment."""
