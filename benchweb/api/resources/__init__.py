"""One file per resource: its bodies, its answers, its calls."""
