"""Programs: C source with its top function and the specification of its input data.

Belongs here: the kernels, user programs, generated programs, and their input data. Does not: reading C
(the HLS front end), or running it.
"""

from pipelines.programs.catalogue import SIZES, SUITES
from pipelines.programs.collections import WRITTEN, fields_of_kernels, left_out_kernels
from pipelines.programs.control import degeneracy
from pipelines.programs.data import data_id, draw_data, load_data
from pipelines.programs.data_sets import ProgramData, data_sets, find_data_set, given_data, input_rows
from pipelines.programs.dataflow import swept_inputs
from pipelines.programs.errors import ProgramError
from pipelines.programs.evaluation import (
    EVALUATION_SUITES,
    EVALUATION_WORKLOADS,
    evaluation_workloads,
    frozen_hashes,
    untyped_name,
)
from pipelines.programs.facts import program_facts
from pipelines.programs.influence import control_expressions, influence_of
from pipelines.programs.judging import CheckLimits, Verdict
from pipelines.programs.machsuite_catalogue import MACHSUITE_SIZES, machsuite_programs
from pipelines.programs.normalised import ast_hash, ast_hash_or_none
from pipelines.programs.polybench_catalogue import (
    POLYBENCH_DATA_TYPES,
    POLYBENCH_KERNELS,
    POLYBENCH_SIZES,
    polybench_program,
    polybench_programs,
)
from pipelines.programs.rows import USER_SUITE, kernel_programs, program_from_file
from pipelines.programs.similarity import Signature, near_pairs, signature, text_signature
from pipelines.programs.specification import default_range
from pipelines.programs.statistics import stage_reports
from pipelines.programs.suites import (
    ALL_SUITES,
    AST,
    DATAFLOW,
    GENERATED_SUITES,
    LLM,
    Generation,
    SuiteOptions,
    cached_ast_hash,
    cached_programs,
    cached_signature,
    code_version,
    suite_programs,
)

__all__ = [
    "ALL_SUITES",
    "AST",
    "DATAFLOW",
    "EVALUATION_SUITES",
    "EVALUATION_WORKLOADS",
    "GENERATED_SUITES",
    "LLM",
    "MACHSUITE_SIZES",
    "POLYBENCH_DATA_TYPES",
    "POLYBENCH_KERNELS",
    "POLYBENCH_SIZES",
    "SIZES",
    "SUITES",
    "USER_SUITE",
    "WRITTEN",
    "CheckLimits",
    "Generation",
    "ProgramData",
    "ProgramError",
    "Signature",
    "SuiteOptions",
    "Verdict",
    "ast_hash",
    "ast_hash_or_none",
    "cached_ast_hash",
    "cached_programs",
    "cached_signature",
    "code_version",
    "control_expressions",
    "data_id",
    "data_sets",
    "default_range",
    "degeneracy",
    "draw_data",
    "evaluation_workloads",
    "fields_of_kernels",
    "find_data_set",
    "frozen_hashes",
    "given_data",
    "influence_of",
    "input_rows",
    "kernel_programs",
    "left_out_kernels",
    "load_data",
    "machsuite_programs",
    "near_pairs",
    "polybench_program",
    "polybench_programs",
    "program_facts",
    "program_from_file",
    "signature",
    "stage_reports",
    "suite_programs",
    "swept_inputs",
    "text_signature",
    "untyped_name",
]
