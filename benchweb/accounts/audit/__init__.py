"""Who did what: every change of what people define, written by PostgreSQL in the transaction of the change itself."""
