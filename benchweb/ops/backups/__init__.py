"""Backups of the database: made, restored, proved, kept in rotation."""
