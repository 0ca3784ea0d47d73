"""History that nobody measured, for benchmarks and demonstrations: made, marked as such, and removed."""

from benchweb.ops.synthetic.generation import WrittenHistory, generate_nights, generate_points
from benchweb.ops.synthetic.removal import remove
from benchweb.ops.synthetic.sample import make_sample, reserve_runs, sample_script
from benchweb.ops.synthetic.samples import judge_samples

__all__ = [
    "WrittenHistory",
    "generate_nights",
    "generate_points",
    "judge_samples",
    "make_sample",
    "remove",
    "reserve_runs",
    "sample_script",
]
