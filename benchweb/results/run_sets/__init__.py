"""Sets of runs that are compared: which they are, when a fact was so, and what they gave."""
