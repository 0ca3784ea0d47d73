"""Outputs of other tools read: text in, readings out; pure functions that know only the catalog's words."""
