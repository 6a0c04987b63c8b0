"""Evaluation workloads: programs that are excluded from training.

The package has the modern blocks as C files, stationary matrix products, and the hashes of all evaluation
programs. PolyBench's C is in `polybench/`.
"""

from pipelines.programs.evaluation.programs import (
    EVALUATION_SUITES,
    EVALUATION_WORKLOADS,
    EvaluationWorkload,
    evaluation_programs,
    evaluation_workloads,
    every_evaluation_program,
    find_duplicate,
    frozen_hashes,
    modern_program,
    modern_workloads,
    reject_duplicates,
    stationary_program,
    untyped_name,
)

__all__ = [
    "EVALUATION_SUITES",
    "EVALUATION_WORKLOADS",
    "EvaluationWorkload",
    "evaluation_programs",
    "evaluation_workloads",
    "every_evaluation_program",
    "find_duplicate",
    "frozen_hashes",
    "modern_program",
    "modern_workloads",
    "reject_duplicates",
    "stationary_program",
    "untyped_name",
]
