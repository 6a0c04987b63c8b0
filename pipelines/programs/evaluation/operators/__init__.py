"""The operators of the evaluation workloads, as templates of C functions.

Belongs here: the table of all of them. Does not: graphs of them.
"""

from pipelines.programs.evaluation.operators import convolution, detection, feature_maps, language

OPERATORS = (
    *convolution.OPERATORS,
    *feature_maps.OPERATORS,
    *detection.OPERATORS,
    *language.OPERATORS,
)
BY_NAME = {operator.name: operator for operator in OPERATORS}

__all__ = ["BY_NAME", "OPERATORS"]
