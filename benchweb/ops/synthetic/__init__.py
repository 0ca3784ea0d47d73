"""History that nobody measured, for benchmarks and demonstrations: made, marked as such, and removed."""

from benchweb.ops.synthetic.generation import Written, generate_nights, generate_points
from benchweb.ops.synthetic.removal import remove

__all__ = ["Written", "generate_nights", "generate_points", "remove"]
