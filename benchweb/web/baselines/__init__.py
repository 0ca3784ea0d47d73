"""Pages: runs that others of their pair and plan are compared with."""
