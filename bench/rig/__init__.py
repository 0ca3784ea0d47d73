"""A whole benchweb of a bench's own, each part of which can be started, killed and looked at."""
