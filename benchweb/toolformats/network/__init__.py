"""Outputs of network tools, a module each: `read(lines, start)` returns a reading and the line after it, or None."""
