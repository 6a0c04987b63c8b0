"""Evaluation workloads: programs that are excluded from training.

Belongs here: modern blocks as C, stationary matrix products, and the frozen list of all
evaluation programs. Does not: PolyBench's C (`polybench/`), or training programs.
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
