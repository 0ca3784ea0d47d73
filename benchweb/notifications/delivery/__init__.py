"""The outbox and how what is in it goes out."""
