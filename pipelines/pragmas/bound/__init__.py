"""A lower bound on latency and resources, as a function of (summary, configuration, target).

Belongs here: one function a theorem of NLP-DSE, targets as data. Does not: finding the best configuration
(`program/`). Outside this package only the names below are used.
"""

from pipelines.pragmas.bound.completion import complete, flattened, has_copies, inner_unroll
from pipelines.pragmas.bound.impossible import impossible
from pipelines.pragmas.bound.leaf import leaf
from pipelines.pragmas.bound.reading import read_target, target_names
from pipelines.pragmas.bound.result import COMPUTATION, TRANSFER, Bound, BoundPart, Leaf
from pipelines.pragmas.bound.target import OperationCost, Target
from pipelines.pragmas.bound.whole import bound, dsp_count

__all__ = [
    "COMPUTATION",
    "TRANSFER",
    "Bound",
    "BoundPart",
    "Leaf",
    "OperationCost",
    "Target",
    "bound",
    "complete",
    "dsp_count",
    "flattened",
    "has_copies",
    "impossible",
    "inner_unroll",
    "leaf",
    "read_target",
    "target_names",
]
