"""The dataflow stage: random operator graphs over mutated loop trees.

Belongs here: drawing programs {G, Op, Params, data}. Does not: hardware parameters, which are sampled later,
or labels.
"""

from pipelines.programs.dataflow.operators import CONTROL, FAMILY_WEIGHTS, OPERATORS, Operator
from pipelines.programs.dataflow.options import DATA_TYPES, DataflowOptions, DataflowPart
from pipelines.programs.dataflow.program import (
    dataflow_program,
    dataflow_programs,
    operators_program,
    swept_inputs,
)

__all__ = [
    "CONTROL",
    "DATA_TYPES",
    "FAMILY_WEIGHTS",
    "OPERATORS",
    "DataflowOptions",
    "DataflowPart",
    "Operator",
    "dataflow_program",
    "dataflow_programs",
    "operators_program",
    "swept_inputs",
]
