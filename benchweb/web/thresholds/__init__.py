"""Pages: limits that figures must keep, and which of them are broken."""
