"""The configuration with the least bound, by a mixed-integer convex program over all choices at once.

Belongs here: equations 1 to 16 of NLP-DSE as SCIP solves them. Does not: what a configuration costs
(`bound/`), or which sub-problems are worth solving (`search/`). Outside this package only the names below
are used.
"""

from pipelines.pragmas.nlp.constants import (
    DSPS,
    EXCLUDED,
    INCUMBENT,
    INFEASIBLE,
    MEMORY,
    OPTIMAL,
    PARTITIONS,
    SIZE,
    UNKNOWN,
    SearchOptions,
    Solution,
    partitions,
    pipeline_factors,
    unrolled_size,
)
from pipelines.pragmas.nlp.solving import export, solve, solve_limited

__all__ = [
    "DSPS",
    "EXCLUDED",
    "INCUMBENT",
    "INFEASIBLE",
    "MEMORY",
    "OPTIMAL",
    "PARTITIONS",
    "SIZE",
    "UNKNOWN",
    "SearchOptions",
    "Solution",
    "export",
    "partitions",
    "pipeline_factors",
    "solve",
    "solve_limited",
    "unrolled_size",
]
