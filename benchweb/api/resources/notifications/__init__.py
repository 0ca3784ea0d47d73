"""Resources of what is told to people outside."""
