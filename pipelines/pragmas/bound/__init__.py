"""A lower bound on latency and resources, as a function of (summary, configuration, target).

Belongs here: one function per theorem of NLP-DSE, targets as data. Does not: finding the best configuration
(`nlp/`). Outside this package only the names below are used.
"""

from pipelines.pragmas.bound.completion import complete, flattened, has_copies, inner_unroll
from pipelines.pragmas.bound.composition import COMPUTATION, TRANSFER, Bound, bound, dsp_count, impossible
from pipelines.pragmas.bound.leaf import Leaf, leaf
from pipelines.pragmas.bound.target import OperationCost, Target, read_target, target_names

__all__ = [
    "COMPUTATION",
    "TRANSFER",
    "Bound",
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
